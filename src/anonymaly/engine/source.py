# SPDX-License-Identifier: Apache-2.0
"""The source of a table: files, frames and databases, all read through Ibis.

What can be checked without opening a table is checked at once; Ibis and the engine are imported when the
table is first opened.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymaly.engine import lookup
from anonymaly.engine.columns import Kind
from anonymaly.engine.encodings import TextFile, exact_paths, for_engine, in_utf_8
from anonymaly.engine.files import (
    FileKind,
    columns_in_milliseconds,
    common_header,
    find_files,
    kind_of_files,
    refuse_wide_files,
    wherever,
)
from anonymaly.engine.frames import is_ibis_table, to_arrow
from anonymaly.engine.reading import Reading
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.engine.turns import one_at_a_time
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

SOURCES = (
    "a CSV or Parquet path (or glob), a DuckDB file or database URL with table=, a frame, or an Ibis table"
)
# A forked child keeps its parent's handles: closing them would hang or cut both off.
_INHERITED: list[Any] = []


class Source:
    """A table that is opened when it is first needed, and again in a forked child."""

    def __init__(
        self,
        source: Any,
        table: str | None,
        needed: Sequence[str],
        *,
        line_breaks: bool = False,
        file: TextFile | None = None,
        opaque: Collection[str] = (),
    ) -> None:
        self._table_name = table
        self._opaque = opaque
        self._line_breaks = line_breaks
        self._file = file or TextFile()
        self._opened: tuple[int, ir.Table] | None = None
        self._file_kind: FileKind | None = None
        # Columns of a frame or Parquet file that have no type of their own, with a name for what they have:
        # if that type does not fit, they are read as text.
        self._loose: dict[str, str] = {}
        self._process = os.getpid()
        self._in_milliseconds: set[str] = set()
        self._source = self._accept(source, needed)
        for field, given in (("line_breaks", line_breaks), ("file", self._file != TextFile())):
            if given and self._file_kind != "text":
                raise InputError(
                    "is given for what is no text file",
                    field=field,
                    next_step="Leave it out; only CSV files have lines.",
                )

    @property
    def is_text(self) -> bool:
        """Whether the table is a text file."""
        return self._file_kind == "text"

    def table(self) -> ir.Table:
        """Return the table with all its columns, as the engine types them."""
        with one_at_a_time():
            # A database handle must not be shared across fork, so it belongs to one process.
            if self._opened is None or self._opened[0] != os.getpid():
                _INHERITED.append(self._opened)
                self._opened = (os.getpid(), self._open())
            return self._opened[1]

    def typed(
        self,
        kinds: Mapping[str, Kind],
        person: str | None,
        readings: Mapping[str, Reading] = MappingProxyType({}),
    ) -> ir.Table:
        """Return all rows with their columns read as these kinds, and with the person of each."""
        from anonymaly.engine import view  # noqa: PLC0415  (Ibis, when a question reads)

        raw = self.table()
        # Text and Parquet files have no collations; a database's columns may.
        from_file = self._file_kind in ("text", "parquet")
        return view.typed(
            raw,
            kinds,
            lookup.of(raw),
            person=person,
            loose=self._loose,
            from_file=from_file,
            readings=readings,
        )

    def looked(
        self, kinds: Mapping[str, Kind], person: str | None, readings: Mapping[str, Reading]
    ) -> ir.Table:
        """Return the same rows with what is written in each column as well, for the owner's look."""
        from anonymaly.engine import look  # noqa: PLC0415

        raw = self.table()
        from_file = self._file_kind in ("text", "parquet")
        return look.looked(
            raw,
            kinds,
            lookup.of(raw),
            person=person,
            loose=self._loose,
            from_file=from_file,
            readings=readings,
        )

    def lines(self) -> ir.Table | None:
        """Return how many values each line of a text file has; None where lines are not records.

        The table has the columns ``values`` and ``needed``.
        """
        if self._file_kind != "text" or self._line_breaks:
            return None
        from anonymaly.engine import lines  # noqa: PLC0415

        _, names, delimiter = self._read_header()
        return lines.lengths(self.table().get_backend().table("source"), names, delimiter)

    def type_of(self, name: str) -> str | None:
        """Return the name of a column's type, or None if there is no such column."""
        found = self.table().schema()
        # What a loose column's values happen to be is a fact about the rows.
        return self._loose.get(name, str(found[name])) if name in found else None

    def problem(self, name: str, kind: Kind, reading: Reading | None = None) -> str | None:
        """Return why a column cannot be read as a kind, from its name and type alone; None if it can."""
        from anonymaly.engine import view  # noqa: PLC0415

        found = self.table().schema()
        if name not in found:
            return "is not in the table"
        if name in self._in_milliseconds:
            return "holds moments in milliseconds, not all of which can be read; copy them in microseconds"
        # Text files have no types, so every value arrives as text and is read as declared.
        fits = self._file_kind == "text" or name in self._loose or view.fits(found[name], kind, reading)
        return None if fits else f"the table has {found[name]}, which does not fit"

    def reopen(self) -> None:
        """Drop the connection, so that the next use opens a new one."""
        with one_at_a_time():
            if self._opened is not None and is_ibis_table(self._source):
                lookup.of(self._source).reconnect(self._source)
            self._opened = None

    def _accept(self, source: Any, needed: Sequence[str]) -> Any:
        """Check what can be checked without opening: the kind, the path, the options."""
        if isinstance(source, str | os.PathLike) and "://" not in os.fsdecode(source):
            path = os.fsdecode(source)
            self._file_kind = kind_of_files(path)
            # It is opened later, and by forked children again: by then the working folder may be another.
            path = wherever(path)
            return self._with_table(path, "a DuckDB file") if self._file_kind == "database" else path
        if isinstance(source, str):
            lookup.refuse_unusable(source.partition("://")[0])
            return self._with_table(lookup.wherever(source), "a database URL")
        if is_ibis_table(source):
            lookup.refuse_unusable(source.get_backend().name)
            return source
        frame = to_arrow(source, needed, self._opaque)
        if frame is None:
            raise InputError(
                f"cannot read a table from {type(source).__name__}",
                field="source",
                next_step=f"Give {SOURCES}.",
            )
        arrow, self._loose = frame
        return arrow

    def _with_table(self, source: str, kind: str) -> str:
        if not self._table_name:
            raise InputError(f"{kind} holds several tables", field="table", next_step="Name one with table=.")
        return source

    def _open(self) -> ir.Table:
        try:
            return self._open_on_engine()
        except SchemaError:
            raise
        except Exception as problem:
            kind = type(problem).__name__
        # The class only: messages quote values, and database URLs hold passwords. Raised outside the handler,
        # so that not even the new error's context holds them.
        raise SchemaError(
            f"{'the source' if self._file_kind is None else self._source} could not be opened ({kind})",
            field="source",
            next_step="Check that the file is complete, or that the database is reachable and has the table.",
        )

    def _open_on_engine(self) -> ir.Table:
        source = self._source
        if is_ibis_table(source):
            engine = lookup.of(source)
            if self._process != os.getpid():
                _INHERITED.append(engine.reconnect(source))
            engine.refuse_connection(source)
            return source
        if isinstance(source, str) and self._file_kind is None:
            return lookup.of_address(source).connect(source).table(self._table_name)
        engine = lookup.embedded()
        match self._file_kind:
            case "database":
                return engine.open_database(for_engine(source), self._table_name)
            case "text":
                files, names, delimiter = self._read_header()
                return engine.open_text(files, names, delimiter, line_breaks=self._line_breaks)
            case "parquet":
                refuse_wide_files(find_files(source))
                self._in_milliseconds = columns_in_milliseconds(find_files(source))
                opened, self._loose = engine.open_parquet(exact_paths(find_files(source)))
                return opened
            case None:
                return engine.open_arrow(source)

    def _read_header(self) -> tuple[list[str], list[str], str]:
        """Return the text files in UTF-8, the names of their columns, and their delimiter."""
        files = in_utf_8(find_files(self._source), self._file.encoding)
        return exact_paths(files), *common_header(files, self._file.delimiter)


def same_wherever(source: Any) -> Any:
    """Return a source that means the same after a change of the working folder."""
    if not isinstance(source, str | os.PathLike):
        return source
    text = os.fsdecode(source)
    return lookup.wherever(text) if "://" in text else wherever(text)


def read_sample(
    source: str, table: str | None, rows: int
) -> tuple[dict[str, dt.DataType], dict[str, list[str]]]:
    """Return a table's types and some values of its text columns, for an owner who declares them."""
    opened = Source(source, table, ()).table()
    types = {name: opened.schema()[name] for name in opened.schema().names}
    texts = [name for name, kind in types.items() if kind.is_string()]
    try:
        found = collect(opened.select(*texts).limit(rows)) if texts else {}
    except EngineFailure:  # without values there is less to propose, and that is all
        return types, {}
    return types, {name: [text for text in found[name].to_pylist() if text is not None] for name in texts}
