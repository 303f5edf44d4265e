# SPDX-License-Identifier: Apache-2.0
"""The metric's public grid: its declared interval, cut into steps of equal width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymaly.declare.domain import Interval

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class MetricGrid:
    """Steps from 0 to ``steps`` - 1; a value outside the interval is moved to the nearer end.

    Examples
    --------
    >>> grid = MetricGrid.of(Interval(0, 100), 10)
    >>> [grid.step(value) for value in (-5, 0, 9.99, 10, 100)]
    [0, 0, 0, 1, 9]
    >>> grid.edge(3)
    30.0
    """

    low: float
    high: float
    steps: int
    unit: float

    @classmethod
    def of(cls, domain: Interval, steps: int) -> MetricGrid:
        """Cut a declared interval."""
        # A unit below the smallest number would be 0; then steps are wider, and the last ones stay empty.
        return cls(float(domain.low), float(domain.high), steps, max(domain.width / steps, math.ulp(0.0)))

    def step(self, value: float) -> int:
        """Return the step that holds a value; it never falls as the value grows."""
        moved = min(max(float(value), self.low), self.high) - self.low
        return min(math.floor(moved / self.unit), self.steps - 1)

    def edge(self, number: int) -> float:
        """Return where a step begins; that of ``steps`` is the upper bound."""
        return self.high if number >= self.steps else min(self.low + number * self.unit, self.high)

    def rounded_edge(self, number: int) -> float:
        """Return the edge in as many digits as a step's width has a say in.

        Examples
        --------
        >>> grid = MetricGrid.of(Interval(100_000, 2_500_000), 1024)
        >>> grid.edge(5), grid.rounded_edge(5)
        (111718.75, 112000.0)
        """
        edge = self.edge(number)
        try:
            return round(edge, -math.floor(math.log10(self.unit)))
        except OverflowError:  # rounded up, the last edges would be above the largest double
            return edge

    def to_ibis(self, column: ir.NumericValue) -> ir.IntegerValue:
        """Return the same for a column: the same operations on the same doubles; no row makes them fail."""
        from anonymaly.engine.arithmetic import divided, exact  # noqa: PLC0415  (Ibis, when rows are read)

        clamped = column.cast("float64").clip(lower=exact(self.low), upper=exact(self.high))
        step = divided(clamped - exact(self.low), self.unit).floor().cast("int64")
        return step.clip(upper=self.steps - 1)
