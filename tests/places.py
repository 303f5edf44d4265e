# SPDX-License-Identifier: Apache-2.0
"""An Arrow table put where each engine reads it, value for value."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

Put = Callable[[pa.Table], dict[str, Any]]  # what the fixture of this name gives
POSTGRESQL = {
    "int64": "bigint", "int32": "int", "int16": "smallint", "double": "float8", "string": "text",
    "bool": "boolean", "timestamp[us]": "timestamp", "date32[day]": "date",
    "timestamp[us, tz=UTC]": "timestamptz",
}  # fmt: skip


def in_postgresql(table: pa.Table, url: str, name: str = "t") -> dict[str, Any]:
    """Write rows one by one: what goes by way of a frame may lose NaN."""
    kinds = {field.name: _kind(field.type) for field in table.schema}
    quoted = [f'"{column}"' for column in kinds]
    columns = ", ".join(f"{column} {kind}" for column, kind in zip(quoted, kinds.values(), strict=True))
    marks = ", ".join(["%s"] * len(kinds))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})")
        if len(table) > 0:
            rows = [list(row.values()) for row in table.to_pylist()]
            connection.cursor().executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return {"source": url, "table": name}


def in_spark(table: pa.Table, session: Any, folder: Path) -> dict[str, Any]:
    """Read a file: of a frame in memory, Spark takes a wall clock's moments for those of the whole world."""
    path = folder / f"{uuid.uuid4().hex}.parquet"
    pq.write_table(table, path)
    return {"source": session.read.parquet(str(path))}


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return POSTGRESQL[str(kind)]
