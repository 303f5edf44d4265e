# SPDX-License-Identifier: Apache-2.0
"""What the owner's look at the declared columns found: exact numbers, which are not public."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from anonymaly.engine.columns import Kind
from anonymaly.engine.headers import SAY_ENCODING
from anonymaly.pictures.plain_table import table_lines

Trouble = Literal["unreadable", "outside", "undeclared"]

WARNING = (
    "Exact values from the rows, for the owner alone: what is seen here is not public. Mend how the file is "
    "read, not what you declare about people."
)
NOTHING_READ = "nothing of this column is read"
WIDTH = 160  # of a page of text; narrower tables take less

# How a column is mended, by what it is read as; nothing here is a bound or a category.
_READ: dict[Kind, str] = {
    "number": "say how its numbers are written: read: {decimal: …, thousands: …, signs: […]}",
    "whole number": "say how its numbers are written: read: {thousands: …}",
    "text": "the file's texts cannot be decoded: file: {encoding: …}",
    "flag": "say which words mean true and false: read: {means_true: […], means_false: […]}",
    "moment": "say how its dates are written: read: {dates: […]}, or {unix: seconds}",
    "opaque": "it holds values that no text can hold",
}
_MEND: dict[Trouble, str] = {
    "outside": "questions move such values to the nearer bound, or leave them out; if they stand for a "
    "missing value: read: {nulls: […]}",
    "undeclared": "such rows are in no group; if they are spellings of declared values: read: {same: {…}}, "
    "trim: true, fold: true; for all others: other: …",
}


@dataclass(frozen=True)
class Spelling:
    """Something that is written in a column and is not a value of its domain, and in how many rows."""

    text: str
    rows: int
    trouble: Trouble


@dataclass(frozen=True)
class ColumnLook:
    """What becomes of the rows' values in one declared column; each row is in one of the five numbers.

    Attributes
    ----------
    column, declared, kind
        Its name, its domain in a few words, and what it is read as.
    null
        Rows without a value.
    unreadable
        Rows in which something is written that cannot be read as declared, so that it counts as null.
    outside
        Rows with a number or moment outside the declared bounds.
    undeclared
        Rows with a category that is not declared.
    within
        Rows with a value of the declared domain.
    spellings
        The most frequent of what is unreadable, outside or undeclared.
    distinct
        How many different texts those are.
    other
        The declared value that stands for all undeclared ones, if there is one.
    """

    column: str
    declared: str
    kind: Kind
    null: int
    unreadable: int
    outside: int
    undeclared: int
    within: int
    spellings: tuple[Spelling, ...] = ()
    distinct: int = 0
    other: str | None = None

    @property
    def rows(self) -> int:
        """All rows."""
        return self.null + self.unreadable + self.outside + self.undeclared + self.within

    @property
    def troubled(self) -> int:
        """The rows whose value is there and is not used as a value of the domain."""
        return self.unreadable + self.outside + self.undeclared

    @property
    def is_lost(self) -> bool:
        """Whether there are rows, and none of them has a value once it is read."""
        return 0 < self.rows == self.null + self.unreadable

    def remarks(self) -> Iterator[str]:
        """Say what is wrong with the column, and how it is mended."""
        if self.is_lost:
            why = "no value can be read" if self.unreadable else "every value is null"
            yield f"{NOTHING_READ}: {why}"
        if self.unreadable:
            nulls = "; name those that mean null in read: {nulls: […]}"
            yield f"{self.unreadable:,} of {self.rows:,} rows cannot be read; {_READ[self.kind]}{nulls}"
        if self.outside:
            yield f"{self.outside:,} of {self.rows:,} rows are outside the bounds; {_MEND['outside']}"
        if self.undeclared:
            counted = f"they count as {self.other!r}, and to a policy as undeclared"
            mend = _MEND["undeclared"] if self.other is None else counted
            yield f"{self.undeclared:,} of {self.rows:,} rows are undeclared; {mend}"

    def shown_spellings(self) -> str:
        """Return the most frequent spellings with their rows, in one line."""
        shown = [f"{item.text!r} ({item.rows:,})" for item in self.spellings]
        more = self.distinct - len(self.spellings)
        return ", ".join([*shown, *([f"… {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True)
class UsableRows:
    """How many rows a question of some kind would use, if it were about these columns."""

    question: str
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class PersonsLook:
    """How the declared ``max_rows`` fits: whoever has more rows is cut to that many."""

    max_rows: int
    persons: int
    persons_beyond: int
    rows_cut: int
    rows_without_person: int


@dataclass(frozen=True)
class LinesLook:
    """The lines of a text file below its header, and those that have other than one value for each column.

    Lines that are not in UTF-8, where the file is said to be, are beside these; they are no records either.
    """

    lines: int
    too_few: int
    too_many: int
    not_utf_8: int = 0


@dataclass(frozen=True)
class ColumnsLook:
    """The owner's look at a table as it is declared; suspicious columns come first.

    Attributes
    ----------
    name
        The dataset's name.
    rows
        The rows of the table.
    columns
        What becomes of the values of each declared column.
    usable
        How many rows questions of some kinds would use, once persons are cut to ``max_rows``.
    persons
        How many persons have more rows than declared; None if every row is a person of its own.
    lines
        How the lines of a text file fit its header; None for other sources.
    """

    name: str
    rows: int
    columns: tuple[ColumnLook, ...]
    usable: tuple[UsableRows, ...] = ()
    persons: PersonsLook | None = None
    lines: LinesLook | None = None

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The columns with values that are lost, outside or undeclared."""
        return tuple(column.column for column in self.columns if column.is_lost or column.troubled)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        told = asdict(self)
        for told_column, column in zip(told["columns"], self.columns, strict=True):
            told_column["remarks"] = list(column.remarks())
        return {"warning": WARNING, **told, "suspicious": list(self.suspicious)}

    def facts(self) -> Iterator[str]:
        """Say what concerns more than one column."""
        yield f"{self.name}: {self.rows:,} rows"
        if self.lines is not None and (self.lines.too_few or self.lines.too_many):
            yield (
                f"of {self.lines.lines:,} lines, {self.lines.too_few:,} with too few values, which are no "
                f"records, and {self.lines.too_many:,} with too many, of which the last are left out: by a "
                "line break or a delimiter within a value, as a rule"
            )
        if self.lines is not None and self.lines.not_utf_8:
            say = f"{SAY_ENCODING[0].lower()}{SAY_ENCODING[1:]}"
            yield f"{self.lines.not_utf_8:,} further lines are not in UTF-8, and are no records: {say}"
        if self.persons is not None:
            people = self.persons
            alone = f"; rows without a person, each one of its own: {people.rows_without_person:,}"
            yield (
                f"persons with more than {people.max_rows:,} rows: {people.persons_beyond:,} of "
                f"{people.persons:,}; rows cut: {people.rows_cut:,}"
                + (alone if people.rows_without_person else "")
            )
        for use in self.usable:
            names = ", ".join(use.columns) if len(use.columns) <= 6 else f"{len(use.columns)} columns"
            yield f"{use.question}, about {names}: {use.rows:,} of {self.rows:,} rows would be used"

    def __str__(self) -> str:
        table = Table(box=None, pad_edge=False)
        table.add_column("column")
        table.add_column("declared")
        for title in ("within", "null", "unreadable", "outside", "undeclared"):
            table.add_column(title, justify="right")
        table.add_column("most frequent of the last three", overflow="fold")
        for column in self.columns:
            counts = (column.within, column.null, column.unreadable, column.outside, column.undeclared)
            numbers = [f"{number:,}" if number else "-" for number in counts]
            line = [column.column, column.declared, *numbers, column.shown_spellings()]
            table.add_row(*map(Text, line))  # as it is: what is written in a file is never markup
        remarks = [f"{column.column}: {remark}" for column in self.columns for remark in column.remarks()]
        lines = [*table_lines(table, WIDTH), "", *remarks, *([""] if remarks else [])]
        return "\n".join([*lines, *self.facts(), WARNING])

    def _repr_html_(self) -> str:
        from anonymaly.inspect.page import fragment  # noqa: PLC0415

        return fragment(self)

    def to_html(self) -> str:
        """Return a page that needs nothing else: no address, no script."""
        from anonymaly.inspect.page import page  # noqa: PLC0415

        return page(self)
