# SPDX-License-Identifier: Apache-2.0
"""How many of several filters one record may match, worked out from their texts alone: no row is read.

Filters compare columns with constants, so they treat all values of a column between two neighbouring
constants alike, declared or not. Each column has so many kinds of values, null among them, and every record
is of one kind in each column. All combinations are tried at once, as the cells of an array. Columns that
would make them too many are left out: whatever is asked of these may be true or false, which can only make
the number larger (Lemma 5 of GUARANTEE.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.declare.domain import Domain, Flag
from anonymaly.declare.predicates import (
    COMPARISONS,
    Comparison,
    Conjunction,
    Disjunction,
    IsNull,
    Literal,
    Membership,
    Negation,
    Predicate,
    Truth,
)

MOST_CELLS = 1_000_000
MOST = 200_000_000  # cells times conditions: a second's work at most

Verdict = tuple[Booleans, Booleans]  # in which cells a condition may be true, and in which it may be false
EITHER: Verdict = (np.array(True), np.array(True))


def most_together(filters: Sequence[Predicate], columns: Mapping[str, Domain]) -> int:
    """Return a number of the filters that no record matches more of: at least 1.

    Examples
    --------
    >>> from anonymaly.declare.domain import Categories, Interval
    >>> from anonymaly.declare.filters import parse
    >>> columns = {"age": Interval(0, 120), "ward": Categories(["A", "B"])}
    >>> def found(*texts):
    ...     return most_together([parse(text, columns) for text in texts], columns)
    >>> found("age < 30", "age >= 30 and age < 60", "age >= 60", "age is null")
    1
    >>> found("age < 30", "age < 60", "age >= 60 and ward == 'A'")
    2

    A ward that is not declared may still be in the table, and it is neither:

    >>> found("ward != 'A'", "ward != 'B'")
    2
    """
    grid = _Grid.of(filters, columns)
    totals = np.zeros([axis.kinds for axis in grid.axes.values()], np.int64)
    for part in filters:
        totals += grid.judge(part)[0]
    return max(1, int(totals.max()))


@dataclass(frozen=True)
class _Axis:
    """The kinds of values that filters tell apart in a column, in order; the last one is null."""

    kinds: int
    places: Mapping[Literal, int]

    @classmethod
    def of(cls, domain: Domain, constants: set[Literal]) -> _Axis:
        if isinstance(domain, Flag):
            return cls(3, {False: 0, True: 1})
        # What is below all constants, the first of them, what is between it and the second, and so on.
        places = {constant: 2 * place + 1 for place, constant in enumerate(sorted(constants))}
        return cls(2 * len(places) + 2, places)

    def judge(self, condition: Predicate) -> Verdict:
        """Return of which kinds a condition on this column is true, and of which it is false."""
        kinds = np.arange(self.kinds)
        null = kinds == self.kinds - 1
        match condition:
            case IsNull():
                return null, ~null
            case Comparison(_, operator, literal):
                true = COMPARISONS[operator](kinds, self.places[literal])
            case Membership(_, literals):
                true = np.isin(kinds, [self.places[literal] for literal in literals])
            case Truth():
                true = kinds == self.places[True]
            case _:
                raise AssertionError(f"nothing judges a {type(condition).__name__}")
        return true & ~null, ~true & ~null  # of null, a comparison is neither


@dataclass(frozen=True)
class _Grid:
    """All combinations of kinds in the columns that are looked at."""

    axes: Mapping[str, _Axis]

    @classmethod
    def of(cls, filters: Sequence[Predicate], columns: Mapping[str, Domain]) -> _Grid:
        named = Counter(name for part in filters for name in part.columns())
        constants: dict[str, set[Literal]] = {name: set() for name in named}
        for column, constant in (found for part in filters for found in _constants(part)):
            constants[column].add(constant)
        axes: dict[str, _Axis] = {}
        # First the columns that most is asked of, as they tell the filters apart.
        for name in sorted(named, key=lambda name: (-named[name], name)):
            axis = _Axis.of(columns[name], constants[name])
            cells = math.prod(other.kinds for other in axes.values()) * axis.kinds
            if cells <= MOST_CELLS and cells * named.total() <= MOST:
                axes[name] = axis
        return cls(axes)

    def judge(self, tree: Predicate) -> Verdict:
        """Return where a filter may be true and where it may be false, by three-valued logic."""
        match tree:
            case Negation(part):
                true, false = self.judge(part)
                return false, true
            case Conjunction(parts):
                verdicts = [self.judge(part) for part in parts]
                return _all(true for true, _ in verdicts), _any(false for _, false in verdicts)
            case Disjunction(parts):
                verdicts = [self.judge(part) for part in parts]
                return _any(true for true, _ in verdicts), _all(false for _, false in verdicts)
        (name,) = tree.columns()
        if name not in self.axes:
            return EITHER
        shape = [axis.kinds if other == name else 1 for other, axis in self.axes.items()]
        true, false = self.axes[name].judge(tree)
        return true.reshape(shape), false.reshape(shape)


def _constants(tree: Predicate) -> Iterator[tuple[str, Literal]]:
    """Yield each column with a constant that it is compared with."""
    match tree:
        case Comparison(column, _, literal):
            yield column, literal
        case Membership(column, literals):
            yield from ((column, literal) for literal in literals)
        case Negation(part):
            yield from _constants(part)
        case Conjunction(parts) | Disjunction(parts):
            for part in parts:
                yield from _constants(part)


def _all(parts: Iterator[Booleans]) -> Booleans:
    return reduce(np.logical_and, parts)


def _any(parts: Iterator[Booleans]) -> Booleans:
    return reduce(np.logical_or, parts)
