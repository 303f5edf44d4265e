# SPDX-License-Identifier: Apache-2.0
"""The typed tree of a filter or policy, whose text is in a small language:

    age >= 18 and (ward in ['A', 'B'] or not consent) and bmi is not null

Comparisons are between a column and a literal. Logic has three values, as in SQL: a comparison with
null is neither true nor false, and a record matches only if the whole expression is true. Text is
never evaluated and never pasted into SQL; length, size and depth are capped, so that a hostile text
costs no more than an honest one.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Literal = bool | int | float | str | datetime
Record = Mapping[str, Any]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def write_column(name: str) -> str:
    """Write a column's name as the language reads it: bare if possible, otherwise in backquotes."""
    words = {"and", "or", "not", "in", "is", "null", "true", "false"}
    return name if name.isidentifier() and name.isascii() and name.lower() not in words else f"`{name}`"


def write_literal(value: Literal) -> str:
    """Write a literal as the language reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return f"'{value.isoformat(sep=' ')}'"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


def read_value(record: Record, column: str) -> Any:
    """Return a record's value as the table's view shows it: NaN and infinity are null."""
    value = record.get(column)
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Predicate(ABC):
    """A condition on one record: true, false, or unknown because of a null."""

    @abstractmethod
    def evaluate(self, record: Record) -> bool | None:
        """Judge one record in Python; None is unknown. Missing fields count as null."""

    @abstractmethod
    def columns(self) -> Iterator[str]:
        """Name the columns the condition looks at, with repeats."""


@dataclass(frozen=True)
class Comparison(Predicate):
    """A column against a literal."""

    column: str
    operator: str
    literal: Literal

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        value = read_value(record, self.column)
        return None if value is None else bool(COMPARISONS[self.operator](value, self.literal))

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def __str__(self) -> str:
        return f"{write_column(self.column)} {self.operator} {write_literal(self.literal)}"


@dataclass(frozen=True)
class Membership(Predicate):
    """A column's value in a list."""

    column: str
    literals: tuple[Literal, ...]

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        value = read_value(record, self.column)
        return None if value is None else value in self.literals

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def __str__(self) -> str:
        return f"{write_column(self.column)} in [{', '.join(write_literal(item) for item in self.literals)}]"


@dataclass(frozen=True)
class IsNull(Predicate):
    """A column without a value."""

    column: str

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        return read_value(record, self.column) is None

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def __str__(self) -> str:
        return f"{write_column(self.column)} is null"


@dataclass(frozen=True)
class Truth(Predicate):
    """A flag that is set."""

    column: str

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        value = read_value(record, self.column)
        return None if value is None else bool(value)

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def __str__(self) -> str:
        return write_column(self.column)


@dataclass(frozen=True)
class Negation(Predicate):
    """What is false becomes true; what is unknown stays unknown."""

    part: Predicate

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        verdict = self.part.evaluate(record)
        return None if verdict is None else not verdict

    def columns(self) -> Iterator[str]:
        """Name the columns of the part."""
        yield from self.part.columns()

    def __str__(self) -> str:
        match self.part:
            case IsNull(column):
                return f"{write_column(column)} is not null"
            case Conjunction() | Disjunction():
                return f"not ({self.part})"
            case _:
                return f"not {self.part}"


@dataclass(frozen=True)
class Conjunction(Predicate):
    """All parts; false as soon as one is, unknown if none is false and one is unknown."""

    parts: tuple[Predicate, ...]

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        verdicts = [part.evaluate(record) for part in self.parts]
        return False if False in verdicts else None if None in verdicts else True

    def columns(self) -> Iterator[str]:
        """Name the columns of all parts."""
        for part in self.parts:
            yield from part.columns()

    def __str__(self) -> str:
        return " and ".join(
            f"({part})" if isinstance(part, Disjunction) else str(part) for part in self.parts
        )


@dataclass(frozen=True)
class Disjunction(Predicate):
    """Any part; true as soon as one is, unknown if none is true and one is unknown."""

    parts: tuple[Predicate, ...]

    def evaluate(self, record: Record) -> bool | None:
        """Judge one record."""
        verdicts = [part.evaluate(record) for part in self.parts]
        return True if True in verdicts else None if None in verdicts else False

    def columns(self) -> Iterator[str]:
        """Name the columns of all parts."""
        for part in self.parts:
            yield from part.columns()

    def __str__(self) -> str:
        return " or ".join(str(part) for part in self.parts)
