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
from anonymaly.engine.encodings import TextFile
from anonymaly.engine.limits import NO_LIMITS, Limits
from anonymaly.engine.places.accept import accept
from anonymaly.engine.places.files import TextFiles
from anonymaly.engine.places.place import Request
from anonymaly.engine.reading import Reading
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.engine.turns import one_at_a_time
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

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
        limits: Limits = NO_LIMITS,
    ) -> None:
        file = file or TextFile()
        self._line_breaks = line_breaks
        self._opened: tuple[int, ir.Table] | None = None
        self._process = os.getpid()
        self._place = accept(source, Request(table, needed, opaque, line_breaks, file, limits))
        for field, given in (("line_breaks", line_breaks), ("file", file != TextFile())):
            if given and not self.is_text:
                raise InputError(
                    "is given for what is no text file",
                    field=field,
                    next_step="Leave it out; only CSV files have lines.",
                )
        for field in () if self._place.is_embedded else limits.given:
            raise InputError(
                "is given for a table that another engine reads",
                field=field,
                next_step="Leave it out, and set it where that engine runs.",
            )

    @property
    def is_text(self) -> bool:
        """Whether the table is a text file."""
        return isinstance(self._place, TextFiles)

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
        return view.typed(
            raw,
            kinds,
            lookup.of(raw),
            person=person,
            loose=self._place.loose,
            from_file=not self._place.has_collations,
            readings=readings,
        )

    def looked(
        self, kinds: Mapping[str, Kind], person: str | None, readings: Mapping[str, Reading]
    ) -> ir.Table:
        """Return the same rows with what is written in each column as well, for the owner's look."""
        from anonymaly.engine import look  # noqa: PLC0415

        raw = self.table()
        return look.looked(
            raw,
            kinds,
            lookup.of(raw),
            person=person,
            loose=self._place.loose,
            from_file=not self._place.has_collations,
            readings=readings,
        )

    def lines(self) -> ir.Table | None:
        """Return how many values each line of a text file has; None where lines are not records.

        The table has the columns ``values`` and ``needed``.
        """
        if not isinstance(self._place, TextFiles) or self._line_breaks:
            return None
        return self._place.lengths(self.table())

    def lines_not_utf_8(self) -> int:
        """Return how many lines of a text file are left out because they are not in UTF-8."""
        return self._place.lines_not_utf_8() if isinstance(self._place, TextFiles) else 0

    def type_of(self, name: str) -> str | None:
        """Return the name of a column's type, or None if there is no such column."""
        found = self.table().schema()
        # What a loose column's values happen to be is a fact about the rows.
        return self._place.loose.get(name, _named(found[name])) if name in found else None

    def problem(self, name: str, kind: Kind, reading: Reading | None = None) -> str | None:
        """Return why a column cannot be read as a kind, from its name and type alone; None if it can."""
        from anonymaly.engine import view  # noqa: PLC0415

        found = self.table().schema()
        if name not in found:
            return "is not in the table"
        if name in self._place.in_milliseconds:
            return "holds moments in milliseconds, not all of which can be read; copy them in microseconds"
        if kind == "opaque" and lookup.of(self.table()).never_writable(found[name]):
            return "holds times of day inside of other values, not all of which can be read; copy it as text"
        # Text files have no types, so every value arrives as text and is read as declared.
        if self.is_text or name in self._place.loose or view.fits(found[name], kind, reading):
            return None
        if kind == "moment" and view.has_zone(found[name]):
            return (
                f"the table has {_named(found[name])}, which does not fit without a clock to read moments of "
                "the whole world by: add read: {zone: UTC}, or another zone such as Europe/Berlin"
            )
        return f"the table has {_named(found[name])}, which does not fit"

    def renew(self) -> None:
        """Drop what was opened if the files, or the version of the table, are others now."""
        with one_at_a_time():
            if self._opened is not None and self._place.renew():
                self._opened = None

    def reopen(self) -> None:
        """Drop the connection, so that the next use opens a new one."""
        with one_at_a_time():
            opened, self._opened = self._opened, None
            try:
                if opened is not None:
                    self._place.reopen()
                return
            except Exception as problem:
                kind = type(problem).__name__
        raise SchemaError(
            f"the connection of the table that was given is lost and cannot be opened again ({kind})",
            field="source",
            next_step="Connect anew, and declare the dataset with the new table; or give the address.",
        )

    def _open(self) -> ir.Table:
        try:
            if self._process != os.getpid():
                _INHERITED.append(self._place.after_fork())
            return self._place.open()
        except SchemaError:
            raise
        except Exception as problem:
            kind = type(problem).__name__
        # The class only: messages quote values, and database URLs hold passwords. Raised outside the handler,
        # so that not even the new error's context holds them.
        raise SchemaError(
            f"{self._place.shown} could not be opened ({kind})",
            field="source",
            next_step=self._place.advice,
        )


def _named(kind: dt.DataType) -> str:
    """Return a type's name; the database's own, where Ibis has none."""
    return str(kind.raw_type) if kind.is_unknown() and isinstance(kind.raw_type, str) else str(kind)


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
