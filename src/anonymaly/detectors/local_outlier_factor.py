# SPDX-License-Identifier: Apache-2.0
"""The local outlier factor of one value, with a rule for ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anonymaly.detectors.detector import Detector, decimal, is_number, on_grid, place

MOST_NEIGHBOURS = 10_000  # so that room for them, and sums of as many distances, are small whatever the table


@dataclass(frozen=True)
class LocalOutlierFactor(Detector):
    """An outlier's neighbourhood is thinner than its neighbours' neighbourhoods.

    The neighbours of a value are exactly min(k, n−1) other values, ordered by distance and, if distances
    are equal, by value: the smaller first. If no other distance equals the k-th, this is scikit-learn's
    factor (without its 1e-10). A value whose neighbours are all equal to it has factor 1. For any other
    value, a neighbour whose own neighbours are all equal to it makes the factor infinite. A single value is
    not an outlier.

    Examples
    --------
    >>> LocalOutlierFactor(k=2).is_outlier([10, 11, 12, 13, 30], position=4)
    True
    """

    k: int = 20
    threshold: float = 1.5

    name: ClassVar[str] = "lof"

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or not 1 <= self.k <= MOST_NEIGHBOURS:
            raise ValueError(f"k should be a whole number from 1 to {MOST_NEIGHBOURS:,}, not {self.k}")
        if not is_number(self.threshold) or self.threshold < 1:
            raise ValueError(f"the threshold should be a number of at least 1, not {self.threshold}")

    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        """Return whether the factor of the value at a position is above the threshold."""
        own, others = reach_sums(values, position, self.k)
        return exceeds(own, others, self.limit)

    @property
    def limit(self) -> Fraction:
        """The threshold, exactly."""
        return decimal(self.threshold)

    def factor(self, values: npt.ArrayLike, position: int) -> float:
        """Return the local outlier factor of the value at a position.

        Examples
        --------
        >>> LocalOutlierFactor(k=2).factor([10, 11, 12, 13, 30], position=4)
        11.666666666666666
        """
        own, others = reach_sums(values, position, self.k)
        if own == 0:
            return 1.0
        return float("inf") if 0 in others else float(_factor(own, others))


def reach_sums(values: npt.ArrayLike, position: int, k: int) -> tuple[int, list[int]]:
    """Return the sum of reachability distances of V, and that of each of its neighbours.

    Examples
    --------
    >>> reach_sums([10, 11, 12, 13, 30], 4, 2)
    (35, [3, 3])
    """
    grid = on_grid(values)
    value = place(grid, position)
    ordered = np.sort(grid)
    # Beyond 2k values on either side nothing matters: a value p there is reached from a neighbour o of V over
    # k values at least as near to p as o, so its k-distance is at most |p − o|.
    at = int(np.searchsorted(ordered, value, side="right")) - 1
    start = max(0, at - 2 * k)
    row = [int(near) for near in ordered[start : at + 2 * k + 1]]
    at -= start
    k = min(k, len(row) - 1)
    windows = [_window(row, index, k) for index in range(len(row))]
    k_distances = [
        max(row[index] - row[first], row[first + k] - row[index]) for index, first in enumerate(windows)
    ]

    def neighbours(index: int) -> list[int]:
        return [other for other in range(windows[index], windows[index] + k + 1) if other != index]

    def reach_sum(index: int) -> int:
        return sum(max(k_distances[other], abs(row[other] - row[index])) for other in neighbours(index))

    return reach_sum(at), [reach_sum(other) for other in neighbours(at)]


def _window(row: Sequence[int], index: int, k: int) -> int:
    """Return where the k neighbours begin: with the value itself they are k+1 in a row."""
    first = max(0, index - k)
    # At equal distances the smaller value stays.
    while first + k + 1 < len(row) and row[first + k + 1] - row[index] < row[index] - row[first]:
        first += 1
    return first


def exceeds(own: int, others: Sequence[int], threshold: Fraction) -> bool:
    """Return the exact verdict for V's reach sum and those of its neighbours.

    Examples
    --------
    >>> exceeds(35, [3, 4], Fraction(21, 2)), exceeds(35, [3, 4], Fraction(10))
    (False, True)
    """
    if not others:
        return False
    if own == 0:
        return threshold < 1
    return 0 in others or _factor(own, others) > threshold


def _factor(own: int, others: Sequence[int]) -> Fraction:
    # The density of a value is k over its reach sum, and k is the same for all of them. Alone: no factor.
    terms = [Fraction(own, other) for other in others]
    return sum(terms, Fraction(0)) / len(terms) if terms else Fraction(1)
