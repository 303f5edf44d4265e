# SPDX-License-Identifier: Apache-2.0
"""One small table, and every place it can be read from."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps

COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "body mass": Interval(10, 70),
    "ward": Categories(["A", "B", "two\nlines, one"]),
    "code": Categories([1, 2, 3]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "age": pa.int64(),
        "body mass": pa.float64(),
        "ward": pa.string(),
        "code": pa.int64(),
        "consent": pa.bool_(),
        "seen": pa.timestamp("us"),
        "note": pa.string(),
        "secret": pa.string(),
    }
)
ROWS: list[tuple[Any, ...]] = [
    (1, 30, 21.5, "A", 1, True, datetime(2021, 5, 1, 10), "fine", "s1"),
    (1, 31, 22.0, "two\nlines, one", 2, False, datetime(2021, 5, 2), 'said "yes"', "s2"),
    (2, None, None, None, None, None, None, None, None),
    (3, 300, -1e9, "elsewhere", 9, True, datetime(1850, 1, 1), "été 😀", "s4"),
    (None, 0, 10.25, "B", 3, False, datetime(2029, 12, 31, 23, 59, 59, 999999), "'; DROP TABLE t; --", "s5"),
]
Place = Callable[[pa.Table, Path], dict[str, Any]]


def arrow(rows: list[tuple[Any, ...]] = ROWS) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)


def records(dataset: Dataset) -> list[tuple[Any, ...]]:
    """The view's rows in an order of their own; whole numbers and floats are the same numbers."""
    table = dataset.table.to_pyarrow()
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return sorted(rows, key=lambda row: tuple((value is None, str(value)) for value in row))


def text(table: pa.Table, delimiter: str = ",") -> bytes:
    """The table as CSV text, written by the standard library."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(table.to_pylist() and [list(row.values()) for row in table.to_pylist()])
    return buffer.getvalue().encode()


def _csv(delimiter: str) -> Place:
    def write(table: pa.Table, folder: Path) -> dict[str, Any]:
        path = folder / ("t.tsv" if delimiter == "\t" else "t.csv")
        path.write_bytes(text(table, delimiter))
        return {"source": path, "line_breaks": True}

    return write


def _gzip(table: pa.Table, folder: Path) -> dict[str, Any]:
    (folder / "t.csv.gz").write_bytes(gzip.compress(text(table)))
    return {"source": str(folder / "t.csv.gz"), "line_breaks": True}


def _bom(table: pa.Table, folder: Path) -> dict[str, Any]:
    (folder / "t.csv").write_bytes(b"\xef\xbb\xbf" + text(table))
    return {"source": folder / "t.csv", "line_breaks": True}


def _arrow_csv(table: pa.Table, folder: Path) -> dict[str, Any]:
    pyarrow.csv.write_csv(table, folder / "t.csv")
    return {"source": folder / "t.csv", "line_breaks": True}


def _csv_parts(table: pa.Table, folder: Path) -> dict[str, Any]:
    for place in range(2):
        (folder / f"part{place}.csv").write_bytes(text(table.slice(place * 2, None if place else 2)))
    return {"source": folder / "part*.csv", "line_breaks": True}


def _parquet(table: pa.Table, folder: Path) -> dict[str, Any]:
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    return {"source": folder / "t.parquet"}


def _parquet_by_pandas(table: pa.Table, folder: Path) -> dict[str, Any]:
    table.to_pandas().to_parquet(folder / "t.pq")
    return {"source": folder / "t.pq"}


def _parquet_parts(table: pa.Table, folder: Path) -> dict[str, Any]:
    # pandas gives each part the types of its own rows.
    for place in range(2):
        part = table.slice(place * 2, None if place else 2)
        pd.DataFrame(part.to_pylist(), columns=table.column_names).to_parquet(folder / f"{place}.parquet")
    return {"source": folder / "*.parquet"}


def _duckdb(table: pa.Table, folder: Path) -> None:
    connection = ibis.duckdb.connect(folder / "t.duckdb")
    connection.create_table("records", table)
    connection.disconnect()


def _duckdb_file(table: pa.Table, folder: Path) -> dict[str, Any]:
    _duckdb(table, folder)
    return {"source": folder / "t.duckdb", "table": "records"}


def _duckdb_url(table: pa.Table, folder: Path) -> dict[str, Any]:
    _duckdb(table, folder)
    return {"source": f"duckdb://{folder}/t.duckdb", "table": "records"}


def _pandas_of_objects(table: pa.Table, folder: Path) -> dict[str, Any]:
    return {"source": pd.DataFrame(table.to_pylist(), columns=table.column_names, dtype=object)}


def _pandas_categorical(table: pa.Table, folder: Path) -> dict[str, Any]:
    frame = table.to_pandas()
    return {
        "source": frame.assign(**{name: frame[name].astype("category") for name in ("ward", "code", "note")})
    }


PLACES: dict[str, Place] = {
    "csv": _csv(","),
    "csv by arrow": _arrow_csv,
    "semicolons": _csv(";"),
    "tabs": _csv("\t"),
    "pipes": _csv("|"),
    "gzip": _gzip,
    "byte order mark": _bom,
    "csv parts": _csv_parts,
    "parquet": _parquet,
    "parquet by pandas": _parquet_by_pandas,
    "parquet parts": _parquet_parts,
    "duckdb file": _duckdb_file,
    "duckdb url": _duckdb_url,
    "pandas": lambda table, _: {"source": table.to_pandas()},
    "pandas from records": lambda table, _: {
        "source": pd.DataFrame(table.to_pylist(), columns=table.column_names)
    },
    "pandas nullable": lambda table, _: {"source": table.to_pandas().convert_dtypes()},
    "pandas of arrow": lambda table, _: {"source": table.to_pandas(types_mapper=pd.ArrowDtype)},
    "pandas of objects": _pandas_of_objects,
    "pandas categorical": _pandas_categorical,
    "polars": lambda table, _: {"source": pl.from_arrow(table)},
    "polars lazy": lambda table, _: {"source": pl.DataFrame(table).lazy()},
    "polars categorical": lambda table, _: {
        "source": pl.DataFrame(table).with_columns(pl.col("ward").cast(pl.Categorical))
    },
    "arrow": lambda table, _: {"source": table},
    "arrow batch": lambda table, _: {
        "source": table.combine_chunks().to_batches()[0] if len(table) else table
    },
    "ibis": lambda table, _: {"source": ibis.duckdb.connect().create_table("records", table)},
    "ibis memory": lambda table, _: {"source": ibis.memtable(table)},
}


def fill_postgres(url: str, table: pa.Table) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS records")
        connection.execute(
            'CREATE TABLE records (id bigint, age integer, "body mass" numeric, ward varchar, code smallint,'
            " consent boolean, seen timestamp, note text, secret text)"
        )
        places = ", ".join(["%s"] * len(SCHEMA))
        for row in table.to_pylist():
            connection.execute(f"INSERT INTO records VALUES ({places})", list(row.values()))


def declare(options: dict[str, Any], **more: Any) -> Dataset:
    return Dataset(**{"name": "patients", "columns": COLUMNS, **options, **more})
