# SPDX-License-Identifier: Apache-2.0
"""Grubbs's test of one given value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anonymaly.detectors.detector import Detector, is_number, on_grid, place

LEAST_ALPHA = 1e-300  # over any number of values still a number, which a smaller one would not be


@dataclass(frozen=True)
class Grubbs(Detector):
    """An outlier is further from the mean than Grubbs's two-sided critical number of standard deviations.

    The record itself is tested, not the most extreme one. Fewer than three values, or equal values, hold no
    outlier.

    Examples
    --------
    >>> Grubbs().is_outlier([10, 11, 9, 10, 12, 10, 40], position=6)
    True
    """

    alpha: float = 0.05

    name: ClassVar[str] = "grubbs"

    def __post_init__(self) -> None:
        if not is_number(self.alpha) or not LEAST_ALPHA <= self.alpha <= 0.5:
            raise ValueError(f"alpha should lie between {LEAST_ALPHA} and 0.5, not {self.alpha}")

    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        """Return whether the value at a position is a Grubbs outlier."""
        grid = on_grid(values)
        distances = grid - place(grid, position)
        longest = max(int(distances.max()), -int(distances.min()))
        if longest * longest * len(grid) >= 1 << 63:  # a sum in 64 bits would not be exact
            distances = distances.astype(object)
        return exceeds(len(grid), int(distances.sum()), int(distances @ distances), self.alpha)


def critical_ratios(members: npt.NDArray[np.int64], alpha: float) -> npt.NDArray[np.float64]:
    """Return c(n), so that V is an outlier among n values when S² > c(n)·(n·Q − S²).

    S and Q are the sums of the distances to V and of their squares. With the critical number
    G = (n−1)/√n · √(t²/(n−2+t²)), where t is Student's upper α/(2n) point at n−2 degrees of freedom,
    |mean − V| > G·s says just this, with c = (n−1)·t²/(n−2+t²).

    Examples
    --------
    >>> critical_ratios(np.array([3, 10]), 0.05).round(3).tolist()
    [1.999, 5.827]
    """
    from anonymaly.core.student import write_shares  # noqa: PLC0415  (numba: a preview needs none)

    shares = np.empty(len(members))
    write_shares(members - 2, alpha / members, shares)
    return (members - 1) * shares


def exceeds(members: int, total: int, squares: int, alpha: float) -> bool:
    """Return the exact verdict for n values with these sums of distances to V and of their squares.

    The critical ratio is irrational; its double is what all verdicts share.

    Examples
    --------
    >>> exceeds(7, -200, 6760, 0.05)
    True
    """
    if members < 3:
        return False
    ratio = Fraction(float(critical_ratios(np.array([members]), alpha)[0]))
    return total * total > ratio * (members * squares - total * total)
