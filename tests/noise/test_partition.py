# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt
import pytest

from anonymaly.errors import InputError
from anonymaly.noise import Noise, partition_error
from anonymaly.noise.partition import UNIT, choose_size, forward, powers
from tests.noise.statistics import FALSE_ALARM, chi_square

Exponents = npt.NDArray[np.int64]


def exponents_of(seed: int, cells: int, sizes: int, most: int) -> Exponents:
    return np.random.default_rng(seed).integers(-(2**UNIT), most, (sizes, cells + 1))


def all_partitions(cells: int, sizes: int) -> list[tuple[int, ...]]:
    if cells == 0:
        return [()]
    lengths = [1 << size for size in range(sizes) if 1 << size <= cells]
    return [(*rest, last) for last in lengths for rest in all_partitions(cells - last, sizes)]


def ideal_law(exponents: Exponents) -> dict[tuple[int, ...], Decimal]:
    getcontext().prec = 60
    sizes, ends = exponents.shape
    weights = {}
    for partition in all_partitions(ends - 1, sizes):
        end, exponent = 0, 0
        for length in partition:
            end += length
            exponent += int(exponents[length.bit_length() - 1, end])
        weights[partition] = Decimal(2) ** (-Decimal(exponent) / 2**UNIT)
    total = sum(weights.values())
    return {partition: weight / total for partition, weight in weights.items()}


def drawn_law(exponents: Exponents) -> dict[tuple[int, ...], Fraction]:
    """The law of the backward pass in rational numbers, from the numbers that the forward pass stored."""
    sizes, ends = exponents.shape
    table, mantissas, orders = powers(), np.empty(ends), np.empty(ends, np.int64)
    forward(exponents, table, mantissas, orders)

    def product(size: int, end: int) -> Fraction:
        exponent, start = int(exponents[size, end]), end - (1 << size)
        number = float(mantissas[start])
        for place in range(3):
            number *= float(table[place, exponent >> (10 * (2 - place)) & 1023])
        return Fraction(number) * Fraction(2) ** (int(orders[start]) - (exponent >> UNIT))

    law = {}
    for partition in all_partitions(ends - 1, sizes):
        end, probability = ends - 1, Fraction(1)
        for length in reversed(partition):
            choices = [product(size, end) for size in range(sizes) if 1 << size <= end]
            probability *= choices[length.bit_length() - 1] / sum(choices)
            end -= length
        law[partition] = probability
    return law


@pytest.mark.parametrize("most", [2**UNIT, 2**34, 2**40], ids=["near", "apart", "far apart"])
def test_the_law_drawn_from_is_the_ideal_one_within_its_bound(most: int) -> None:
    exponents = exponents_of(1, 10, 4, most)
    ideal, drawn = ideal_law(exponents), drawn_law(exponents)
    assert sum(drawn.values()) == 1
    error = Decimal(0)
    for partition, probability in ideal.items():
        mine = Decimal(drawn[partition].numerator) / Decimal(drawn[partition].denominator)
        error = max(error, abs((mine / probability).ln()))
    bound = partition_error(10, 4)
    assert 0 < error <= Decimal(bound.numerator) / Decimal(bound.denominator)


def test_draws_have_the_law_of_enumeration() -> None:
    exponents = exponents_of(2, 5, 3, 2**32)
    ideal = ideal_law(exponents)
    order = {partition: number for number, partition in enumerate(ideal)}
    noise = Noise.seeded(1)
    drawn = np.bincount(
        [order[tuple(noise.partition(exponents).tolist())] for _ in range(20_000)], minlength=len(order)
    )
    assert chi_square(drawn, [float(mass) for mass in ideal.values()]) > FALSE_ALARM
    other = ideal_law(exponents_of(2, 5, 3, 2**32) * 2)
    assert chi_square(drawn, [float(mass) for mass in other.values()]) < FALSE_ALARM


def test_a_size_is_chosen_by_mantissa_and_order() -> None:
    # Two single cells weigh 2^-2, the pair 2^(-2/3): neither is a whole order apart.
    exponents = np.zeros((2, 3), np.int64)
    exponents[0, 2], exponents[1, 2] = 2 << UNIT, (2 << UNIT) // 3
    noise = Noise.seeded(4)
    pairs = sum(len(noise.partition(exponents)) == 1 for _ in range(20_000))
    share = 2 ** (-2 / 3) / (2 ** (-2 / 3) + 2**-2)
    assert chi_square([pairs, 20_000 - pairs], [share, 1 - share]) > FALSE_ALARM


def test_the_smallest_weight_can_be_drawn() -> None:
    # With all coins 0 a run 2^200 times lighter is accepted: no weight is rounded away.
    exponents = np.zeros((2, 3), np.int64)
    exponents[0] = 100 << UNIT
    table, mantissas, orders = powers(), np.empty(3), np.empty(3, np.int64)
    forward(exponents, table, mantissas, orders)
    from anonymaly.noise.chacha import AT, BUFFER_START, END, open_stream, set_nonce

    stream = open_stream(bytes(32))
    set_nonce(stream, 0, 0, 0)
    stream[BUFFER_START : BUFFER_START + 64] = 0
    stream[AT], stream[END] = BUFFER_START, BUFFER_START + 64
    assert choose_size(stream, 2, exponents, table, mantissas, orders) == 0


@pytest.mark.parametrize("place", range(3))
def test_the_powers_are_rounded_once(place: int) -> None:
    getcontext().prec = 60
    for number in range(0, 1024, 7):
        exact = Decimal(2) ** (-Decimal(number) / 2 ** (10 * (place + 1)))
        assert abs(Decimal(float(powers()[place, number])) / exact - 1) <= Decimal(2) ** -53


@pytest.mark.parametrize("cells", [1, 2, 3, 7, 100])
def test_runs_fill_the_row(cells: int) -> None:
    lengths = Noise.seeded(cells).partition(np.zeros((3, cells + 1), np.int64))
    assert lengths.sum() == cells
    assert set(lengths.tolist()) <= {1, 2, 4}


def test_exponents_at_the_ends_of_the_range_do_not_overflow() -> None:
    exponents = np.full((2, 1001), 2**61)
    exponents[1] = -(2**61)
    assert set(Noise.seeded(1).partition(exponents).tolist()) == {2}


@pytest.mark.parametrize(
    "exponents", [np.zeros(3, np.int64), np.full((1, 3), 2**61 + 1), np.zeros((0, 3), np.int64)]
)
def test_other_shapes_and_sizes_are_refused(exponents: Exponents) -> None:
    with pytest.raises(InputError, match="exponents"):
        Noise.seeded(1).partition(exponents)


def test_the_bound_grows_with_cells_and_sizes() -> None:
    bounds = [partition_error(2**power, 13) for power in range(10, 21)]
    assert all(bound < after for bound, after in pairwise(bounds))
    assert next(power for power in count(10) if partition_error(2**power, 13) > Fraction(1, 10**9)) == 18
