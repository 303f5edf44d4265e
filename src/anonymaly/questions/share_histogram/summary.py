# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share-histogram`` that reads rows: how many records each cell holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis

from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.engine.cells import RECORDS, count_cells
from anonymaly.engine.columns import NON_SENSITIVE

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class CellCounts:
    """How many records each cell holds, and how many of them are not sensitive."""

    every: Integers
    non_sensitive: Integers


def count_judged_cells(table: ir.Table, by: Sequence[Attribute]) -> CellCounts:
    """Count the records of every cell, empty ones too; records without a value of a column are in none."""
    judged = table[NON_SENSITIVE] if NON_SENSITIVE in table.columns else ibis.literal(False)
    counts = count_cells(table, by, {"non_sensitive": judged})
    return CellCounts(counts[RECORDS], counts["non_sensitive"])
