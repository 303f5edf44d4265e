# SPDX-License-Identifier: Apache-2.0
"""DuckDB: the engine that runs in this process and also reads files and frames."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import ibis.expr.datatypes as dt

from anonymaly.engine import lines, spill
from anonymaly.engine.engine import Engine
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

# Functions that the engine has and Ibis does not.
_encode = ibis.udf.scalar.builtin(lambda text: ..., name="encode", signature=((str,), bytes))
_decode = ibis.udf.scalar.builtin(lambda text: ..., name="decode", signature=((bytes,), str))
_make_timestamp = ibis.udf.scalar.builtin(
    lambda microseconds: ..., name="make_timestamp", signature=((dt.int64,), dt.Timestamp(scale=6))
)
_try = ibis.udf.scalar.builtin(lambda text: ..., name="try", signature=((str,), str))


def _in_memory() -> Any:
    """Return a database of our own. What does not fit in memory would go to the working folder otherwise."""
    return ibis.duckdb.connect(temp_directory=str(spill.folder()))


def _spilling_in_private(connection: Any) -> Any:
    """Let a database file spill where only its owner can look; beside the file, anybody might."""
    # Not when connecting: within a process, all connections to a file must be opened with the same options.
    with contextlib.suppress(
        duckdb.Error
    ):  # this process spilled elsewhere before, by a connection of its own
        connection.settings["temp_directory"] = str(spill.folder())
    return connection


@dataclass(frozen=True)
class DuckDB(Engine):
    """DuckDB, in memory or as a file."""

    def connect(self, url: str) -> Any:
        """Return a read-only connection: one that may write locks others out and creates missing files."""
        return _spilling_in_private(ibis.connect(url, read_only=True))

    def reconnect(self, table: ir.Table) -> Any:
        """Change nothing: a forked child has a copy of the engine's memory, and the tables are in it."""
        return None

    def refuse_connection(self, table: ir.Table) -> None:
        """Refuse a connection that compares different texts as equal, because queries cannot undo that."""
        connection = table.get_backend().con
        ((collation,),) = connection.execute("SELECT current_setting('default_collation')").fetchall()
        if collation.lower() not in ("", "binary", "c", "posix"):
            raise SchemaError(
                f"its connection compares text by {collation}, not by its characters",
                field="source",
                next_step="Reset default_collation; the collations of single columns are no problem.",
            )

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text by way of its bytes, which removes a collation; what is not UTF-8 is null."""
        plain: ir.StringValue = _try(_decode(_encode(text)))  # a frame's text may not be UTF-8
        return plain

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        moment: ir.TimestampValue = _make_timestamp(second * 1_000_000 + microsecond)
        return moment

    def step(self, number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
        """Return the same with the number written once; each edge would repeat it, and it may be long."""
        if not edges:
            return super().step(number, edges, values)
        halving = super().step
        found: ir.IntegerValue = ibis.array([number]).map(lambda item: halving(item, edges, values))[0]
        return found

    def open_database(self, path: str, table: str | None) -> ir.Table:
        """Open a table of a database file."""
        return _spilling_in_private(ibis.duckdb.connect(path, read_only=True)).table(table)

    def open_arrow(self, frame: pa.Table) -> ir.Table:
        """Open a table in memory: a view of it, not a copy."""
        connection = _in_memory()
        connection.con.register("source", frame)
        return connection.table("source")

    def open_text(
        self, paths: Sequence[str], names: Sequence[str], delimiter: str, *, line_breaks: bool
    ) -> ir.Table:
        """Open text files whose header names these columns, every value as text.

        Each line is one record, unless values in quotes may hold line breaks.
        """
        whole: dict[str, Any] = {"delim": lines.SEPARATOR, "quote": "", "escape": ""}
        # Several threads guess where a line begins and, with breaks in quotes, guess wrong: in a file of
        # 69 MB a quarter of the lines were misread.
        quoted: dict[str, Any] = {"delim": delimiter, "quote": '"', "escape": '"', "parallel": False}
        read = _in_memory().read_csv(
            list(paths),
            table_name="source",
            header=True,
            columns=dict.fromkeys(names if line_breaks else [lines.LINE], "VARCHAR"),
            auto_detect=False,
            compression="gzip" if paths[0].lower().endswith(".gz") else "none",
            # A ragged line must not fail the statement: whether one exists is a fact about the rows.
            # Lines with too few values are not records; of lines with too many, the last are left out.
            strict_mode=False,
            ignore_errors=True,
            **(quoted if line_breaks else whole),
        )
        return read if line_breaks else lines.records(read, names, delimiter)

    def open_parquet(self, paths: Sequence[str]) -> tuple[ir.Table, dict[str, str]]:
        """Open Parquet files, and return the columns that have no type of their own."""
        connection = _in_memory()
        # Files of one table may differ in types: pandas writes whole numbers as floats if one is missing.
        opened = connection.read_parquet(list(paths), table_name="source", union_by_name=True)
        # A column of nothing but nulls is stored without a type, and the engine calls it a number.
        nulls = "SELECT DISTINCT name FROM parquet_schema(?) WHERE logical_type = 'NullType()'"
        found = connection.con.execute(nulls, [list(paths)]).fetchall()
        return opened, {name: "null" for (name,) in found}


ENGINE = DuckDB("duckdb", is_local=True, forgives=True)
