# SPDX-License-Identifier: Apache-2.0
"""Noise on more cells than can be listed, of which only those that reach a threshold are wanted.

Of the cells that hold nothing, the number that reach the threshold is binomial, the choice of which ones is
uniform, and their excess over it is geometric: drawn that way, the result has exactly the law of noising all
of them with two-sided geometric noise and keeping those that reach it.
"""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.core.arrays import Integers
from anonymaly.noise.probability import ExactProbability

if TYPE_CHECKING:
    from anonymaly.noise.source import Noise


def draw_empty_cells(
    number_empty: int, taken: Container[int], size: int, threshold: int, rate: Fraction, noise: Noise
) -> tuple[list[int], Integers]:
    """Return the empty cells whose noise reaches a threshold of at least 0, and their noisy counts.

    Parameters
    ----------
    number_empty : int
        How many cells are empty.
    taken : container of int
        The cells that are not.
    size : int
        How many cells there are; a cell is a number from 0 up to before it.
    threshold : int
        The least noisy count that is kept.
    rate : Fraction
        The rate of the noise.
    noise : Noise
        Where the draws come from.

    Examples
    --------
    >>> from anonymaly.noise import Noise
    >>> cells, counts = draw_empty_cells(10**12 - 1, {5}, 10**12, 56, Fraction(1, 2), Noise.seeded(1))
    >>> len(cells) == len(counts), all(counts >= 56)
    (True, True)
    """
    number = noise.binomial(number_empty, reaching(threshold, rate))
    chosen: dict[int, None] = {}
    while len(chosen) < number:
        # Uniform draws without those seen before: each new one is uniform among what is left.
        for index in noise.uniform(size, number - len(chosen)).tolist():
            if index not in taken:
                chosen[index] = None
    return list(chosen), threshold + noise.one_sided_geometric(rate, number)


def reaching(threshold: int, rate: Fraction) -> ExactProbability:
    """Return the probability that two-sided geometric noise reaches a threshold of at least 0."""
    return ExactProbability.logistic(rate * threshold, rate)


def threshold_for(size: int, rate: Fraction, expected: Fraction) -> int:
    """Return the smallest threshold that at most ``expected`` of ``size`` empty cells reach on average.

    A function of the number of cells and the rate alone: how many of them hold something plays no part in it.

    Examples
    --------
    >>> threshold_for(10**9, Fraction(1), Fraction(1))
    21
    """

    def reached(threshold: int) -> bool:
        low, _ = reaching(threshold, rate).bounds(256)
        return low * size > expected * 2**256

    low, high = -1, 1
    while reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return high
