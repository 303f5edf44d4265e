# SPDX-License-Identifier: Apache-2.0
"""Facts about the laws of noise, such as deviations and quantiles, without drawing anything."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from anonymaly.errors import InputError
from anonymaly.noise.bounds import ceiling_divide, exp_minus
from anonymaly.noise.checks import read_integer, read_rate
from anonymaly.noise.probability import ExactProbability


def two_sided_geometric_deviation(rate: Fraction) -> float:
    """Return the standard deviation of two-sided geometric noise.

    Examples
    --------
    >>> round(two_sided_geometric_deviation(Fraction(1, 10)), 3)
    14.136
    """
    numerator, denominator = read_rate(rate)
    # The variance 2q/(1-q)² with q = e^-rate equals 1/(2·sinh²(rate/2)), which loses no digits near q = 1.
    # Beyond e^700 a float overflows; the deviation is then below 10^-300.
    half = numerator / denominator / 2
    return 1 / (math.sqrt(2) * math.sinh(half)) if half < 700 else 0.0


def two_sided_geometric_half_width(rate: Fraction, level: Fraction) -> int:
    """Return the smallest t with P(|X| <= t) >= level, for two-sided geometric X.

    Examples
    --------
    >>> two_sided_geometric_half_width(Fraction(1, 10), Fraction(95, 100))
    30
    """
    read_rate(rate)
    return _half_width(Fraction(rate), _missing(level))


@lru_cache(maxsize=1024)  # half of a count's preview
def _half_width(rate: Fraction, missing: Fraction) -> int:
    def enough(t: int) -> bool:
        # P(|X| > t) = 2·exp(-rate·(t+1))/(1 + exp(-rate))
        return _at_most(ExactProbability.logistic(rate * (t + 1), rate), missing / 2)

    return _smallest(enough)


def one_sided_geometric_quantile(rate: Fraction, level: Fraction) -> int:
    """Return the smallest t with P(X <= t) >= level, for one-sided geometric X; level 1/2 gives the median.

    Examples
    --------
    >>> one_sided_geometric_quantile(Fraction(1, 10), Fraction(1, 2))
    6
    """
    read_rate(rate)
    missing = _missing(level)
    return _smallest(lambda t: _at_most(ExactProbability.exponential(Fraction(rate * (t + 1))), missing))


def one_sided_geometric_mean(rate: Fraction) -> float:
    """Return the mean of one-sided geometric noise, 1/(e^rate - 1).

    Examples
    --------
    >>> round(one_sided_geometric_mean(Fraction(1)), 3)
    0.582
    """
    # Written so that no rate is too large.
    return math.exp(-float(rate)) / -math.expm1(-float(rate))


def two_sided_geometric_mass(rate: Fraction, value: int) -> float:
    """Return P(X = value) for two-sided geometric X.

    Examples
    --------
    >>> round(two_sided_geometric_mass(Fraction(1), 0), 6)
    0.462117
    """
    numerator, denominator = read_rate(rate)
    number = numerator / denominator
    return math.tanh(number / 2) * math.exp(-number * abs(value))


def two_sided_geometric_mass_bounds(rate: Fraction, value: int, bits: int = 128) -> tuple[Fraction, Fraction]:
    """Bound P(X = value) for two-sided geometric X, to within about 2^-bits.

    Examples
    --------
    >>> low, high = two_sided_geometric_mass_bounds(Fraction(1), 0)
    >>> round(float(low), 6), high - low < Fraction(1, 2**120)
    (0.462117, True)
    """
    read_rate(rate)
    bits = read_integer(bits, "bits", least=1)
    one = 1 << bits
    base_low, base_high = exp_minus(Fraction(rate), bits)
    power_low, power_high = exp_minus(Fraction(rate * abs(value)), bits)
    low = max(0, one - base_high) * power_low // (one + base_high)
    high = ceiling_divide((one - base_low) * power_high, one + base_low)
    return Fraction(low, one), Fraction(high, one)


def partition_error(cells: int, sizes: int) -> Fraction:
    """Return η: every partition's probability is within a factor e^(±η) of its ideal one.

    The proof is in `partition`.

    Examples
    --------
    >>> float(partition_error(4096, 13)) < 2e-11
    True
    """
    return Fraction(202, 100) * cells * (sizes + 6) / 2**53


def _missing(level: Fraction) -> Fraction:
    """Return 1 - level as an exact fraction strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, Fraction | float) or not 0 < level < 1:
        raise InputError(
            "must be a fraction between 0 and 1",
            field="level",
            next_step="Give for instance Fraction(95, 100).",
        )
    return 1 - Fraction(level)


def _at_most(probability: ExactProbability, limit: Fraction) -> bool:
    """Compare an irrational probability with a fraction, exactly."""
    bits = 64
    while True:
        low, high = probability.bounds(bits)
        if high <= limit * 2**bits:
            return True
        if low > limit * 2**bits:
            return False
        bits *= 2


def _smallest(enough: Callable[[int], bool]) -> int:
    """Return the smallest t >= 0 for which `enough` holds, by doubling and then halving."""
    if enough(0):
        return 0
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
