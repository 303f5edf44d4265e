# SPDX-License-Identifier: Apache-2.0
"""Invented patients, of whom only some are sensitive: the tables on which policies are audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.promise import Database

COLUMNS: Mapping[str, Domain] = {
    "age": Interval(0, 120),
    "ward": Categories(["A", "B", "C"]),
    "consent": Flag(),
}
RULES = {"adults": Policy("age >= 18 and consent")}


def _row(age: Any, ward: Any, name: str) -> dict[str, Any]:
    return {"age": age, "ward": ward, "consent": True, "name": name}


RECORDS: Database = (
    _row(71, "A", "Ada"),
    _row(16, "A", "Ada"),
    _row(80, "B", "Bob"),
    _row(None, "C", "Cem"),
    _row(150, "A", "Dee"),
)
CHILD, ADULT, OTHER = _row(8, "B", "Ida"), _row(30, "A", "Jo"), _row(50, "B", "Kit")
UNDECLARED = _row(40, "Z", "Lou")  # harmless to the policy, in a ward that nobody declared


def worst_pair(adjacency: Adjacency, rows: int) -> tuple[Database, Database]:
    """Return a pair between which as many harmless records as possible come, from nobody or a child."""
    # Another adult is there all along, so that neither answer is certain.
    before = (OTHER,) if adjacency == "add_remove" else (OTHER, CHILD)
    return before, (OTHER, *[ADULT] * rows)
