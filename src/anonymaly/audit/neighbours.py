# SPDX-License-Identifier: Apache-2.0
"""Neighbouring tables for a declaration: ordinary ones, and those that break careless questions.

Randomness here makes test tables only; nothing drawn in this module is part of a release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Timestamps, Unbounded
from anonymaly.promise import Database

Record = Mapping[str, Any]
Value = Callable[[Domain, Random], Any]

MOST_CROWDS = 4


@dataclass(frozen=True)
class Pair:
    """An ordered pair of tables, and what an audit may expect of it.

    ``same`` pairs hold the same records in every engine's eyes, so that everything must be equal.
    ``oversized`` pairs differ by a person with more rows than declared, which the view has to cut off.
    """

    kind: str
    first: Database
    second: Database
    same: bool = False
    oversized: bool = False


def inside(domain: Domain, random: Random) -> Any:
    """Return a value of the domain, its ends more often than chance would have them."""
    match domain:
        case Interval():
            return _number(domain, random)
        case Categories():
            return random.choice(domain.values)
        case Flag():
            return random.random() < 0.5
        case Timestamps():
            return domain.start + random.random() * (domain.end - domain.start)
        case _:
            return f"note {random.randint(0, 9)}"


def _number(domain: Interval, random: Random) -> float:
    if random.random() < 0.3:
        return random.choice((domain.low, domain.high))
    if domain.step is not None:
        return domain.low + domain.step * random.randint(0, round(domain.width / domain.step))
    number = random.uniform(domain.low, domain.high)
    return number if random.random() < 0.5 else float(round(number))


def lowest(domain: Domain, random: Random) -> Any:
    """Return one end of the domain."""
    return _end(domain, 0)


def highest(domain: Domain, random: Random) -> Any:
    """Return the other end of the domain."""
    return _end(domain, -1)


def null(domain: Domain, random: Random) -> Any:
    """Return nothing."""
    return None


def not_a_number(domain: Domain, random: Random) -> Any:
    """Return NaN where the type has it."""
    return math.nan if isinstance(domain, Interval) else None


def infinite(domain: Domain, random: Random) -> Any:
    """Return an infinity where the type has one."""
    return random.choice((math.inf, -math.inf)) if isinstance(domain, Interval) else inside(domain, random)


def outside(domain: Domain, random: Random) -> Any:
    """Return a value that fits the type and not the domain, such as a category nobody declared."""
    match domain:
        case Interval():
            return random.choice((domain.low - 1000 * domain.width, domain.high + 1000 * domain.width))
        case Categories():
            return "a category nobody declared" if domain.of_text else max(int(v) for v in domain.values) + 1
        case Timestamps():
            return domain.end + timedelta(days=36500)
        case _:
            return inside(domain, random)


ANY = Interval(-(2**20), 2**20)
KINDS: Mapping[str, Value] = {
    "ordinary": inside,
    "lowest": lowest,
    "highest": highest,
    "null": null,
    "NaN": not_a_number,
    "infinite": infinite,
    "out of domain": outside,
}


def neighbours(
    records: Database,
    columns: Mapping[str, Domain],
    *,
    adjacency: Adjacency = "add_remove",
    person: str | None = None,
    max_rows: int = 1,
    seed: int = 0,
    rounds: int = 1,
) -> Iterator[Pair]:
    """Yield neighbouring tables: of the records given, then of ``rounds`` invented tables.

    Parameters
    ----------
    records : sequence of mappings
        The first table to change.
    columns : mapping
        The declared columns.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    person, max_rows
        Whose row it is, and how many rows of a person count; without a person a row is changed at a time.
    seed, rounds : int
        The tables are a function of both.

    Examples
    --------
    >>> pairs = list(neighbours([{"age": 30}], {"age": Interval(0, 120)}))
    >>> next(pair.second for pair in pairs if pair.kind == "null record added")
    ({'age': 30}, {'age': None})
    """
    # Numbers without bounds are made within some: the tables are invented, and any will do.
    wide = {name: ANY if isinstance(domain, Unbounded) else domain for name, domain in columns.items()}
    maker = _Maker(wide, person, max_rows, Random(seed))
    maker.patterns = tuple(records)
    tables = [tuple(records), ()]
    tables += [maker.table(maker.random.randint(1, 6)) for _ in range(rounds)]
    for table in tables:
        yield from maker.same(table)
        if adjacency == "add_remove":
            yield from maker.added_or_removed(table)
        else:
            yield from maker.replaced(table)


class _Maker:
    """Makes units (rows, or persons) and tables of one declaration."""

    def __init__(
        self, columns: Mapping[str, Domain], person: str | None, max_rows: int, random: Random
    ) -> None:
        self.columns, self.person, self.max_rows, self.random = columns, person, max_rows, random
        self.noun = "record" if person is None else "person"
        self.made = 0
        self.patterns: tuple[Record, ...] = ()

    def unit(self, value: Value, rows: int | None = None) -> tuple[Record, ...]:
        """Return a new person's rows, or one row."""
        if self.person is None:
            return (self._row(value),)
        self.made += 1
        wanted = self.random.randint(1, self.max_rows) if rows is None else rows
        # Whoever's columns are declared too, the column that says whose row it is must say so.
        return tuple({**self._row(value), self.person: f"new {self.made}"} for _ in range(wanted))

    def table(self, units: int) -> tuple[Record, ...]:
        """Return an invented table, with repeated rows and odd ones among them."""
        makers = [inside, inside, *KINDS.values()]
        rows = [row for _ in range(units) for row in self.unit(self.random.choice(makers))]
        return tuple(rows + ([self.random.choice(rows)] if self.person is None else []))

    def same(self, table: tuple[Record, ...]) -> Iterator[Pair]:
        """Yield tables that differ in nothing but their writing."""
        shuffled = list(table)
        self.random.shuffle(shuffled)
        yield Pair("permuted", table, tuple(shuffled), same=True)
        yield Pair("reversed", table, tuple(reversed(table)), same=True)
        for column, domain in self.columns.items():
            if isinstance(domain, Interval):
                # In rows that are otherwise as they were, because other columns decide whether it matters.
                absent = (*({**row, column: None} for row in table), *self.unit(null))
                yield Pair("NaN for null", absent, tuple(map(self._with_nan, absent)), same=True)

    def added_or_removed(self, table: tuple[Record, ...]) -> Iterator[Pair]:
        """Yield the table against itself with one more unit, and without each one it has."""
        for kind, value in KINDS.items():
            more = (*table, *self.unit(value))
            yield Pair(f"{kind} {self.noun} added", table, more)
            yield Pair(f"{kind} {self.noun} removed", more, table)
        for unit in self._units(table):
            fewer = tuple(row for place, row in enumerate(table) if place not in unit)
            oversized = len(unit) > self.max_rows
            yield Pair(f"{self.noun} removed", table, fewer, oversized=oversized)
        if self.person is not None:
            for added in self._crowds():
                crowd = (*table, *added)
                yield Pair("person with too many rows added", table, crowd, oversized=True)
                yield Pair("person with too many rows removed", crowd, table, oversized=True)

    def replaced(self, table: tuple[Record, ...]) -> Iterator[Pair]:
        """Yield the table against itself with one unit replaced by another, or one outlier moved."""
        for kind, value in KINDS.items():
            before, after = (*table, *self.unit(inside)), (*table, *self.unit(value))
            yield Pair(f"{self.noun} replaced by {kind} one", before, after)
            yield Pair(f"{kind} {self.noun} replaced", after, before)
        for unit in self._units(table):
            fewer = tuple(row for place, row in enumerate(table) if place not in unit)
            oversized = len(unit) > self.max_rows
            yield Pair(f"{self.noun} replaced", table, (*fewer, *self.unit(inside)), oversized=oversized)
        low, high = (*table, *self.unit(lowest)), (*table, *self.unit(highest))
        yield Pair("outlier moved", low, high)
        yield Pair("outlier moved back", high, low)
        if self.person is not None:
            few = (*table, *self.unit(inside, 1))
            for added in self._crowds():
                crowd = (*table, *added)
                yield Pair("person replaced by one with too many rows", few, crowd, oversized=True)

    def _crowds(self) -> Iterator[tuple[Record, ...]]:
        """Yield persons with too many rows: of all sorts, and records of the first table over and over."""
        many = 2 * self.max_rows + 1
        yield self.unit(inside, many)
        for pattern in self.patterns[:MOST_CROWDS]:
            self.made += 1
            yield tuple({**pattern, str(self.person): f"new {self.made}"} for _ in range(many))

    def _row(self, value: Value) -> Record:
        """Return a row with all values of one kind, or one of them, and the rest ordinary or copied."""
        odd = self.random.choice([*self.columns, None])
        copied = self.random.choice(self.patterns) if self.patterns and self.random.random() < 0.5 else {}
        return {
            name: value(domain, self.random)
            if odd in (None, name)
            else copied.get(name, inside(domain, self.random))
            for name, domain in self.columns.items()
        }

    def _with_nan(self, row: Record) -> Record:
        numbers = {name for name, domain in self.columns.items() if isinstance(domain, Interval)}
        return {name: math.nan if name in numbers and item is None else item for name, item in row.items()}

    def _units(self, table: tuple[Record, ...]) -> list[frozenset[int]]:
        """Return the places of each row, or of each person's rows; a row of nobody is a person of its own."""
        units: dict[Any, set[int]] = {}
        for place, row in enumerate(table):
            owner = None if self.person is None else row.get(self.person)
            units.setdefault(("row", place) if owner is None else owner, set()).add(place)
        return [frozenset(places) for places in units.values()]


def _end(domain: Domain, place: int) -> Any:
    match domain:
        case Interval():
            return (domain.low, domain.high)[place]
        case Categories():
            return domain.values[place]
        case Flag():
            return (False, True)[place]
        case Timestamps():
            return (domain.start, domain.end)[place]
        case _:
            return ("", "long " * 100)[place]
