# SPDX-License-Identifier: Apache-2.0
"""Cells that hold no sensitive record, by the policy's text and the declared domain: a public fact.

Only for a policy that names no other column than those of the cells: a null elsewhere makes a record
sensitive, and so does an undeclared value that a bin reaches beyond the domain for. Whatever is found here,
the promise is kept (Lemma 14): sensitive records of these cells are counted nowhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.domain import Domain, Interval
from anonymaly.declare.rules import Policy
from anonymaly.declare.sensitivity import kinds

MOST_RECORDS = 20_000  # that are judged; a second's work at most


def harmless_cells(policy: Policy, by: Sequence[Attribute], columns: Mapping[str, Domain]) -> Booleans | None:
    """Return which cells hold no sensitive record, or None if there are none, or too many to try.

    Examples
    --------
    >>> from anonymaly.declare.attributes import read_attributes
    >>> from anonymaly.declare.domain import Bins, Categories, Flag, Interval
    >>> columns = {"age": Interval(0, 120), "ward": Categories(["A", "B"]), "consent": Flag()}
    >>> by = read_attributes([Bins("age", [0, 16, 65, 120]), "ward"], columns)
    >>> harmless_cells(Policy("age >= 18 and ward == 'A'"), by, columns).tolist()
    [False, False, False, False, True, False]
    >>> harmless_cells(Policy("age >= 18 and consent"), by, columns) is None
    True
    """
    named = set(policy.predicate(columns).columns())
    used = [attribute for attribute in by if attribute.column in named]
    if {attribute.column for attribute in used} != named:
        return None
    values = [_values(attribute, kinds(policy, attribute.column, columns)) for attribute in used]
    if math.prod(sum(map(len, cells)) for cells in values) > MOST_RECORDS:
        return None
    names = [attribute.column for attribute in used]
    found = [
        not any(
            policy.sensitive(dict(zip(names, record, strict=True)), columns)
            for record in itertools.product(*cell)
        )
        for cell in itertools.product(*values)
    ]
    if not any(found):
        return None
    shape = [len(item.values) if item.column in named else 1 for item in by]
    whole = np.broadcast_to(np.reshape(found, shape), [len(item.values) for item in by]).copy()
    for axis, attribute in enumerate(by):
        inside = _inside(attribute, columns[attribute.column])
        whole &= np.expand_dims(inside, [place for place in range(len(by)) if place != axis])
    return whole.reshape(-1) if whole.any() else None


def _inside(attribute: Attribute, domain: Domain) -> Booleans:
    """Return which cells of a column hold declared values only."""
    if attribute.bins is None or not isinstance(domain, Interval):
        return np.ones(len(attribute.values), bool)
    low, high = float(domain.low), float(domain.high)
    return np.array(
        [low <= first and last <= high for first, last in itertools.pairwise(attribute.bins.edges)]
    )


def _values(attribute: Attribute, kinds: Sequence[Any]) -> list[list[Any]]:
    """Return, for each cell of a column, one value of each kind that the policy tells apart there."""
    if attribute.bins is None:
        return [[value] for value in attribute.values]
    edges = attribute.bins.edges
    # Both ends, which may lie outside of the declared domain, and whatever the policy tells apart between.
    cells: list[list[Any]] = [
        [low, math.nextafter(low, math.inf), math.nextafter(high, -math.inf)]
        for low, high in itertools.pairwise(map(float, edges))
    ]
    cells[-1].append(float(edges[-1]))
    for value in kinds:
        place = attribute.code(value)
        if place is not None:
            cells[place].append(value)
    return cells
