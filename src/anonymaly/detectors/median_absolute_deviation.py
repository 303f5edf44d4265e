# SPDX-License-Identifier: Apache-2.0
"""The robust z-score: distance to the median in units of the median absolute deviation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anonymaly.detectors.detector import Detector, decimal, is_number, on_grid, place

# The normal distribution's upper quartile, as Iglewicz and Hoaglin print it, makes the score a z-score.
NORMAL_QUARTILE = Fraction(6745, 10000)


@dataclass(frozen=True)
class MedianAbsoluteDeviation(Detector):
    """An outlier's robust z-score, 0.6745·|V − median|/MAD, is above a threshold.

    If the median absolute deviation is zero, there is no outlier.

    Examples
    --------
    >>> MedianAbsoluteDeviation().is_outlier([10, 11, 9, 10, 12, 10, 40], position=6)
    True
    """

    threshold: float = 3.5

    name: ClassVar[str] = "mad"

    def __post_init__(self) -> None:
        if not is_number(self.threshold) or self.threshold <= 0:
            raise ValueError(f"the threshold should be a positive number, not {self.threshold}")

    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        """Return whether the robust z-score of the value at a position is above the threshold."""
        return self._judge(on_grid(values), None, position)

    def is_outlier_among(
        self, values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], position: int
    ) -> bool:
        """Return the same where each value is there as often as its count says."""
        return self._judge(on_grid(values), counts, position)

    def _judge(
        self, grid: npt.NDArray[np.int64], counts: npt.NDArray[np.int64] | None, position: int
    ) -> bool:
        # V's own value as the origin keeps differences small; medians come doubled to stay whole numbers.
        distances = grid - place(grid, position)
        if len(distances) and int(np.abs(distances).max()) >= 1 << 60:
            raise ValueError("the values span more than 60 bits; round them to a coarser grid")
        center = _doubled_median(distances, counts)
        deviation = _doubled_median(np.abs(2 * distances - center), counts)
        if deviation == 0:
            return False
        return NORMAL_QUARTILE * 2 * abs(center) > decimal(self.threshold) * deviation


def _doubled_median(values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64] | None) -> int:
    number = len(values) if counts is None else int(counts.sum())
    places = [(number - 1) // 2, number // 2]
    if counts is None:
        parted = np.partition(values, places)
        return int(parted[places[0]]) + int(parted[places[1]])
    order = np.argsort(values)
    found = values[order[np.searchsorted(np.cumsum(counts[order]), places, side="right")]]
    return int(found[0]) + int(found[1])
