# SPDX-License-Identifier: Apache-2.0
"""Why a record stands out: a group's size and the quartiles of the metric in it, with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency, noise_rate
from anonymaly.noise import laws
from anonymaly.questions.explain.everyone.choices import WRONG
from anonymaly.questions.explain.everyone.margins.margin import below
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid

if TYPE_CHECKING:
    from anonymaly.noise import Noise

PARTS = 4  # a size and three quartiles have equal shares
QUARTERS = (1, 2, 3)


def quartile_spread(quarter: int, rows: int, adjacency: Adjacency) -> int:
    """Return how far a person moves the utilities of two edges apart, in quarters of a rank (Lemma 7).

    The exact number of records is in the utility, and changes with the person too.

    Examples
    --------
    >>> [quartile_spread(quarter, 1, "add_remove") for quarter in (1, 2, 3)]
    [6, 4, 6]
    >>> quartile_spread(2, 3, "replace")
    24
    """
    return rows * (8 if adjacency == "replace" else 4 if quarter == 2 else 6)


@dataclass(frozen=True)
class WhyRates:
    """The rates of a group's size and of its quartiles, and from which size on the latter are said."""

    size: Fraction
    quartiles: tuple[Fraction, ...]
    least: int

    @classmethod
    def of(cls, share: int, groups: int, steps: int, *, rows: int, adjacency: Adjacency) -> WhyRates:
        """Divide a share of the charge, in billionths, among all groups' sizes and quartiles."""
        parts = PARTS * groups

        def rate(moves: int) -> Fraction:
            return noise_rate(share, moves=moves, parts=parts, next_step="Give a larger epsilon, or why=0.")

        quartiles = tuple(rate(quartile_spread(quarter, rows, adjacency)) for quarter in QUARTERS)
        # 95 of 100 draws miss a rank by at most so many quarters of one: of more records, by less than a
        # quarter of all.
        missed = laws.one_sided_geometric_quantile(min(quartiles), 1 - WRONG / (steps + 1)) + 1
        return cls(rate(rows), quartiles, missed)

    @property
    def half_width(self) -> int:
        """95 of 100 draws of a size are within this of the true one."""
        return laws.two_sided_geometric_half_width(self.size, Fraction(95, 100))

    def expect(self) -> str:
        """Say how good the reasons are."""
        return (
            f"its size is within ±{self.half_width:,} in 95 of 100 draws, and its quartiles are said from "
            f"about {self.least:,} records on"
        )

    def release(
        self, counts: Integers, grid: MetricGrid, noise: Noise
    ) -> tuple[int, tuple[float, float, float] | None]:
        """Return a group's size, rounded to the noise, and its quartiles, if that size is large enough."""
        drawn = int(counts.sum()) + noise.two_sided_geometric(self.size)
        size = max(0, rounded(drawn, self.half_width))
        # Decided by what is released; they are drawn in any case, and the charge is the same.
        places = [
            noise.choose(quartile_utilities(counts, quarter), rate)
            for quarter, rate in zip(QUARTERS, self.quartiles, strict=True)
        ]
        if size <= self.least:
            return size, None
        low, middle, high = (grid.rounded_edge(place) for place in sorted(places))
        return size, (low, middle, high)


def quartile_utilities(counts: Integers, quarter: int) -> Integers:
    """Return for each edge of the grid how far its rank is from a quarter of all, in quarters, as a negative.

    Examples
    --------
    >>> quartile_utilities(np.array([1, 1, 1, 1]), 1).tolist()
    [-4, 0, -4, -8, -12]
    """
    ranks = below(counts[None])[0]
    utilities: Integers = -np.abs(4 * ranks - quarter * ranks[-1])
    return utilities


def rounded(number: int, noise: int) -> int:
    """Round to the power of ten below the noise.

    Examples
    --------
    >>> rounded(2313, 25), rounded(2313, 3)
    (2310, 2313)
    """
    unit: int = 10 ** int(math.log10(max(noise, 1)))
    return round(number / unit) * unit
