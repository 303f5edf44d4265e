# SPDX-License-Identifier: Apache-2.0
"""The only part of ``lookahead`` that reads rows: how many there are in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.engine.cells import RECORDS, count_cells

if TYPE_CHECKING:
    import ibis.expr.types as ir


def count_records(table: ir.Table, attributes: Sequence[Attribute]) -> Integers:
    """Count the rows of every combination of values; rows without a value of a column are in none."""
    return count_cells(table, attributes)[RECORDS]
