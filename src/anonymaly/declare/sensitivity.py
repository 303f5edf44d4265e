# SPDX-License-Identifier: Apache-2.0
"""Whom a policy calls sensitive, worked out from the declaration alone: no row is read.

A policy compares columns with constants, so it treats all values of a column between two neighbouring
constants alike. One value of each kind, in every combination, stands for the whole declared domain. If
there are too many combinations to try, the result is None.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Timestamps, Unbounded
from anonymaly.declare.predicates import (
    Comparison,
    Conjunction,
    Disjunction,
    Membership,
    Negation,
    Predicate,
    Record,
)
from anonymaly.declare.rules import Policy

Who = Literal["everyone", "nobody", "some"]

MOST_COMBINATIONS = 20_000  # a second's work at most


def who_is_sensitive(policy: Policy, columns: Mapping[str, Domain]) -> Who | None:
    """Say whether a policy calls everyone in the declared domain sensitive, nobody, or some.

    The result is None if there are too many combinations to try. Records with a null or a value outside its
    domain are always sensitive; they are not considered here.

    Examples
    --------
    >>> columns = {"age": Interval(0, 120), "consent": Flag()}
    >>> who_is_sensitive(Policy("age >= 18 and consent"), columns)
    'some'
    >>> who_is_sensitive(Policy("age >= 0"), columns), who_is_sensitive(Policy("age > 120"), columns)
    ('nobody', 'everyone')
    """
    predicate = policy.predicate(columns)
    records = _records([predicate], columns)
    if records is None:
        return None
    verdicts = {policy.sensitive(record, columns) for record in records}
    return "some" if len(verdicts) > 1 else "everyone" if verdicts == {True} else "nobody"


def kinds(policy: Policy, column: str, columns: Mapping[str, Domain]) -> list[Any]:
    """Return one value of each kind that a policy tells apart in a column's declared domain.

    Examples
    --------
    >>> kinds(Policy("age >= 18"), "age", {"age": Interval(0, 120)})
    [0.0, 5e-324, 18.0, 18.000000000000004]
    """
    return _values(columns[column], _constants([policy.predicate(columns)], column))


def is_anyone_sensitive(policies: Sequence[Policy], columns: Mapping[str, Domain]) -> bool | None:
    """Say whether a record of the declared domain is sensitive under all of several policies.

    The result is None if there are too many combinations to try. As in `who_is_sensitive`, records with a
    null or a value outside its domain are not considered.

    Examples
    --------
    >>> columns = {"age": Interval(0, 120)}
    >>> is_anyone_sensitive([Policy("age >= 18"), Policy("age >= 65")], columns)
    True
    >>> is_anyone_sensitive([Policy("age >= 18"), Policy("age < 18")], columns)
    False
    """
    records = _records([policy.predicate(columns) for policy in policies], columns)
    if records is None:
        return None
    return any(all(policy.sensitive(record, columns) for policy in policies) for record in records)


def is_relaxation(relaxed: Policy, strict: Policy, columns: Mapping[str, Domain]) -> bool | None:
    """Say whether every record that is sensitive under the relaxed policy is sensitive under the strict one.

    The result is None if there are too many combinations to try. Nulls and values outside their domain are
    considered too.

    Examples
    --------
    >>> columns = {"age": Interval(0, 120)}
    >>> is_relaxation(Policy("age >= 16"), Policy("age >= 18"), columns)
    True
    >>> is_relaxation(Policy("age >= 18"), Policy("age >= 16"), columns)
    False
    """
    records = _records([relaxed.predicate(columns), strict.predicate(columns)], columns, unknown=True)
    if records is None:
        return None
    return all(strict.sensitive(record, columns) for record in records if relaxed.sensitive(record, columns))


def _records(
    predicates: Sequence[Predicate], columns: Mapping[str, Domain], *, unknown: bool = False
) -> Iterator[Record] | None:
    """Yield a record of every kind that the predicates tell apart, or None if there are too many."""
    names = sorted({name for predicate in predicates for name in predicate.columns()})
    # Policies that name a column treat a null and a value outside its domain alike.
    values = [
        [*_values(columns[name], _constants(predicates, name)), *([None] if unknown else [])]
        for name in names
    ]
    if math.prod(map(len, values)) > MOST_COMBINATIONS:
        return None
    return (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*values))


def _constants(predicates: Iterable[Predicate], column: str) -> set[Any]:
    """Return the constants that the column is compared with."""
    found: set[Any] = set()
    for predicate in predicates:
        match predicate:
            case Comparison(name, _, literal) if name == column:
                found.add(literal)
            case Membership(name, literals) if name == column:
                found.update(literals)
            case Negation(part):
                found |= _constants([part], column)
            case Conjunction(parts) | Disjunction(parts):
                found |= _constants(parts, column)
    return found


def _values(domain: Domain, constants: set[Any]) -> list[Any]:
    """Return one value of each kind that lies in the domain."""
    kinds: list[Any]
    match domain:
        case Interval() | Unbounded():
            low = float(domain.low) if isinstance(domain, Interval) else -sys.float_info.max
            cuts = sorted({float(item) for item in constants if domain.contains(item)} | {low})
            kinds = [value for cut in cuts for value in (cut, math.nextafter(cut, math.inf))]
        case Timestamps():
            moments = sorted({item for item in constants if domain.contains(item)} | {domain.start})
            kinds = [value for moment in moments for value in (moment, _next(moment))]
        case Categories():
            other = [value for value in domain.values if value not in constants][:1]
            kinds = [value for value in domain.values if value in constants] + other
        case Flag():
            kinds = [False, True]
        case _:
            kinds = [""]  # a condition on an opaque column can only ask whether there is a value
    return [value for value in dict.fromkeys(kinds) if domain.contains(value)]


def _next(moment: datetime) -> datetime:
    # Engines count microseconds, so there is no moment in between.
    return moment if moment == datetime.max else moment + timedelta(microseconds=1)
