# SPDX-License-Identifier: Apache-2.0
"""How a sensor makes a contribution: two keys of a point function at its cell, and the masks of the check."""

from __future__ import annotations

from anonymaly.noise import Noise
from anonymaly.stream.counting.check import NONCE_BYTES, make_masks
from anonymaly.stream.counting.messages import Contribution
from anonymaly.stream.counting.point_function import make_keys
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.encoding import DIGEST_BYTES


def contribute(
    sensor: str,
    window: int,
    cell: int | None,
    bits: int,
    noise: Noise,
    previous: int = -1,
    declared: bytes = bytes(DIGEST_BYTES),
) -> tuple[Contribution, Contribution]:
    """Return what both counters get of a reading in a cell; None is a contribution without a reading.

    ``declared`` is the declaration's fingerprint: counters take no other declaration's contributions.

    Examples
    --------
    >>> first, second = contribute("room-1", 7, 3, 4, Noise.seeded(1))
    >>> first.recipient, second.recipient, first.digest == second.digest
    ('counter-1', 'counter-2', True)
    """
    secret = int(noise.uniform(PRIME))
    # Without a reading the vector is zero, which passes the check, too; nobody can tell.
    value = (0, 0) if cell is None else (1, secret)
    keys = make_keys(cell or 0, bits, value, noise)
    masks = make_masks(secret, noise)
    nonce = bytes(noise.uniform(256, NONCE_BYTES).tolist())
    first, second = (
        Contribution(sensor, window, part, keys[part], masks[part], nonce, previous, declared)
        for part in range(2)
    )
    return first, second
