# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on columns that is the same on every engine and never fails because of a row.

Whether a statement fails must not depend on a row: the charge stands, and the asker sees that it failed.
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
    """Divide a column; values so small that the result would underflow, where engines fail, become 0."""
    if scale == 1:
        return column
    vanishing = math.floor(scale / 2) * math.ulp(0.0)
    whole = column / exact(scale)
    if not vanishing:
        return whole
    return ibis.cases((column.abs() <= exact(vanishing), ibis.literal(0.0, "float64")), else_=whole)
