# SPDX-License-Identifier: Apache-2.0
"""Tukey's fence: a value beyond one and a half times the distance between the quartiles stands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency, rows_moved
from anonymaly.questions.explain.everyone.margins.margin import Margin, below, read_decimal
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.rule import MarginRule


@dataclass(frozen=True)
class Fence(Margin):
    """A value stands out if it lies beyond b + c·(b − a), or below a − c·(b − a).

    Three quarters of the group lie up to b, and three quarters from a on. The margin is, in quarters of a
    record, how many more do than needed, for the best a and b. A step of the grid that may hold values on
    both sides of a fence counts as being on the wrong one.

    Examples
    --------
    >>> Fence().spread(1, "add_remove"), Fence().spread(3, "replace")
    (4, 24)
    """

    factor: float = 1.5

    name: ClassVar[str] = "fence"
    asks: ClassVar[str] = "far outside the middle half"

    def __post_init__(self) -> None:
        read_decimal(self.factor, "the factor", 0, 1000)

    @property
    def unit(self) -> int:
        """Four quarters."""
        return 4

    def spread(self, rows: int, adjacency: Adjacency) -> int:
        """Return 4 for each row that comes or goes: a row changes margins by -3 to +1 quarters (Lemma 2)."""
        return 4 * rows_moved(rows, adjacency)

    def rule(self, grid: MetricGrid, value: float) -> MarginRule:
        """Return every pair of edges whose fence the record's whole step is beyond; the widest for each."""
        asked = grid.step(value)
        high = self._pairs(grid.steps, asked)
        # The other side is the same in a mirror.
        lower, upper = self._pairs(grid.steps, grid.steps - 1 - asked)
        low = (grid.steps - upper)[::-1].copy(), (grid.steps - lower)[::-1].copy()
        return MarginRule.of_fences(high, low, grid.steps + 1)

    def _pairs(self, steps: int, asked: int) -> tuple[Integers, Integers]:
        """Return for each upper edge b the least lower edge a with v > b + c·(b − a), v the step's own edge.

        With c = p/q it is q·v > (p + q)·b − p·a, so a is the first whole number above ((p + q)·b − q·v)/p.
        """
        factor = read_decimal(self.factor, "the factor", 0, 1000)
        p, q = factor.numerator, factor.denominator
        upper = np.arange(1, asked + 1, dtype=np.int64)
        lower = np.maximum(((p + q) * upper - q * asked) // p + 1, 0)
        kept = lower < upper
        return lower[kept], upper[kept]

    def columns(self, counts: Integers, grid: MetricGrid, value: float) -> Integers:
        """Return how many records lie below each edge."""
        return below(counts)
