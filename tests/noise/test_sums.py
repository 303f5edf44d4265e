# SPDX-License-Identifier: Apache-2.0
"""Quantiles of sums of geometric variables, against their laws by plain convolution."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from anonymaly.core.arrays import Floats
from anonymaly.noise import laws
from anonymaly.noise.sums import GeometricSum, interval_of_sum, two_sided


def law(parts: list[GeometricSum], reach: int) -> Floats:
    """Return the chances of -reach..reach, by convolving one variable after another."""
    whole = np.array([1.0])
    least = 0
    for part in parts:
        rate = float(part.rate)
        one = -math.expm1(-rate) * np.exp(-rate * np.arange(reach + 1))
        for _ in range(part.count):
            whole = np.convolve(whole, one if part.added else one[::-1])
            least -= 0 if part.added else reach
    first = -reach - least
    if first < 0:
        whole = np.append(np.zeros(-first), whole)
        first = 0
    whole = np.append(whole, np.zeros(2 * reach + 1))
    return whole[first : first + 2 * reach + 1]


CASES = [
    (*two_sided(Fraction(1, 2), 1),),
    (*two_sided(Fraction(1, 3), 7),),
    (GeometricSum(Fraction(1, 2), 1),),
    (GeometricSum(Fraction(1, 4), 6),),
    (GeometricSum(Fraction(2), 9, added=False),),
    (*two_sided(Fraction(1, 2), 3), GeometricSum(Fraction(2, 3), 4, added=False)),
]


@pytest.mark.parametrize("missing", [0.3, 0.05, 0.025, 0.001])
@pytest.mark.parametrize("parts", CASES)
def test_bounds_of_a_sum_are_the_narrowest_that_its_law_allows(
    parts: tuple[GeometricSum, ...], missing: float
) -> None:
    reach = 200
    mass = law(list(parts), reach)
    low, high = interval_of_sum(parts, missing)
    below, above = mass[: low + reach].sum(), mass[high + reach + 1 :].sum()
    assert below <= missing
    assert above <= missing
    assert mass[: low + 1 + reach].sum() > missing
    assert mass[high + reach :].sum() > missing


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 7), Fraction(1), Fraction(9), Fraction(300)])
def test_one_variable_has_the_quantiles_of_its_own_law(rate: Fraction) -> None:
    half = laws.two_sided_geometric_half_width(rate, Fraction(95, 100))
    assert interval_of_sum(two_sided(rate, 1), 0.025) == (-half, half)
    upper = laws.one_sided_geometric_quantile(rate, Fraction(95, 100))
    assert interval_of_sum([GeometricSum(rate, 1)], 0.05)[1] == upper


@pytest.mark.parametrize("missing", [0.2, 0.025])
@pytest.mark.parametrize("parts", CASES)
def test_the_quick_bound_is_true_and_not_narrower(parts: tuple[GeometricSum, ...], missing: float) -> None:
    low, high = interval_of_sum(parts, missing)
    least, most = interval_of_sum(parts, missing, quick=True)
    assert least <= low <= high <= most
    assert most - least <= 2 * (high - low) + 8


def test_a_million_cells_at_any_rate_have_bounds() -> None:
    for rate in (Fraction(1, 10), Fraction(1, 10**7), Fraction(50)):
        low, high = interval_of_sum(two_sided(rate, 10**6), 0.025)
        deviation = 1000 * laws.two_sided_geometric_deviation(rate)
        assert low == -high
        assert 1.95 * deviation - 1 <= high <= 2.8 * deviation + 1


def test_nothing_added_up_is_nothing_and_levels_near_one_still_have_bounds() -> None:
    assert interval_of_sum([GeometricSum(Fraction(1), 0)], 0.025) == (0, 0)
    low, high = interval_of_sum(two_sided(Fraction(1), 3), 1e-12)
    assert -40 <= low <= -27
    assert high == -low
