# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import sycret  # type: ignore[import-untyped]

from anonymaly.noise import Noise
from anonymaly.stream.counting.point_function import Expansion, PointKey, make_keys
from anonymaly.stream.counting.prime_field import PRIME, multiply, to_elements, to_numbers


def expanded(keys: tuple[PointKey, PointKey], bits: int) -> tuple[npt.NDArray[np.int64], ...]:
    both = Expansion(bits), Expansion(bits)
    for expansion, key in zip(both, keys, strict=True):
        expansion.expand(key)
    return (both[0].data + both[1].data) % PRIME, (both[0].proof + both[1].proof) % PRIME


def table(cell: int, bits: int, value: int) -> npt.NDArray[np.int64]:
    wanted = np.zeros(2**bits, np.int64)
    wanted[cell] = value
    return wanted


@pytest.mark.parametrize("bits", [2, 3, 4, 6])
def test_shares_add_up_to_a_table_with_one_entry_at_every_cell(bits: int) -> None:
    noise = Noise.seeded(bits)
    for cell in range(2**bits):
        secret = int(noise.uniform(PRIME))
        data, proof = expanded(make_keys(cell, bits, (1, secret), noise), bits)
        assert np.array_equal(data, table(cell, bits, 1))
        assert np.array_equal(proof, table(cell, bits, secret))


@pytest.mark.parametrize("bits", [9, 12, 16])
def test_shares_add_up_at_random_cells_of_large_tables(bits: int) -> None:
    noise = Noise.seeded(bits)
    for cell in [0, 2**bits - 1, *noise.uniform(2**bits, 8).tolist()]:
        data, proof = expanded(make_keys(cell, bits, (1, PRIME - 1), noise), bits)
        assert np.array_equal(data, table(cell, bits, 1))
        assert np.array_equal(proof, table(cell, bits, PRIME - 1))


def test_recombined_values_equal_those_of_sycret() -> None:
    noise, bits = Noise.seeded(5), 7
    factory = sycret.EqFactory(n_threads=1)
    for cell in noise.uniform(2**bits, 6).tolist():
        ours, _ = expanded(make_keys(cell, bits, (1, 3), noise), bits)
        keys = factory.keygen(2**bits)
        # Theirs finds out whether x + alpha is alpha: 1 for x = 0, so x is the distance from our cell.
        distance = (np.arange(2**bits) - cell + factory.alpha(keys[0], keys[1])) % 2**32
        theirs = sum(
            factory.eval(party, distance.astype(np.int64), keys[party], n_threads=1).astype(np.int64)
            for party in range(2)
        )
        assert np.array_equal(ours, theirs % 2**32)


def test_one_key_alone_is_spread_over_the_whole_field_at_every_cell() -> None:
    # Thirds of the field, for the entry and for a 0 beside it: χ² with 2 degrees, above 27.6 once in 10^6
    noise, bits = Noise.seeded(11), 3
    drawn = []
    for _ in range(2000):
        expansion = Expansion(bits)
        expansion.expand(make_keys(5, bits, (1, 1), noise)[0])
        drawn.append(expansion.data[[4, 5]].copy())
    for shares in np.array(drawn).T:
        counts = np.bincount(shares // (PRIME // 3 + 1), minlength=3)
        assert ((counts - 2000 / 3) ** 2 / (2000 / 3)).sum() < 27.6


def test_products_are_those_of_whole_numbers_modulo_the_prime() -> None:
    noise = Noise.seeded(2)
    numbers = [0, 1, PRIME - 1, 2**31, 2**30 - 1, *noise.uniform(PRIME, 40).tolist()]
    assert all(multiply(a, b) == a * b % PRIME for a in numbers for b in numbers)


def test_negative_counts_survive_the_field() -> None:
    numbers = np.array([-5, 0, 7, 2**40, -(2**40)])
    assert np.array_equal(to_numbers(to_elements(numbers)), numbers)
