# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share-sample`` that reads rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis
import pyarrow as pa

from anonymaly.engine.columns import NON_SENSITIVE, PERSON, PLACE
from anonymaly.engine.statements import collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 262_144  # in a batch
BEGINS = PERSON  # whether another person begins with this row; a name that no declared column has


def non_sensitive_records(table: ir.Table, columns: Sequence[str]) -> pa.RecordBatchReader:
    """Return the chosen columns of the records that are not sensitive, batch by batch."""
    return _streamed(table.filter(table[NON_SENSITIVE]).select(*columns))


def non_sensitive_persons(table: ir.Table, columns: Sequence[str]) -> pa.RecordBatchReader:
    """Return the same of whole persons, one after another; each row says whether a person begins with it."""
    return _streamed(in_turn(table, columns))


def in_turn(table: ir.Table, columns: Sequence[str]) -> ir.Table:
    """Return the rows sorted by persons, so that nothing is remembered of those who are not kept.

    The engine compares the persons, as it did to judge them: to compare their ids once more, elsewhere, might
    make two of one.
    """
    rows = table.filter(table[NON_SENSITIVE])
    rows = rows.order_by(ibis.asc(rows[PERSON], nulls_first=True), PLACE)
    # A row without a person counts as a person of its own.
    return rows.select(*columns, **{BEGINS: rows[PERSON].isnull() | (rows[PLACE] == 0)})


def _streamed(records: ir.Table) -> pa.RecordBatchReader:
    schema = records.schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, collect_batches(records, ROWS))
