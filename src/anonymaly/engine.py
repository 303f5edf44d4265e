# SPDX-License-Identifier: Apache-2.0
"""Where a table lives: files, frames and databases, all reached through Ibis.

Nothing an engine says about rows may leave this module: its messages quote values, so a failure is
passed on as its class and the statement with every literal taken out.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ibis
import sqlglot
import sqlglot.expressions

from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    import pyarrow as pa

FILES = {".csv": "csv", ".tsv": "csv", ".gz": "csv", ".parquet": "parquet", ".pq": "parquet"}
DATABASES = {".duckdb", ".ddb", ".db"}
LONGEST_HEADER = 1_000_000
SOURCES = "a CSV or Parquet path (or glob), a DuckDB file or database URL with table=, a frame, or an Ibis table"


class EngineFailure(Exception):
    """A statement failed; carries what the owner's log may hold, and the cause for public tables only."""

    def __init__(self, kind: str, template: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.template = template


def collect(expression: ir.Expr) -> pa.Table:
    """Run an expression on its engine and return the result as an Arrow table.

    Every summary goes through here, so that no engine's error text goes any further.
    """
    try:
        return expression.as_table().to_pyarrow()
    except Exception as problem:
        raise EngineFailure(type(problem).__name__, statement_template(expression)) from problem


def statement_template(expression: ir.Expr) -> str:
    """Return the SQL of an expression with every literal replaced by ``?``."""
    try:
        tree = sqlglot.parse_one(str(ibis.to_sql(expression, dialect="duckdb")), read="duckdb")
    except Exception:  # the template is for a log line; its absence must not hide the failure it describes
        return "(no statement)"
    for literal in list(tree.find_all(sqlglot.expressions.Literal)):
        literal.replace(sqlglot.expressions.Placeholder())
    return tree.sql(dialect="duckdb")


class Source:
    """A table somewhere; opened when first needed, and again in a forked child."""

    def __init__(self, source: Any, table: str | None, needed: Sequence[str]) -> None:
        self._table_name = table
        self._opened: tuple[int, ir.Table] | None = None
        # Text files carry no types, so every value arrives as text and is read as what was declared.
        self.untyped = False
        self._source = self._accept(source, needed)

    def table(self) -> ir.Table:
        """Return the table with all its columns, as the engine types them."""
        # A database handle must not be shared across fork, so it belongs to one process.
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = (os.getpid(), self._open())
        return self._opened[1]

    def _accept(self, source: Any, needed: Sequence[str]) -> Any:
        """Check what can be checked without opening: the kind, the path, the options."""
        if isinstance(source, str | os.PathLike) and "://" not in os.fspath(source):
            return self._accept_path(os.fspath(source))
        if isinstance(source, str):
            return self._with_table(source, "a database URL")
        if isinstance(source, ibis.Table):
            return source
        arrow = _to_arrow(source, needed)
        if arrow is None:
            raise InputError(
                f"cannot read a table from {type(source).__name__}", field="source", next_step=f"Give {SOURCES}."
            )
        return arrow

    def _accept_path(self, path: str) -> str:
        matches = sorted(glob.glob(path)) if glob.has_magic(path) else [path] * os.path.exists(path)
        if not matches:
            raise InputError(
                f"there is no file {path}", field="source", next_step="Check the path; globs need a match."
            )
        if os.path.isdir(matches[0]):
            raise InputError(
                f"{path} is a folder",
                field="source",
                next_step=f"Give a glob such as {os.path.join(path, '*.parquet')}.",
            )
        suffix = Path(matches[0]).suffix.lower()
        if suffix in DATABASES:
            return self._with_table(path, "a DuckDB file")
        if suffix not in FILES:
            raise InputError(
                f"cannot tell what {path} is from its ending {suffix or '(none)'}",
                field="source",
                next_step=f"Endings read: {', '.join([*FILES, *sorted(DATABASES)])}.",
            )
        self.untyped = FILES[suffix] == "csv"
        return path

    def _with_table(self, source: str, kind: str) -> str:
        if not self._table_name:
            raise InputError(
                f"{kind} holds several tables", field="table", next_step="Say which one with table=."
            )
        return source

    def _open(self) -> ir.Table:
        try:
            return self._open_with_ibis()
        except SchemaError:
            raise
        except Exception as problem:
            # The class only: messages quote values, and database URLs carry passwords.
            name = self._source if isinstance(self._source, str) and "://" not in self._source else "the source"
            raise SchemaError(
                f"{name} could not be opened ({type(problem).__name__})",
                field="source",
                next_step="Check that the file is complete, or that the database is reachable and has the table.",
            ) from None

    def _open_with_ibis(self) -> ir.Table:
        source = self._source
        if isinstance(source, ibis.Table):
            return source
        if isinstance(source, str) and "://" in source:
            return ibis.connect(source).table(self._table_name)
        if isinstance(source, str) and Path(source).suffix.lower() in DATABASES:
            return ibis.duckdb.connect(source, read_only=True).table(self._table_name)
        connection = ibis.duckdb.connect()
        if not isinstance(source, str):
            connection.con.register("source", source)  # a view of the Arrow memory, no copy
            return connection.table("source")
        if self.untyped:
            names, delimiter = _header(source)
            return connection.read_csv(
                source,
                table_name="source",
                header=True,
                delim=delimiter,
                quote='"',
                escape='"',
                columns=dict.fromkeys(names, "VARCHAR"),
                auto_detect=False,
                # A ragged line must not fail the statement: whether one exists is a fact about the rows.
                # Lines with too few or too many values are not records. (Padding them would forbid line breaks
                # inside quotes, which DuckDB's parallel reader cannot combine with it.)
                strict_mode=False,
                ignore_errors=True,
            )
        return connection.read_parquet(source, table_name="source")


def read_schema(source: str, table: str | None) -> dict[str, dt.DataType]:
    """Return a table's column names and types, for an owner who is about to declare them.

    A text file has no types, so they are guessed from its beginning; the owner decides.
    """
    opened = Source(source, table, ())
    schema = opened.table().schema()
    if opened.untyped:
        names, delimiter = _header(source)
        guessed = ibis.duckdb.connect().read_csv(source, delim=delimiter, header=True, ignore_errors=True).schema()
        return {name: guessed.get(name, schema[name]) for name in names}
    return {name: schema[name] for name in schema.names}


def _header(path: str) -> tuple[list[str], str]:
    """Read names and delimiter from the header line, which is public; sniffing would look at rows."""
    first = sorted(glob.glob(path))[0] if glob.has_magic(path) else path
    with gzip.open(first) if first.endswith(".gz") else open(first, "rb") as lines:
        header = lines.readline(LONGEST_HEADER).decode("utf-8-sig")  # bytes first: rows must not be decoded
    delimiter = max(",;\t|", key=header.count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    if not names or len(set(names)) < len(names) or "" in names:
        raise SchemaError(
            f"the first line of {path} does not name every column once",
            field="source",
            next_step="Give the file a header line.",
        )
    return names, delimiter


def _to_arrow(source: Any, needed: Sequence[str]) -> pa.Table | None:
    """Return a frame's needed columns as an Arrow table, or None if it is no frame we know."""
    library = type(source).__module__.partition(".")[0]
    if library not in ("pandas", "polars", "pyarrow"):
        return None
    import pyarrow as pa  # noqa: PLC0415  (70 ms that a file or database source never needs)

    if library == "polars" and hasattr(source, "collect"):
        source = source.collect()
    try:
        names = source.column_names if isinstance(source, pa.Table) else list(source.columns)
    except AttributeError:
        return None
    kept = list(dict.fromkeys(needed))
    for name in kept:
        if name not in names:
            raise SchemaError(
                "is not in the frame", field=f"columns.{name}", next_step="Declare the columns that it has."
            )
    try:
        if isinstance(source, pa.Table):
            return source.select(kept)
        if library == "polars":
            return source.select(kept).to_arrow()
        return pa.Table.from_pandas(source[kept], preserve_index=False)
    except Exception as problem:
        raise SchemaError(
            f"the frame could not be read as a table of typed columns ({type(problem).__name__})",
            field="source",
            next_step="Give every declared column one type; pandas columns of mixed objects have none.",
        ) from None
