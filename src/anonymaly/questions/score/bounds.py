# SPDX-License-Identifier: Apache-2.0
"""Private bounds of unbounded columns: noisy counts between powers of two (Lemma 6 of GUARANTEE.md)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise.probability import ExactProbability

if TYPE_CHECKING:
    from anonymaly.noise import Noise

Bounds = tuple[tuple[float, float], ...]

# Exponents: values nearer to 0 than 2^-32 count as 0, those beyond ±2^64 as ±2^64.
SMALLEST, LARGEST = -32, 64
MIDDLE = LARGEST - SMALLEST + 1  # the bin of values near 0; positive ones follow, negative ones come before
BINS = 2 * MIDDLE + 1
MISTAKE = Fraction(1, 1000)  # the chance that an empty bin of a column is taken for one with records


def bin_bounds(place: int) -> tuple[float, float]:
    """Return the ends of a bin: two successive powers of two, or both sides of 0.

    Examples
    --------
    >>> bin_bounds(MIDDLE + 33), bin_bounds(MIDDLE - 34), bin_bounds(MIDDLE) == (-(2.0**-32), 2.0**-32)
    ((1.0, 2.0), (-4.0, -2.0), True)
    """
    beyond = abs(place - MIDDLE)
    high = math.ldexp(1.0, SMALLEST + beyond)
    low = high / 2 if beyond else -high
    return (low, high) if place >= MIDDLE else (-high, -low)


def least_count(rate: Fraction) -> int:
    """Return the smallest noisy count that is believed: all empty bins of a column stay below it, but for one
    column in a thousand."""
    each = MISTAKE / BINS
    low, high = 0, 1
    while ExactProbability.logistic(rate * high, rate).bounds(128)[1] > each * 2**128:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        above = ExactProbability.logistic(rate * middle, rate).bounds(128)[1] > each * 2**128
        low, high = (middle, high) if above else (low, middle)
    return high


def release_bounds(counts: Integers, rate: Fraction, noise: Noise) -> Bounds:
    """Return bounds for each row of counts: the outermost bins whose noisy count is believed.

    Where none is, the bin of the largest noisy count: an answer there must be, and it reads noisy counts
    alone.
    """
    noisy = noise.add_two_sided_geometric(counts, rate)
    least = least_count(rate)
    found = []
    for row in noisy:
        believed = np.flatnonzero(row >= least)
        ends = (int(believed[0]), int(believed[-1])) if len(believed) else (int(np.argmax(row)),) * 2
        found.append((bin_bounds(ends[0])[0], bin_bounds(ends[1])[1]))
    return tuple(found)
