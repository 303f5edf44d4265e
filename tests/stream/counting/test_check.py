# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from anonymaly.noise import Noise
from anonymaly.stream.counting.check import first_round, make_masks, second_round
from anonymaly.stream.counting.point_function import Expansion, make_keys
from anonymaly.stream.counting.prime_field import PRIME

BITS = 5
SECRET = 123_456_789
Spoil = Callable[[Expansion], None]


def checked(value: tuple[int, int], spoil: Spoil = lambda _: None, nonce: bytes = b"n" * 12) -> int:
    """Return the number that must be 0; the first server's shares may be spoiled by the sensor."""
    noise = Noise.system()
    keys, masks = make_keys(9, BITS, value, noise), make_masks(SECRET, noise)
    rounds = []
    for key, mask in zip(keys, masks, strict=True):
        expansion = Expansion(BITS)
        expansion.expand(key)
        if key.party == 0:
            spoil(expansion)
        rounds.append(first_round(expansion, mask, bytes(32), nonce))
    seen = (rounds[0] + rounds[1]) % PRIME
    return sum(second_round(party, masks[party], seen) for party in range(2)) % PRIME


def adding(cell: int, amount: int) -> Spoil:
    def spoil(expansion: Expansion) -> None:
        expansion.data[cell] = (int(expansion.data[cell]) + amount) % PRIME

    return spoil


@pytest.mark.parametrize("value", [(1, SECRET), (0, 0)])
def test_a_unit_vector_and_the_zero_vector_pass(value: tuple[int, int]) -> None:
    assert all(checked(value, nonce=bytes([number] * 12)) == 0 for number in range(20))


@pytest.mark.parametrize("value", [(2, 2 * SECRET), (PRIME - 1, PRIME - SECRET), (1, SECRET + 1), (0, 1)])
def test_another_value_is_refused(value: tuple[int, int]) -> None:
    assert all(checked(value, nonce=bytes([number] * 12)) != 0 for number in range(20))


@pytest.mark.parametrize("cell", [0, 9, 31])
@pytest.mark.parametrize("amount", [1, 1000, PRIME - 1])
def test_a_vector_with_more_in_it_is_refused(cell: int, amount: int) -> None:
    if (cell, amount) == (9, PRIME - 1):
        return  # takes the only entry away, but not from the proof; below
    assert checked((1, SECRET), adding(cell, amount)) != 0


def test_taking_the_entry_away_without_the_proof_is_refused() -> None:
    assert checked((1, SECRET), adding(9, PRIME - 1)) != 0


def test_what_a_server_sees_in_the_first_round_does_not_depend_on_the_cell() -> None:
    # z0 is hidden by a uniform mask: halves of the field, 400 draws, a false alarm once in 10^8
    noise, lower = Noise.seeded(4), 0
    for _ in range(400):
        keys, masks = make_keys(9, BITS, (1, SECRET), noise), make_masks(SECRET, noise)
        expansion = Expansion(BITS)
        expansion.expand(keys[0])
        lower += int(first_round(expansion, masks[0], bytes(32), bytes(12))[0] < PRIME // 2)
    assert abs(lower - 200) < 60


def test_the_same_nonce_and_key_give_the_same_bytes() -> None:
    noise = Noise.seeded(1)
    keys, masks = make_keys(3, BITS, (1, SECRET), noise), make_masks(SECRET, noise)
    expansion = Expansion(BITS)
    expansion.expand(keys[0])
    first, again = (first_round(expansion, masks[0], bytes(32), bytes(12)) for _ in range(2))
    other = first_round(expansion, masks[0], bytes(32), bytes(11) + b"1")
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
