# SPDX-License-Identifier: Apache-2.0
"""DuckDB: the engine that runs in this process and also reads files and frames."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import ibis.expr.datatypes as dt

from anonymaly.engine import lines, spill, unchecked_text
from anonymaly.engine.encodings import exact_paths
from anonymaly.engine.engine import Engine
from anonymaly.engine.files import packing
from anonymaly.engine.limits import NO_LIMITS, Limits
from anonymaly.engine.unchecked_text import UncheckedFiles
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from anonymaly.engine import lake

MOST_HELD = 1 << 22  # numbers, by each thread
_TIME = re.compile(r"\b(Time\(|DType\.TIME(_NS|TZ)?\b)")  # in the name of a type; no moment
_TIME_IN_NANOSECONDS = re.compile(r"Unknown\(raw_type=DataType\(this=DType\.TIME_NS\b")

# Functions that the engine has and Ibis does not.
_encode = ibis.udf.scalar.builtin(lambda text: ..., name="encode", signature=((str,), bytes))
_decode = ibis.udf.scalar.builtin(lambda text: ..., name="decode", signature=((bytes,), str))
_make_timestamp = ibis.udf.scalar.builtin(
    lambda microseconds: ..., name="make_timestamp", signature=((dt.int64,), dt.Timestamp(scale=6))
)
_smallest = ibis.udf.agg.builtin(
    lambda column, most: ..., name="min", signature=((dt.int64, dt.int64), dt.Array(dt.int64))
)
_epoch_us = ibis.udf.scalar.builtin(lambda time: ..., name="epoch_us", signature=((dt.time,), dt.int64))
_epoch_us_of_unknown = ibis.udf.scalar.builtin(
    lambda time: ..., name="epoch_us", signature=((dt.unknown,), dt.int64)
)
_try = ibis.udf.scalar.builtin(lambda text: ..., name="try", signature=((str,), str))


def _is_time(kind: dt.DataType) -> bool:
    # Ibis has no type for times in nanoseconds.
    return bool(kind.is_time() or _TIME_IN_NANOSECONDS.match(repr(kind)))


def _partitioned(folders: bool) -> dict[str, Any]:
    # As text: a type guessed from all folders would let one of them change how every other is read.
    return {"hive_partitioning": folders, **({"hive_types_autocast": False} if folders else {})}


@dataclass(frozen=True)
class DuckDB(Engine):
    """DuckDB, in memory or as a file, within an owner's limits."""

    limits: Limits = NO_LIMITS

    def connect(self, url: str) -> Any:
        """Return a read-only connection: one that may write locks others out and creates missing files."""
        return self._limited(ibis.connect(url, read_only=True))

    def _in_memory(self) -> Any:
        """Return a database of our own. What does not fit would go to the working folder otherwise."""
        # And it would fetch extensions from the network by itself, to read what an address or ending names.
        return ibis.duckdb.connect(
            temp_directory=str(spill.folder()),
            autoinstall_known_extensions=False,
            autoload_known_extensions=False,
            **self.limits.settings,
        )

    def _limited(self, connection: Any) -> Any:
        """Let a database file spill where only its owner can look; beside the file, anybody might."""
        # Not when connecting: within a process, all connections to a file must have the same options.
        wanted = {
            "temp_directory": str(spill.folder()),
            "autoinstall_known_extensions": False,
            **self.limits.settings,
        }
        for name, value in wanted.items():
            # This process spilled elsewhere before, on its own; or the settings are locked.
            with contextlib.suppress(duckdb.Error):
                connection.settings[name] = value
        return connection

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

    def writable(self, column: ir.Value) -> ir.Value:
        """Return times of day without those beyond 24:00, whose text the engine writes past its memory."""
        if not _is_time(column.type()):
            return column
        since = _epoch_us if column.type().is_time() else _epoch_us_of_unknown
        beyond = ~since(column).between(0, 86_400_000_000)
        # A null without a type: Ibis has one type for times with and without an offset.
        return ibis.cases((beyond, ibis.null()), else_=column)

    def never_writable(self, kind: dt.DataType) -> bool:
        """Say whether a type has times of day inside of it, which nothing here can look at one by one."""
        return not _is_time(kind) and _TIME.search(repr(kind)) is not None

    def text_or_null(self, text: ir.StringValue) -> ir.StringValue:
        """Return text, or null where the cast fails, as it does at the least number of a moment."""
        tried: ir.StringValue = _try(text)
        return tried

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        moment: ir.TimestampValue = _make_timestamp(second * 1_000_000 + microsecond)
        return moment

    def smallest(self, rows: ir.Table, most: int, cells: int) -> ir.Table:
        """Return the same by an aggregate that holds so many numbers of a cell, and not all of its rows."""
        # It takes room for all of them at once, which cannot go to disk.
        if most * cells > MOST_HELD:
            return super().smallest(rows, most, cells)
        kept = rows.group_by("cell").agg(gaps=_smallest(rows.gap, most))
        return kept.select("cell", gap=kept.gaps.unnest())

    def can_run_again(self, expression: ir.Expr, failure: str) -> bool:
        """Say whether a statement that failed would not fail again."""
        return unchecked_text.mend(expression.get_backend(), failure)

    def before_rows(self, expression: ir.Expr) -> None:
        """Make sure that rows which are streamed can be streamed to their end."""
        unchecked_text.check(expression.get_backend())

    def open_database(self, path: str, table: str | None) -> ir.Table:
        """Open a table of a database file."""
        return self.table(self._limited(ibis.duckdb.connect(path, read_only=True)), str(table))

    def open_arrow(self, frame: pa.Table | lake.Rows) -> ir.Table:
        """Open a table in memory, or one that is streamed: a view of it, not a copy."""
        connection = self._in_memory()
        connection.con.register("source", frame)
        return connection.table("source")

    def open_text(
        self,
        paths: Sequence[str],
        names: Sequence[str],
        delimiter: str,
        *,
        line_breaks: bool,
        folders: Sequence[str] = (),
    ) -> ir.Table:
        """Open text files whose header names these columns, every value as text.

        Each line is one record, unless values in quotes may hold line breaks. Folders are columns whose
        values are in the paths.
        """
        whole: dict[str, Any] = {"delim": lines.SEPARATOR, "quote": "", "escape": ""}
        # Several threads guess where a line begins and, with breaks in quotes, guess wrong: in a file of
        # 69 MB a quarter of the lines were misread.
        quoted: dict[str, Any] = {"delim": delimiter, "quote": '"', "escape": '"', "parallel": False}
        read = self._in_memory().read_csv(
            list(paths),
            table_name="source",
            header=True,
            columns=dict.fromkeys(names if line_breaks else [lines.LINE], "VARCHAR"),
            auto_detect=False,
            compression=packing(paths[0]),
            **_partitioned(bool(folders)),
            # A ragged line must not fail the statement: whether one exists is a fact about the rows.
            # Lines with too few values are not records; of lines with too many, the last are left out.
            strict_mode=False,
            ignore_errors=True,
            **(quoted if line_breaks else whole),
        )
        return read if line_breaks else lines.records(read, names, delimiter, folders)

    def open_parquet(
        self, paths: Sequence[str], *, folders: Sequence[str], needed: Sequence[str]
    ) -> tuple[ir.Table, dict[str, str]]:
        """Open Parquet files, and return the columns that have no type of their own."""
        connection = self._in_memory()
        unchecked_text.remember(connection, UncheckedFiles(paths, folders, needed))
        paths = exact_paths(paths)
        # Files of one table may differ in types: pandas writes whole numbers as floats if one is missing.
        opened = connection.read_parquet(
            paths, table_name=unchecked_text.VIEW, union_by_name=True, **_partitioned(bool(folders))
        )
        # A column of nothing but nulls is stored without a type, and the engine calls it a number.
        nulls = "SELECT DISTINCT name FROM parquet_schema(?) WHERE logical_type = 'NullType()'"
        found = connection.con.execute(nulls, [paths]).fetchall()
        return opened, {name: "null" for (name,) in found}


ENGINE = DuckDB("duckdb", is_local=True, has_lambdas=True, forgives=True)
