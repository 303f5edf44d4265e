# SPDX-License-Identifier: Apache-2.0
"""The metric in whole steps of public size, so that sums are exact and verdicts repeat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymaly.declare.domain import Interval

if TYPE_CHECKING:
    import ibis.expr.types as ir

FINEST = 36  # bits: the square of each half of a difference, and sums of thousands of them, fit in 64
SMALLEST = math.ulp(0.0)  # no unit is finer: it would be 0


@dataclass(frozen=True)
class MetricSteps:
    """Steps of ``unit`` from ``low`` to ``high``; values outside are moved to the nearer end."""

    low: float
    high: float
    unit: float

    @classmethod
    def of(cls, domain: Interval) -> MetricSteps:
        """Return the declared step, or the finest power of two that the width allows."""
        finest = max(2.0 ** (math.ceil(math.log2(domain.width)) - FINEST), SMALLEST)
        unit = finest if domain.step is None else max(float(domain.step), finest)
        return cls(float(domain.low), float(domain.high), unit)

    def steps(self, value: float) -> int:
        """Return the step nearest to a value."""
        return math.floor((min(max(float(value), self.low), self.high) - self.low) / self.unit + 0.5)

    def to_ibis(self, column: ir.NumericValue) -> ir.IntegerValue:
        """Return the same for a column: the same operations on the same doubles; no row makes them fail."""
        from anonymaly.engine.arithmetic import divided, exact  # noqa: PLC0415  (Ibis, when rows are read)

        clamped = column.cast("float64").clip(lower=exact(self.low), upper=exact(self.high))
        return (divided(clamped - exact(self.low), self.unit) + 0.5).floor().cast("int64")
