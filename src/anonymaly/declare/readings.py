# SPDX-License-Identifier: Apache-2.0
"""The Ibis expressions for declared columns, filters and rules.

Declarations themselves do not use Ibis, so that code that reads no rows does not import it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import ibis

from anonymaly.declare.attributes import Attribute
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps, Unbounded
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
from anonymaly.declare.publication import Publication
from anonymaly.declare.rules import Policy
from anonymaly.engine.arithmetic import exact
from anonymaly.engine.columns import NON_SENSITIVE, PERSON
from anonymaly.engine.engine import Engine
from anonymaly.engine.view import numbered, read_again, truncate

if TYPE_CHECKING:
    import ibis.expr.types as ir


def with_others(typed: ir.Table, declaration: Declaration) -> ir.Table:
    """Return the rows with undeclared values of a column as the one that its owner has for them."""
    named = {}
    for name, domain in declaration.columns.items():
        if isinstance(domain, Categories) and domain.other is not None:
            column = typed[name]
            kept = column.isnull() | column.isin(list(domain.values))
            named[name] = ibis.ifelse(kept, column, ibis.literal(domain.other, column.type()))
    return typed.mutate(**named) if named else typed


def people(typed: ir.Table, declaration: Declaration, engine: Engine) -> ir.Table:
    """Return the rows that questions see: at most ``max_rows`` of each person."""
    if declaration.person is None:
        return typed
    return truncate(typed, declaration.kinds, declaration.rows, engine)


def judged_people(
    typed: ir.Table, declaration: Declaration, policy: Policy | Publication, engine: Engine
) -> ir.Table:
    """Return the same rows with a column that is true for whoever a policy calls non-sensitive.

    A person is sensitive if any of their rows is, including rows that are cut off.
    """
    if declaration.person is None:
        return _judged_rows(typed, declaration, policy)
    if not engine.is_local:
        judged = _judged_rows(typed, declaration, policy)
        return truncate(judged, declaration.kinds, declaration.rows, engine, NON_SENSITIVE)
    # The same without a window, which would hold all rows: whoever has no row to be found is not sensitive.
    rows = read_again(_judged_alone(typed, declaration, policy))
    kept = truncate(rows, declaration.kinds, declaration.rows, engine, PERSON, NON_SENSITIVE)
    found = rows.filter(rows[PERSON].notnull() & ~rows[NON_SENSITIVE])
    sensitive = kept[PERSON].isin(found.select(PERSON).distinct()[PERSON]).fill_null(False)
    return kept.mutate(**{NON_SENSITIVE: kept[NON_SENSITIVE] & ~sensitive}).drop(PERSON)


def whole_people(
    typed: ir.Table, declaration: Declaration, policy: Policy | Publication | None, engine: Engine
) -> ir.Table:
    """Return all rows of each person, none cut off: whose each is, its place among theirs, and the judgement.

    Without a policy nothing is judged.
    """
    rows = typed if policy is None else _judged_rows(typed, declaration, policy)
    return rows if declaration.person is None else numbered(rows, declaration.kinds, engine)


def _judged_rows(typed: ir.Table, declaration: Declaration, policy: Policy | Publication) -> ir.Table:
    """Return all rows, none cut off, with whether a policy calls whoever they are about non-sensitive."""
    rows = _judged_alone(typed, declaration, policy)
    if declaration.person is None:
        return rows
    whole = rows[NON_SENSITIVE].all().over(ibis.window(group_by=PERSON))
    # A row without a person counts as a person of its own.
    own = ibis.ifelse(rows[PERSON].isnull(), rows[NON_SENSITIVE], whole)
    return rows.mutate(**{NON_SENSITIVE: own})


def _judged_alone(typed: ir.Table, declaration: Declaration, policy: Policy | Publication) -> ir.Table:
    """Return all rows with whether a policy calls each by itself non-sensitive."""
    return typed.mutate(**{NON_SENSITIVE: non_sensitive(policy, typed, declaration.columns)})


def non_sensitive(
    policy: Policy | Publication, table: ir.Table, columns: Mapping[str, Domain]
) -> ir.BooleanValue:
    """Return for every row of unclamped values whether a policy calls it non-sensitive; never null."""
    policy, published = (policy.policy, policy.columns) if isinstance(policy, Publication) else (policy, ())
    predicate = policy.predicate(columns)
    names = dict.fromkeys(predicate.columns())
    known = ibis.and_(*(is_within(columns[name], table[name]) for name in names))
    declared = [
        table[name].isnull() | is_within(columns[name], table[name])
        for name in published
        # What the policy names is known to be declared, and a flag or an opaque value always is.
        if name not in names and not isinstance(columns[name], Flag | Opaque)
    ]
    return ibis.and_(known & matches(predicate, table), *declared).fill_null(False)


def matches(predicate: Predicate, table: ir.Table) -> ir.BooleanValue:
    """Return for every row whether a condition is true; null if that is unknown."""
    found: ir.BooleanValue
    match predicate:
        case Comparison(column, operator, literal):
            found = COMPARISONS[operator](table[column], _literal(literal))
        case Membership(column, literals):
            found = table[column].isin([_literal(literal) for literal in literals])
        case IsNull(column):
            found = table[column].isnull()
        case Truth(column):
            found = table[column]
        case Negation(part):
            found = ~matches(part, table)
        case Conjunction(parts):
            found = ibis.and_(*(matches(part, table) for part in parts))
        case Disjunction(parts):
            found = ibis.or_(*(matches(part, table) for part in parts))
        case _:
            raise AssertionError(f"nothing reads a {type(predicate).__name__}")
    return found


def is_within(domain: Domain, column: ir.Value) -> ir.BooleanValue:
    """Return for each value of a column whether it lies in a domain, as `Domain.contains` does for one."""
    found: ir.BooleanValue
    match domain:
        case Interval():
            # Engines compare floats, and the float nearest to a long whole number may lie outside.
            low, high = float(domain.low), float(domain.high)
            low = math.nextafter(low, math.inf) if low < domain.low else low
            high = math.nextafter(high, -math.inf) if high > domain.high else high
            found = column.between(_literal(low), _literal(high))
        case Unbounded():
            found = column.between(-sys.float_info.max, sys.float_info.max)
        case Categories():
            found = column.isin(list(domain.values))
        case Timestamps():
            found = column.between(domain.start, domain.end)
        case Flag() | Opaque():
            found = column.notnull()
    return found


def code(attribute: Attribute, table: ir.Table) -> ir.IntegerValue:
    """Return the number of each row's value as `Attribute.code` does; null for a row that has none."""
    column = table[attribute.column]
    missing = ibis.null("int64")
    if attribute.bins is None:
        cases = [(column == known, number) for number, known in enumerate(attribute.values)]
        return ibis.cases(*cases, else_=missing).cast("int64")
    edges = [_literal(edge) for edge in attribute.bins.edges]
    last = len(edges) - 2
    # From the right, each bin holding its lower edge; the last one holds its upper edge as well.
    cases = [((column > edges[-1]) | (column < edges[0]), missing)]
    cases += [(column >= edges[number], ibis.literal(number, "int64")) for number in range(last, -1, -1)]
    return ibis.cases(*cases, else_=missing).cast("int64")


def _literal(value: Literal) -> ir.Scalar:
    """Return a constant that engines compare as Python does; plain fractions some of them round once more."""
    return exact(value) if isinstance(value, float) and not value.is_integer() else ibis.literal(value)
