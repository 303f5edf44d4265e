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
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ibis
import sqlglot
import sqlglot.expressions

from anonymaly.core.extras import require
from anonymaly.engine.frames import to_arrow
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    import pyarrow as pa

FILES = {".csv": "csv", ".tsv": "csv", ".gz": "csv", ".parquet": "parquet", ".pq": "parquet"}
DATABASES = {".duckdb", ".ddb", ".db"}
POSTGRES = ("postgres", "postgresql")
LONGEST_HEADER = 1_000_000
SOURCES = (
    "a CSV or Parquet path (or glob), a DuckDB file or database URL with table=, a frame, or an Ibis table"
)
_INHERITED: list[
    Any
] = []  # a forked child keeps its parent's handles: closing them would hang or cut both off


# A connection serves one thread at a time: two at once hang or fail, and a failure keeps its charge.
_ENGINE = threading.RLock()


def _fresh_lock() -> None:
    # A child of a fork must not wait for a thread that it does not have.
    global _ENGINE  # noqa: PLW0603
    _ENGINE = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


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
        with _ENGINE:
            return expression.as_table().to_pyarrow()
    except Exception as problem:
        raise EngineFailure(type(problem).__name__, statement_template(expression)) from problem


def collect_batches(expression: ir.Expr, rows: int) -> Iterator[pa.RecordBatch]:
    """Run an expression and yield the result in batches, so that it need not fit in memory at once.

    No other statement runs until the last batch is taken or the iterator is closed.
    """
    try:
        with _ENGINE, closing(expression.as_table().to_pyarrow_batches(chunk_size=rows)) as batches:
            yield from batches
    except Exception as problem:
        raise EngineFailure(type(problem).__name__, statement_template(expression)) from problem


def statement_template(expression: ir.Expr) -> str:
    """Return the SQL of an expression with every literal replaced by ``?``."""
    try:
        tree = sqlglot.parse_one(str(ibis.to_sql(expression, dialect="duckdb")), read="duckdb")
    except Exception:  # the template is for a log line; its absence must not hide the failure it describes
        return "(no statement)"
    for literal in list(tree.find_all(sqlglot.expressions.Literal, sqlglot.expressions.Boolean)):
        literal.replace(sqlglot.expressions.Placeholder())
    for name in list(tree.find_all(sqlglot.expressions.Identifier)):
        if "(" in name.this:  # Ibis names a result after its expression, literals and all
            name.replace(sqlglot.exp.to_identifier("unnamed"))
    return tree.sql(dialect="duckdb")


