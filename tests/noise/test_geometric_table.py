# SPDX-License-Identifier: Apache-2.0
"""The parts of the geometric sampler that chance hardly ever reaches."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

from anonymaly.noise import geometric
from anonymaly.noise.bounds import exp_minus
from anonymaly.noise.chacha import AT, BUFFER_END, BUFFER_START, END, FAILED, Stream, open_stream
from anonymaly.noise.geometric import DIGIT_BITS, DIGIT_COUNT, SHIFT, THRESHOLDS, VALUES, geometric_table
from tests.noise.statistics import FALSE_ALARM, fit, one_sided_cumulative


def prepared(digits: list[int]) -> Stream:
    """A stream whose next 63-bit digits are given (as two words each, the first one's lowest bit unused)."""
    stream = open_stream(bytes(32))
    words = [word for digit in digits for word in ((digit >> 32) << 1, digit & 0xFFFFFFFF)]
    stream[BUFFER_START : BUFFER_START + len(words)] = words
    stream[AT], stream[END] = BUFFER_START, BUFFER_END
    return stream


def digits_of(law: geometric.Law, value: int) -> list[int]:
    return [int(law[THRESHOLDS + position * int(law[VALUES]) + value]) for position in range(DIGIT_COUNT)]


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 10), Fraction(5), Fraction(1, 16)], ids=str)
def test_thresholds_are_the_digits_of_the_cumulative_law(rate: Fraction) -> None:
    getcontext().prec = 120
    _, law = geometric_table(rate.numerator, rate.denominator)
    number = Decimal(rate.numerator) / rate.denominator
    for value in range(int(law[VALUES])):
        exact = 1 - (-number * (value + 1)).exp()
        joined = sum(
            digit << DIGIT_BITS * (DIGIT_COUNT - 1 - position)
            for position, digit in enumerate(digits_of(law, value))
        )
        assert joined == int(exact * 2 ** (DIGIT_BITS * DIGIT_COUNT))


@pytest.mark.parametrize("value", [0, 3, 100])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("change", [-1, 1])
def test_a_tie_with_a_threshold_is_broken_by_its_next_digits(value: int, depth: int, change: int) -> None:
    cells, law = geometric_table(1, 10)
    number = digits_of(law, value)
    number[depth] += change
    drawn = geometric.one_sided_geometric(prepared(number), cells, law)
    assert drawn == (value if change < 0 else value + 1)


def test_a_tie_in_every_digit_fails_instead_of_guessing() -> None:
    cells, law = geometric_table(1, 10)
    stream = prepared(digits_of(law, 3))
    geometric.one_sided_geometric(stream, cells, law)
    assert stream[FAILED] == 1


def test_a_number_beyond_the_table_continues_with_a_new_draw() -> None:
    cells, law = geometric_table(1, 10)
    values = int(law[VALUES])
    stream = prepared([2**DIGIT_BITS - 1, digits_of(law, 4)[0] - 1])
    assert geometric.one_sided_geometric(stream, cells, law) == values + 4


def test_a_draw_beyond_64_bits_fails_instead_of_wrapping() -> None:
    cells, law = geometric_table(1, 2**56)
    beyond = [2**DIGIT_BITS - 1] * 11  # each adds 192 steps of 2^52
    stream = prepared([*beyond, 0])
    geometric.one_sided_geometric(stream, cells, law)
    assert stream[FAILED] == 1


def test_cells_agree_with_the_search_they_replace() -> None:
    cells, law = geometric_table(1, 10)
    thresholds = law[THRESHOLDS : THRESHOLDS + int(law[VALUES])]
    known = np.flatnonzero(cells >= 0)
    width = 2 ** (DIGIT_BITS - geometric.CELL_BITS)
    for cell in known:
        first, last = int(cell) * width, (int(cell) + 1) * width - 1
        assert np.searchsorted(thresholds, first, "right") == cells[cell]
        assert np.searchsorted(thresholds, last, "right") == cells[cell]
    assert 0 < len(cells) - len(known) <= len(thresholds)


HIGH = [Fraction(49, 2), Fraction(175), Fraction(200), Fraction(1000), Fraction(2**56)]
LOW = [
    Fraction(1, 2**56),
    Fraction(1, 16),
    Fraction(1, 3),
    Fraction(1),
    Fraction(11),
    Fraction(12),
    Fraction(24),
]


@pytest.mark.parametrize("rate", [*LOW, *HIGH], ids=str)
def test_a_table_draws_every_probability_up_to_one_part_in_2_to_the_216_or_is_not_used(
    rate: Fraction,
) -> None:
    _, law = geometric_table(rate.numerator, rate.denominator)
    values, digits = int(law[VALUES]), DIGIT_BITS * DIGIT_COUNT
    assert (values == 0) == (rate > geometric.LARGEST_TABLE_RATE)
    drawn_up_to = ideal_up_to = Fraction(0)
    for value in range(values):
        number = sum(
            digit << DIGIT_BITS * (DIGIT_COUNT - 1 - position)
            for position, digit in enumerate(digits_of(law, value))
        )
        # Numbers below the threshold's digits and above those of the one before; a level number is an error.
        drawn = Fraction(number, 2**digits) - drawn_up_to
        low, high = exp_minus(rate * 2 ** int(law[SHIFT]) * (value + 1), 2 * digits)
        ideal = 1 - Fraction(low + high, 2 * 2 ** (2 * digits)) - ideal_up_to
        assert abs(drawn - ideal) < ideal / 2**216
        drawn_up_to, ideal_up_to = Fraction(number + 1, 2**digits), ideal_up_to + ideal
    if values:
        assert abs(drawn_up_to - ideal_up_to) < (1 - ideal_up_to) / 2**216  # what goes on to another look


@pytest.mark.parametrize("rate", [25, 175, 200])
def test_noise_of_a_high_rate_is_not_always_zero(rate: int) -> None:
    # As many coins of probability 1/e as the rate must succeed: a bit 0, then a number below 3 that is not 0.
    success = 0xC0000000
    words = [0, *(word for coin in range(rate) for word in ([success] if coin % 32 else [0, success]))]
    stream = open_stream(bytes(32))
    stream[BUFFER_START:BUFFER_END] = 0xFFFFFFFF  # the coin after them fails at its bit
    stream[BUFFER_START : BUFFER_START + len(words)] = words
    stream[AT], stream[END] = BUFFER_START, BUFFER_END
    cells, law = geometric_table(rate, 1)
    assert geometric.two_sided_geometric(stream, cells, law) == 1
    assert stream[FAILED] == 0


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(5, 2)], ids=str)
def test_coins_in_a_row_have_the_geometric_law(rate: Fraction) -> None:
    stream = open_stream(bytes(31) + b"\1")
    drawn = [geometric.coins_in_a_row(stream, rate.numerator, rate.denominator) for _ in range(20_000)]
    edges = list(range(max(drawn)))
    assert fit(np.array(drawn), one_sided_cumulative(float(rate)), edges) > FALSE_ALARM
    assert fit(np.array(drawn), one_sided_cumulative(float(rate) * 0.9), edges) < FALSE_ALARM
