# SPDX-License-Identifier: Apache-2.0
"""How a question judges rows that it may publish: by a policy, and by what the owner declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymaly.declare.domain import Domain
from anonymaly.declare.predicates import Record, read_value
from anonymaly.declare.rules import Policy


@dataclass(frozen=True)
class Publication:
    """A policy, for a question that publishes columns: an undeclared value in one makes a record sensitive.

    The owner's policy speaks of declared values, and what else a column holds nobody has thought of. A null
    is no value, declared or not, and is published as null.

    Examples
    --------
    >>> from anonymaly.declare.domain import Categories, Interval
    >>> columns = {"age": Interval(0, 120), "ward": Categories(["A", "B"])}
    >>> adults, odd = Policy("age >= 18"), {"age": 30, "ward": "witness protection"}
    >>> adults.sensitive(odd, columns), Publication(adults, ("ward",)).sensitive(odd, columns)
    (False, True)
    """

    policy: Policy
    columns: tuple[str, ...]

    def sensitive(self, record: Record, columns: Mapping[str, Domain]) -> bool:
        """Judge one unclamped record."""
        values = {name: read_value(record, name) for name in self.columns}
        undeclared = any(
            value is not None and not columns[name].contains(value) for name, value in values.items()
        )
        return undeclared or self.policy.sensitive(record, columns)


@dataclass(frozen=True)
class WholePersons:
    """Asks for all rows of each person, with whose row each is: for a question that bounds a person itself.

    Every other question sees at most ``max_rows`` rows of a person. Where rows have an order, cutting some
    off would make neighbours of rows that are none.
    """

    judged: Policy | Publication | None = None
    """By what the rows are judged, if the question needs that."""
