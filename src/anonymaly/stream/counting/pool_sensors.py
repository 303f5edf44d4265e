# SPDX-License-Identifier: Apache-2.0
"""The sensors of a pool, in the order in which lists name them, and what both counters must hold alike."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import read_name


def read_sensors(sensors: Iterable[str], least: int, retired: Collection[str] = ()) -> list[str]:
    """Return the names of a pool's sensors in the order in which lists name them: as they joined it."""
    if isinstance(sensors, str):
        raise InputError(
            "must be a list of names", field="sensors", next_step='Give, for instance, ["room-1"].'
        )
    names = [read_name(name) for name in sensors]
    if len(set(names)) < len(names):
        raise InputError("must name each sensor once", field="sensors", next_step="Leave out the second.")
    active = sum(name not in retired for name in names)
    if active < least:
        raise InputError(
            f"are {active}, and a window needs at least {least}",
            field="sensors",
            next_step="Declare more sensors, or lower windows.least_sensors.",
        )
    return names


def declared_digest(fingerprint: bytes, sensors: Sequence[str]) -> bytes:
    """Return the digest of what both counters must hold alike: a window's declaration, and the sensors."""
    return hashlib.sha256(fingerprint + "\n".join(sensors).encode()).digest()
