# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share-sample`` that reads rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.engine.statements import collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 262_144  # in a batch


def non_sensitive_records(table: ir.Table, columns: Sequence[str]) -> pa.RecordBatchReader:
    """Return the chosen columns of the records that are not sensitive, batch by batch."""
    records = table.filter(table[NON_SENSITIVE]).select(*columns)
    schema = records.schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, collect_batches(records, ROWS))
