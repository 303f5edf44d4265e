# SPDX-License-Identifier: Apache-2.0
"""Relaxed local privacy (Böhler et al. 2017): one reading replaced by another within declared ranges."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, StrictStr, field_validator

from anonymaly.core.value import frozen_items
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import Rule
from anonymaly.promise.change import Background, Change, Row, Unit
from anonymaly.promise.relation import Relation, Rows

Ranges = Annotated[
    tuple[tuple[StrictStr, Interval], ...],
    Field(min_length=1),
    BeforeValidator(frozen_items),
    PlainSerializer(
        lambda items: {name: range_.to_dict() for name, range_ in items}, return_type=dict[str, Any]
    ),
]


class ValuesWithin(Relation):
    """Pairs in which one reading is replaced by another and both lie within the ranges.

    A stream is a sequence: a reading is replaced where it stands, and all others stay where they are.

    A sensor that adds discrete Laplace noise with e^{-ε·step/width} per column loses Σ ε·|Δ|/width: within
    d ranges of those widths at most d·ε, which is the ε to state with this relation. For values beyond, up
    to a declared outer domain, state the larger Σ ε·outer/width with the outer ranges. With ``rows`` above
    one: up to that many readings of one person, each replaced by one other.

    Examples
    --------
    >>> room = ValuesWithin({"celsius": Interval(10, 30)})
    >>> room.relates([{"celsius": 20}], [{"celsius": 25}]), room.relates([{"celsius": 20}], [{"celsius": 99}])
    (True, False)
    >>> early, late = [11, 12, 13], [12, 13, 19]  # as sets one reading differs, as streams all three
    >>> room.relates([{"celsius": value} for value in early], [{"celsius": value} for value in late])
    False
    """

    type: Literal["values_within"] = "values_within"
    ranges: Ranges
    """The declared range of each column, as a mapping of Intervals."""
    adjacency: Literal["replace"] = "replace"
    """Readings are replaced; that one was sent is not hidden."""
    rows: Rows | None = None
    """The most readings of one person; without it, every reading is protected by itself."""

    if TYPE_CHECKING:

        def __init__(
            self,
            ranges: Mapping[str, Interval],
            adjacency: Literal["replace"] = "replace",
            rows: int | None = None,
            *,
            type: str = "values_within",
        ) -> None: ...

    @field_validator("ranges")
    @classmethod
    def _distinct(cls, ranges: tuple[tuple[str, Interval], ...]) -> tuple[tuple[str, Interval], ...]:
        names = [name for name, _ in ranges]
        if sorted(set(names)) != names:
            raise ValueError("must be a mapping from column to Interval")
        return ranges

    def includes(self, change: Change, facts: Background) -> bool:
        """Require as many readings after as before, all in range: their number is public in a stream."""
        if not change.is_one_step(self.adjacency, self.rows) or len(change.first) != len(change.second):
            return False
        (gone,), (come,) = change.removed, change.added
        person = None if self.rows is None else facts.person
        return _in_place(change, person, gone, come) and all(map(self._inside, gone.rows + come.rows))

    def _inside(self, row: Row) -> bool:
        for name, range_ in self.ranges:
            value = row.value(name)
            if not (isinstance(value, Fraction) and Fraction(range_.low) <= value <= Fraction(range_.high)):
                return False
        return True

    def protects(self) -> str:
        """Say in plain words who is protected."""
        ranges = ", ".join(f"{name} {range_.describe()}" for name, range_ in self.ranges)
        whose = "" if self.rows is None else f", of a person with up to {self.rows} of them, all in range"
        return f"the values of every reading within the declared ranges ({ranges}){whose}"

    def leaves_out(self) -> str:
        """Say in plain words who is not."""
        more = "" if self.rows is None else ", and people with more readings"
        return f"readings outside the ranges, whose loss grows with their distance{more}"

    @property
    def row_by_row(self) -> str:
        """Nothing more: it speaks of readings, and never of people."""
        return ""

    @property
    def not_hidden(self) -> str:
        """Say it of readings."""
        return "; that a reading was sent is not hidden"

    def difference(self, factor: str) -> str:
        """Say when the bound applies."""
        what = (
            "one reading is replaced"
            if self.rows is None
            else "one person's readings are replaced, one for one,"
        )
        return f"changes by a factor of at most {factor} when {what} within the declared ranges"

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """A sensor's owner declares its ranges where the sensor is; there is no rule to cite."""
        return True

    def in_replace_form(self) -> ValuesWithin:
        """It has no other form."""
        return self

    def for_persons(self, rows: int) -> ValuesWithin:
        """Replace the person's readings one after another."""
        return ValuesWithin(dict(self.ranges), rows=rows)


def _in_place(change: Change, person: str | None, gone: Unit, come: Unit) -> bool:
    """Say whether the two streams differ only where the readings of the one unit stand."""
    pairs = [(Row.of(old), Row.of(new)) for old, new in zip(change.first, change.second, strict=True)]
    changed = [(old, new) for old, new in pairs if old != new]
    if len(changed) > len(gone.rows):
        return False
    return person is None or all(
        (old.value(person), new.value(person)) == (gone.person, come.person) for old, new in changed
    )
