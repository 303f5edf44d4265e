# SPDX-License-Identifier: Apache-2.0
"""The difference between two databases: the records, or the persons, that leave and that arrive.

A database is a multiset of records as questions read them. Missing fields, null, NaN and infinity all mean
"no value", 1 and 1.0 are the same number, and a number of an `Interval` or `Unbounded` column is the double
nearest to it: 2^53 + 1 is 2^53, and a decimal 17.99999999999999999999 is 18.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Domain
from anonymaly.declare.predicates import Record
from anonymaly.errors import InputError

Database = Sequence[Record]
ValidContexts = Callable[[Any, Database], Collection[Hashable]]


def as_read(value: Any) -> Any:
    """Return a number as the double that engines read, None if no double holds it; all else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return value
    try:
        number = float(value)
    except (OverflowError, ValueError):  # 10^400; a signalling NaN
        return None
    return number if math.isfinite(number) else None


def plain(value: Any) -> Hashable:
    """Return a value in a form that is equal when engines see equal values; None for no value."""
    if isinstance(value, bool):
        return ("flag", value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, Real):
        return Fraction(float(value)) if math.isfinite(value) else None
    # pandas' missing moment is a date that only its text gives away (see domain.read_moment).
    return (
        None
        if value is None or (isinstance(value, date) and str(value) == "NaT")
        else (type(value).__name__, value)
    )


@dataclass(frozen=True)
class Row:
    """One record, compared by its content."""

    content: tuple[tuple[str, Hashable], ...]
    record: Record = field(compare=False)

    @classmethod
    def of(cls, record: Record) -> Row:
        """Take a record as it was read; fields without a value are left out."""
        content = {str(name): plain(value) for name, value in record.items()}
        known = {name: value for name, value in content.items() if value is not None}
        return cls(
            tuple(sorted(known.items(), key=lambda item: item[0])),
            {name: value for name, value in record.items() if str(name) in known},
        )

    def value(self, name: str) -> Hashable:
        """Return the comparable value of a column, or None if it has none."""
        return dict(self.content).get(name)


@dataclass(frozen=True)
class Unit:
    """What is protected as a whole: a row, or all rows of one person."""

    person: Hashable
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Background:
    """What a relation's definition may need besides the two databases; all of it is public."""

    columns: Mapping[str, Domain] | None = None
    person: str | None = None
    valid_contexts: ValidContexts | None = None

    def declared(self) -> Mapping[str, Domain]:
        """Return the declared columns, or raise an error if they were not given."""
        if self.columns is None:
            raise InputError(
                "is needed to judge records by this relation",
                field="columns",
                next_step="Give the declared columns, as in columns={'age': Interval(0, 120)}.",
            )
        return self.columns


@dataclass(frozen=True)
class Change:
    """An ordered pair of databases, split into what stays, what leaves and what arrives."""

    kept: tuple[Row, ...]
    removed: tuple[Unit, ...]
    added: tuple[Unit, ...]
    first: Database
    second: Database

    @classmethod
    def between(
        cls,
        first: Database,
        second: Database,
        person: str | None,
        columns: Mapping[str, Domain] | None = None,
    ) -> Change:
        """Compare two databases, by rows or by the persons that a column names.

        Where no columns are declared, all numbers but those that name persons are read as doubles. A person
        whose rows changed at all leaves with all the old rows and arrives with all the new ones; a row
        without a person counts as a person of its own.
        """
        first, second = (_read(database, person, columns) for database in (first, second))
        before, after = _by_person(first, person), _by_person(second, person)
        kept: list[Row] = []
        removed: list[Unit] = []
        added: list[Unit] = []
        for name in {**before, **after}:
            old, new = before.get(name, Counter()), after.get(name, Counter())
            if name is None:
                kept.extend((old & new).elements())
                removed.extend(Unit(None, (row,)) for row in (old - new).elements())
                added.extend(Unit(None, (row,)) for row in (new - old).elements())
            elif old == new:
                kept.extend(old.elements())
            else:
                removed.extend([Unit(name, tuple(old.elements()))] if old else [])
                added.extend([Unit(name, tuple(new.elements()))] if new else [])
        return cls(tuple(kept), tuple(removed), tuple(added), first, second)

    def is_one_step(self, adjacency: Adjacency, most_rows: int | None) -> bool:
        """Say whether exactly one unit of at most ``most_rows`` rows, if any, came, went, or was replaced."""
        steps = {"add_remove": ((1, 0), (0, 1)), "replace": ((1, 1),)}[adjacency]
        small = most_rows is None or all(len(unit.rows) <= most_rows for unit in self.removed + self.added)
        return small and (len(self.removed), len(self.added)) in steps


def _read(database: Database, person: str | None, columns: Mapping[str, Domain] | None) -> Database:
    def is_double(name: str) -> bool:
        if columns is not None and name in columns:
            return columns[name].kind == "number"
        return columns is None and name != person

    return [
        {name: as_read(value) if is_double(str(name)) else value for name, value in record.items()}
        for record in database
    ]


def _by_person(database: Database, person: str | None) -> dict[Hashable, Counter[Row]]:
    grouped: dict[Hashable, Counter[Row]] = {}
    for record in database:
        row = Row.of(record)
        name = None if person is None else row.value(person)
        grouped.setdefault(name, Counter())[row] += 1
    return grouped
