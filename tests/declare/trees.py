# SPDX-License-Identifier: Apache-2.0
"""Columns with awkward names and values, random conditions on them, and random records."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.predicates import (
    COMPARISONS,
    Comparison,
    Conjunction,
    Disjunction,
    IsNull,
    Membership,
    Negation,
    Predicate,
    Truth,
)

WARDS = (
    "A",
    "'; DROP TABLE source; --",
    'say "so"',
    "back\\slash\\",
    "two\nlines",
    "100% %s {x} $1 :y ?",
    "été 😀",
    " and ",
    "null",
    "`",
)
COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "heart rate": Interval(-1000, 1000),
    "and": Categories([1, 2, 3, -7, 2**52 + 1]),
    "ward": Categories(WARDS),
    "true": Flag(),
    'x" OR 1=1 --': Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}
MOMENTS = (datetime(2020, 1, 1), datetime(2024, 2, 29, 12, 30), datetime(2029, 12, 31, 23, 59, 59, 999999))

finite = st.sampled_from([0, 1, 18, 120, -5, 0.5, 18.25, 2**53, -(2**62), 1e-7, 10**15]) | st.floats(
    -1e6, 1e6
).map(lambda number: int(number) if number.is_integer() else number)
LITERALS: dict[str, st.SearchStrategy[Any]] = {
    "age": finite,
    "heart rate": finite,
    "and": st.sampled_from(COLUMNS["and"].values),  # type: ignore[union-attr]
    "ward": st.sampled_from(WARDS),
    "true": st.booleans(),
    'x" OR 1=1 --': st.booleans(),
    "seen": st.sampled_from(MOMENTS) | st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
}


@st.composite
def conditions(draw: st.DrawFn) -> Predicate:
    column = draw(st.sampled_from(list(COLUMNS)))
    domain = COLUMNS[column]
    if isinstance(domain, Opaque) or draw(st.integers(0, 5)) == 0:
        return IsNull(column)
    if isinstance(domain, Flag) and draw(st.booleans()):
        return Truth(column)
    if draw(st.booleans()):
        items = set(draw(st.lists(LITERALS[column], min_size=1, max_size=4)))
        return Membership(column, tuple(sorted(items, key=lambda item: (str(type(item)), item))))
    equality = isinstance(domain, Flag | Categories)
    return Comparison(
        column, draw(st.sampled_from(["==", "!="] if equality else list(COMPARISONS))), draw(LITERALS[column])
    )


def _joined(kind: Any, inner: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    other = inner.filter(lambda part: not isinstance(part, kind))
    return st.lists(other, min_size=2, max_size=3).map(lambda parts: kind(tuple(parts)))


trees: st.SearchStrategy[Predicate] = st.recursive(
    conditions(),
    lambda inner: inner.map(Negation) | _joined(Conjunction, inner) | _joined(Disjunction, inner),
    max_leaves=8,
)

_values: dict[str, st.SearchStrategy[Any]] = {
    "age": finite.map(float) | st.sampled_from([math.nan, math.inf, -math.inf]),
    "heart rate": finite.map(float),
    "and": st.integers(-7, 7) | st.just(2**52 + 1),
    "ward": st.sampled_from([*WARDS, "elsewhere", "a"]),
    "true": st.booleans(),
    'x" OR 1=1 --': st.booleans(),
    "seen": LITERALS["seen"],
    "note": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
}
records = st.fixed_dictionaries({name: st.none() | values for name, values in _values.items()})
tables = st.lists(records, min_size=1, max_size=6)
