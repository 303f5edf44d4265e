# SPDX-License-Identifier: Apache-2.0
"""What ``count`` claims, written from its GUARANTEE.md rather than from its code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from anonymaly.audit.case import Case, Mass, Sensitivity
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.promise import Database
from anonymaly.questions.count.query import Count

WHERE = "age >= 60 and ward == 'A'"
COLUMNS: Mapping[str, Domain] = {"age": Interval(0, 120), "ward": Categories(["A", "B"])}
RECORDS = (
    {"age": 71, "ward": "A", "name": "Ada"},
    {"age": 64, "ward": "A", "name": "Ada"},
    {"age": 58, "ward": "A", "name": "Bob"},
    {"age": 80, "ward": "B", "name": "Cem"},
    {"age": 33, "ward": "A", "name": "Dee"},
    {"age": 62, "ward": "A", "name": "Eve"},
    {"age": None, "ward": "B", "name": None},
)


def count_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    max_rows: int | None = None,
    kind: type[Count] = Count,
) -> Case:
    """Return ``count`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    max_rows : int, optional
        Protect persons of up to so many rows; rows without it.
    kind : type
        The question's type: ``Count``, or a broken variant of it.

    Examples
    --------
    >>> count_case(epsilon="0.5", max_rows=3).relation
    Everyone(type='everyone', adjacency='add_remove', rows=3)
    """
    rows = max_rows or 1
    person = None if max_rows is None else "name"
    query = kind(where=WHERE, epsilon=epsilon)

    def law(records: Database) -> Mass:
        """Count by hand, and add two-sided geometric noise of rate ε/m: the mechanism of GUARANTEE.md."""
        centre, rate = _count(records), float(to_fraction(query.cost) / Fraction(rows))
        return lambda value: math.tanh(rate / 2) * math.exp(-rate * abs(value - centre))

    unit = f"persons with up to {rows} rows" if person else "records"
    return Case(
        name=f"count, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # Lemma 1: the same in both adjacencies.
        sensitivity={"count": Sensitivity(rows)},
        # Lemma 2 says that it is attained. From nobody at all, where careless questions go wrong besides.
        worst_pair=(_matching(rows), () if adjacency == "add_remove" else _not_matching()),
        law=law,
        adjacency=adjacency,
        person=person,
        max_rows=max_rows,
    )


def _matching(rows: int) -> tuple[dict[str, Any], ...]:
    return tuple({"age": 60 + place, "ward": "A", "name": "Ida"} for place in range(rows))


def _not_matching() -> tuple[dict[str, Any], ...]:
    return ({"age": 20, "ward": "B", "name": "Jo"},)


def _count(records: Database) -> int:
    return sum(1 for row in records if row["age"] is not None and row["age"] >= 60 and row["ward"] == "A")
