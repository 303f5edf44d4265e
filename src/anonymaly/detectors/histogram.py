# SPDX-License-Identifier: Apache-2.0
"""The histogram detector: an outlier is a value in a nearly empty bin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anonymaly.detectors.detector import Detector, decimal, is_number, on_grid, place

MOST_DECIMALS = 6  # so that a kernel compares counts in 64 bits


@dataclass(frozen=True)
class Histogram(Detector):
    """An outlier's bin holds less than a fraction of all values, itself included.

    ⌈√n⌉ bins of equal width span the values' range; each holds its lower edge, the last one both.

    Examples
    --------
    >>> Histogram(fraction=0.2).is_outlier([1, 2, 3, 4, 5, 6, 7, 90], position=7)
    True
    """

    fraction: float = 2.5e-3

    name: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        fits = is_number(self.fraction) and 0 < self.fraction < 1
        if not fits or 10**MOST_DECIMALS % decimal(self.fraction).denominator:
            raise ValueError(
                f"the fraction should lie between 0 and 1 with at most {MOST_DECIMALS} decimals, "
                f"not {self.fraction}"
            )

    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        """Return whether the bin of the value at a position is nearly empty."""
        grid = on_grid(values)
        value = place(grid, position)
        first, last = bin_of(value, int(grid.min()), int(grid.max()), len(grid))
        held = int(np.count_nonzero((grid >= first) & (grid <= last)))
        return held < decimal(self.fraction) * len(grid)


def bin_of(value: int, smallest: int, largest: int, members: int) -> tuple[int, int]:
    """Return the first and last grid point of a value's bin.

    Examples
    --------
    >>> bin_of(7, 0, 10, 9)
    (7, 10)
    """
    if smallest == largest:
        return smallest, largest
    bins, width = math.isqrt(members - 1) + 1, largest - smallest
    number = min((value - smallest) * bins // width, bins - 1)
    # An edge smallest + number·width/bins belongs to the bin above it: the bin's first point is its ceiling.
    first = smallest - (-number * width // bins)
    last = largest if number == bins - 1 else smallest - (-(number + 1) * width // bins) - 1
    return first, last
