# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on columns that is the same on every engine, and that no row can make fail.

Whether a statement fails must not depend on a row: the charge stands, and everyone sees that no answer came.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ibis

if TYPE_CHECKING:
    import ibis.expr.types as ir


def exact(value: float) -> ir.FloatingScalar:
    """Write a number so that every engine reads the same double; DuckDB reads plain ones as decimals."""
    return ibis.literal(repr(float(value))).cast("float64")


def divided(column: ir.FloatingValue, scale: float) -> ir.FloatingValue:
    """Divide a column; what is so small that nothing is left of it is not divided, as engines fail on it."""
    if scale == 1:
        return column
    vanishing = math.floor(scale / 2) * math.ulp(0.0)
    whole = column / exact(scale)
    if not vanishing:
        return whole
    return ibis.cases((column.abs() <= exact(vanishing), ibis.literal(0.0, "float64")), else_=whole)
