# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice
from math import exp, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.errors import InputError
from anonymaly.noise import (
    ExactProbability,
    one_sided_geometric_quantile,
    two_sided_geometric_deviation,
    two_sided_geometric_half_width,
    two_sided_geometric_mass,
    two_sided_geometric_mass_bounds,
)
from anonymaly.noise.bounds import exp_minus
from anonymaly.noise.probability import binary_digits, floor_of, read_probability

exponents = st.fractions(0, 200, max_denominator=10**15)


def decimal_exp_minus(exponent: Fraction) -> Fraction:
    """exp(-exponent) by the standard library, good to about 400 digits."""
    with localcontext() as context:
        context.prec = 420
        return Fraction((-(Decimal(exponent.numerator) / Decimal(exponent.denominator))).exp())


@settings(max_examples=60, deadline=None)
@given(exponents, st.integers(1, 500))
def test_exponential_bounds_enclose_the_number_and_are_close(exponent: Fraction, bits: int) -> None:
    low, high = exp_minus(exponent, bits)
    slack = Fraction(1, 10**300)
    number = decimal_exp_minus(exponent)
    assert Fraction(low, 2**bits) <= number * (1 + slack)
    assert Fraction(high, 2**bits) >= number * (1 - slack)
    assert high - low <= 2


@settings(max_examples=40, deadline=None)
@given(exponents, st.none() | exponents, st.booleans(), st.integers(1, 300))
def test_probability_bounds_enclose_the_number_and_are_close(
    decay: Fraction, odds: Fraction | None, complemented: bool, bits: int
) -> None:
    probability = ExactProbability(decay, odds, complemented)
    low, high = probability.bounds(bits)
    number = decimal_exp_minus(decay) / (1 if odds is None else 1 + decimal_exp_minus(odds))
    number = 1 - number if complemented else number
    slack = Fraction(1, 10**300)
    assert Fraction(low, 2**bits) <= number + slack
    assert Fraction(high, 2**bits) >= number - slack
    assert high - low <= 4
    assert float(probability) == pytest.approx(float(number), rel=1e-12, abs=1e-15)


def test_bounds_far_below_the_precision_stay_valid_and_cheap() -> None:
    assert exp_minus(Fraction(10**30), 1000) == (0, 1)
    assert exp_minus(Fraction(1, 10**30), 10)[0] <= 1024 <= exp_minus(Fraction(1, 10**30), 10)[1]


def test_digits_of_fractions_are_those_of_division() -> None:
    assert list(binary_digits(read_probability(Fraction(5, 8))))[:5] == [1, 0, 1, 0, 0]
    third = list(islice(binary_digits(read_probability(Fraction(1, 3))), 200))
    assert third == [0, 1] * 100
    assert floor_of(read_probability(Fraction(3, 4)), 2) == (3, True)
    assert floor_of(read_probability(Fraction(3, 4)), 1) == (1, False)


def test_digits_of_an_irrational_number_are_those_of_its_decimal_value() -> None:
    number = decimal_exp_minus(Fraction(1))
    digits = list(islice(binary_digits(ExactProbability.exponential(Fraction(1)).bounds), 500))
    assert sum(digit << (499 - place) for place, digit in enumerate(digits)) == int(number * 2**500)


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1), Fraction(1, 10), Fraction(1, 100)], ids=str)
def test_facts_about_a_law_agree_with_its_masses(rate: Fraction) -> None:
    reach = int(60 / rate) + 1
    masses = [two_sided_geometric_mass(rate, value) for value in range(reach)]
    assert masses[0] + 2 * sum(masses[1:]) == pytest.approx(1)
    variance = 2 * sum(mass * value * value for value, mass in enumerate(masses))
    assert two_sided_geometric_deviation(rate) == pytest.approx(sqrt(variance))
    for level in (Fraction(1, 100), Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
        width = two_sided_geometric_half_width(rate, level)
        assert masses[0] + 2 * sum(masses[1 : width + 1]) >= level
        assert width == 0 or masses[0] + 2 * sum(masses[1:width]) < level
        quantile = one_sided_geometric_quantile(rate, level)
        assert 1 - exp(-float(rate) * (quantile + 1)) >= level
        assert quantile == 0 or 1 - exp(-float(rate) * quantile) < level
    for value in (0, 1, -7):
        low, high = two_sided_geometric_mass_bounds(rate, value, 200)
        power = decimal_exp_minus(rate)
        exact = (1 - power) / (1 + power) * power ** abs(value)
        assert low <= exact <= high
        assert high - low < Fraction(1, 2**190)


def test_facts_hold_at_the_extremes() -> None:
    assert two_sided_geometric_deviation(Fraction(1000)) < 1e-200
    assert two_sided_geometric_deviation(Fraction(2**56)) == 0
    assert two_sided_geometric_deviation(Fraction(1, 10**15)) == pytest.approx(sqrt(2) * 1e15)
    assert two_sided_geometric_half_width(Fraction(50), Fraction(999, 1000)) == 0
    assert two_sided_geometric_half_width(Fraction(1, 10**15), Fraction(1, 2)) == pytest.approx(
        0.6931e15, rel=1e-3
    )
    for level in (0, 1, Fraction(3, 2), True):
        with pytest.raises(InputError, match="level"):
            two_sided_geometric_half_width(Fraction(1), level)  # type: ignore[arg-type]


def test_a_probability_below_all_floats_is_0_as_a_float_and_cheap() -> None:
    vast = ExactProbability.logistic(Fraction(10**15), Fraction(1))
    assert (float(vast), float(vast.complement())) == (0.0, 1.0)
    assert float(ExactProbability.exponential(Fraction(740))) > 0
    assert float(ExactProbability.exponential(Fraction(750))) == 0