class Source:
    """A table somewhere; opened when first needed, and again in a forked child."""

    def __init__(self, source: Any, table: str | None, needed: Sequence[str]) -> None:
        self._table_name = table
        self._opened: tuple[int, ir.Table] | None = None
        # Text files carry no types, so every value arrives as text and is read as what was declared.
        self.untyped = False
        self.is_file = False  # a text or Parquet file; a database's columns may have collations
        # So are these columns of a frame or Parquet file where their type does not fit; with what to call it.
        self.loose: dict[str, str] = {}
        self._process = os.getpid()
        self._source = self._accept(source, needed)

    def table(self) -> ir.Table:
        """Return the table with all its columns, as the engine types them."""
        with _ENGINE:
            # A database handle must not be shared across fork, so it belongs to one process.
            if self._opened is None or self._opened[0] != os.getpid():
                _INHERITED.append(self._opened)
                self._opened = (os.getpid(), self._open())
            return self._opened[1]

    def _accept(self, source: Any, needed: Sequence[str]) -> Any:
        """Check what can be checked without opening: the kind, the path, the options."""
        if isinstance(source, str | os.PathLike) and "://" not in os.fsdecode(source):
            return self._accept_path(os.fsdecode(source))
        if isinstance(source, str):
            scheme = source.partition("://")[0]
            _refuse_untyped(scheme)
            if scheme in POSTGRES:
                require("postgres", "A table in PostgreSQL")
            return self._with_table(source, "a database URL")
        if isinstance(source, ibis.Table):
            _refuse_untyped(source.get_backend().name)
            return source
        frame = to_arrow(source, needed)
        if frame is None:
            raise InputError(
                f"cannot read a table from {type(source).__name__}",
                field="source",
                next_step=f"Give {SOURCES}.",
            )
        arrow, self.loose = frame
        return arrow

    def _accept_path(self, path: str) -> str:
        matches = _files(path)
        if not matches:
            raise InputError(
                f"there is no file {_without_password(path)}",
                field="source",
                next_step="Check the path; globs need a match, and database URLs start with a name and ://.",
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
        kinds = {Path(match).suffix.lower() for match in matches}
        if len({FILES.get(kind) for kind in kinds}) > 1 or (".gz" in kinds and len(kinds) > 1):
            raise InputError(
                f"{path} matches files of several kinds",
                field="source",
                next_step=f"Give a glob with an ending, such as *{suffix}.",
            )
        self.untyped = FILES[suffix] == "csv"
        self.is_file = True
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
            kind = type(problem).__name__
        # The class only: messages quote values, and database URLs carry passwords. Raised out here, so that
        # not even the new error's context holds them.
        is_path = isinstance(self._source, str) and "://" not in self._source
        raise SchemaError(
            f"{self._source if is_path else 'the source'} could not be opened ({kind})",
            field="source",
            next_step="Check that the file is complete, or that the database is reachable and has the table.",
        )

    def _open_with_ibis(self) -> ir.Table:
        source = self._source
        if isinstance(source, ibis.Table):
            if self._process != os.getpid():
                _reconnect(source)
            _refuse_collation(source)
            return source
        if isinstance(source, str) and "://" in source:
            # Opened to write, DuckDB locks others out and creates a file that is not there.
            options = {"read_only": True} if source.startswith("duckdb://") else {}
            return ibis.connect(source, **options).table(self._table_name)
        if isinstance(source, str) and Path(source).suffix.lower() in DATABASES:
            return ibis.duckdb.connect(source, read_only=True).table(self._table_name)
        connection = ibis.duckdb.connect()
        if not isinstance(source, str):
            connection.con.register("source", source)  # a view of the Arrow memory, no copy
            return connection.table("source")
        files = _files(source)
        # The engine would read brackets and stars in a file's own name as a pattern.
        paths = [glob.escape(file) for file in files]
        if self.untyped:
            names, delimiter = _common_header(files)
            return connection.read_csv(
                paths,
                table_name="source",
                header=True,
                delim=delimiter,
                quote='"',
                escape='"',
                columns=dict.fromkeys(names, "VARCHAR"),
                auto_detect=False,
                compression="gzip" if files[0].lower().endswith(".gz") else "none",
                # A ragged line must not fail the statement: whether one exists is a fact about the rows.
                # Lines with too few values are not records; of too many, the last are left out.
                strict_mode=False,
                ignore_errors=True,
                # Several threads guess where a line begins and, with breaks in quotes, guess wrong: of 69 MB
                # a quarter of the lines were misread. What one row holds must not change how others are read.
                parallel=False,
            )
        # Files of one table may differ in types: pandas writes whole numbers as floats where one is missing.
        opened = connection.read_parquet(paths, table_name="source", union_by_name=True)
        # A column of nothing but nulls is stored without a type, and the engine calls it a number.
        nulls = "SELECT DISTINCT name FROM parquet_schema(?) WHERE logical_type = 'NullType()'"
        self.loose = {name: "null" for (name,) in connection.con.execute(nulls, [paths]).fetchall()}
        return opened


def _refuse_untyped(backend: str) -> None:
    """Refuse SQLite: a column there holds values of any type, and compares moments as text."""
    if backend.lower() == "sqlite":
        raise InputError(
            "SQLite columns have no types of their own, so filters on them could mean something else",
            field="source",
            next_step="Copy the table to Parquet, DuckDB or PostgreSQL.",
        )


def _refuse_collation(table: ir.Table) -> None:
    """Refuse a DuckDB connection that calls texts equal which differ: nothing there tells them apart."""
    backend = table.get_backend()
    if backend.name != "duckdb":
        return
    ((collation,),) = backend.con.execute("SELECT current_setting('default_collation')").fetchall()
    if collation.lower() not in ("", "binary", "c", "posix"):
        raise SchemaError(
            f"its connection compares text by {collation}, not by its characters",
            field="source",
            next_step="Reset default_collation; a column may have a collation of its own.",
        )


def _reconnect(table: ir.Table) -> None:
    """Give a forked child its own connection to a server; an embedded engine's memory came along."""
    backend = table.get_backend()
    if backend.name != "duckdb":
        _INHERITED.append(getattr(backend, "con", None))
        backend.reconnect()


def _files(path: str) -> list[str]:
    """Return the files that a path names; one that exists is no pattern, whatever its name."""
    if os.path.exists(path):
        return [path]
    return sorted(glob.glob(path)) if glob.has_magic(path) else []


def _without_password(path: str) -> str:
    """Return what was typed as a path unless it looks like a mistyped database address."""
    return "of that name" if re.search(r":.*@|password", path, re.IGNORECASE) else path


def read_schema(source: str, table: str | None) -> dict[str, dt.DataType]:
    """Return a table's column names and types, for an owner who is about to declare them.

    A text file has no types, so they are guessed from its beginning; the owner decides.
    """
    opened = Source(source, table, ())
    schema = opened.table().schema()
    if opened.untyped:
        names, delimiter = _common_header(_files(source))
        paths = [glob.escape(file) for file in _files(source)]
        guess = ibis.duckdb.connect().read_csv(paths, delim=delimiter, header=True, ignore_errors=True)
        return {name: guess.schema().get(name, schema[name]) for name in names}
    return {name: schema[name] for name in schema.names}


def _common_header(files: Sequence[str]) -> tuple[list[str], str]:
    """Return the names and the delimiter of one text file or of several alike."""
    first, *others = [_header(file) for file in files]
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            # The engine would match their columns by position.
            raise SchemaError(
                f"the first lines of {files[0]} and {file} differ",
                field="source",
                next_step="Give files with the same columns in the same order, separated alike.",
            )
    return first


def _header(path: str) -> tuple[list[str], str]:
    """Read names and delimiter from the header line, which is public; sniffing would look at rows."""
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as lines:
        line = lines.readline(LONGEST_HEADER).partition(b"\r")[0]
    header = line.decode("utf-8-sig").rstrip("\n")  # bytes first: rows must not be decoded
    delimiter = max(",;\t|", key=re.sub('"[^"]*"', "", header).count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    distinct = {name.lower() for name in names}  # DuckDB does not tell Age from age
    if not names or len(distinct) < len(names) or "" in names or header.count('"') % 2:
        raise SchemaError(
            f"the first line of {path} does not name every column once",
            field="source",
            next_step="Give the file a header line.",
        )
    return names, delimiter
