# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share`` that reads rows: counts by cell, or the records that are not sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import pyarrow as pa

from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.dataset import NON_SENSITIVE
from anonymaly.engine import cells as engine_cells
from anonymaly.engine.source import collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 262_144  # in a batch


def non_sensitive_records(table: ir.Table, columns: Sequence[str]) -> pa.RecordBatchReader:
    """Return the chosen columns of the records that are not sensitive, batch by batch."""
    records = table.filter(table[NON_SENSITIVE]).select(*columns)
    schema = records.schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, collect_batches(records, ROWS))


@dataclass(frozen=True)
class Cells:
    """How many records each cell holds, and how many of them are not sensitive."""

    every: Integers
    non_sensitive: Integers


def count_cells(table: ir.Table, by: Sequence[Attribute]) -> Cells:
    """Count the records of every cell, empty ones too; records without a value of a column are in none."""
    judged = table[NON_SENSITIVE] if NON_SENSITIVE in table.columns else ibis.literal(False)
    counts = engine_cells.count_cells(table, by, {"non_sensitive": judged})
    return Cells(counts[engine_cells.RECORDS], counts["non_sensitive"])
