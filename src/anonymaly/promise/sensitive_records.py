# SPDX-License-Identifier: Apache-2.0
"""Sensitive privacy (Asif et al. 2021): whoever is normal, or nearly so, in an anomaly model is protected."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel, Rule
from anonymaly.errors import InputError
from anonymaly.promise.change import Background, Row, Unit
from anonymaly.promise.relation import Relation, Rows, RuleName, Stepwise, refuse_replaced_rows


class SensitiveRecords(Stepwise):
    """Sensitive privacy: pairs that differ in a record with at least β+1−k records within the radius.

    The count is taken in the database that holds the record, the record and its copies included. With
    ``rows``: pairs that differ in a person *all* of whose rows are k-sensitive there, not counting
    the rows of persons who have more than ``rows``.
    The replace form holds the pairs joined by two such steps.

    Distances are exact, between unclamped values. A null equals a null and is infinitely far from the
    rest, so that every record is within the radius of itself and k ≥ β protects everyone.

    Examples
    --------
    >>> rare = SensitiveRecords("rare", AnomalyModel(["age"], radius=1, beta=2, k=1))
    >>> rare.relates([{"age": 30}, {"age": 31}], [{"age": 31}])
    True
    >>> rare.relates([{"age": 30}, {"age": 97}], [{"age": 30}])
    False
    """

    type: Literal["sensitive_records"] = "sensitive_records"
    rule: RuleName | None
    """The name under which the owner declared the model; None if it is not declared."""
    model: AnomalyModel
    """What an anomaly is, and how near to normal a record must be to be protected."""
    adjacency: Adjacency = "add_remove"
    """Whether one unit comes or goes (add_remove), or is replaced by another (replace)."""
    rows: Rows | None = None
    """The most rows of a person that are read; who has more is not protected, and makes nobody protected."""

    if TYPE_CHECKING:

        def __init__(
            self,
            rule: str | None,
            model: AnomalyModel,
            adjacency: Adjacency = "add_remove",
            rows: int | None = None,
            *,
            type: str = "sensitive_records",
        ) -> None: ...

    @property
    def threshold(self) -> int:
        """The least number of records within the radius that makes a record protected."""
        return max(1, self.model.beta + 1 - self.model.k)

    @property
    def most_rows(self) -> int | None:
        """As many as are read: a row that is cut off must make nobody protected, nor its own person."""
        return self.rows

    def covers(self, unit: Unit, holder: tuple[Row, ...], removed: bool, facts: Background) -> bool:
        """Cover a step in rows that are all k-sensitive in the database that holds them."""
        widths, counted = self._widths(facts), self._counted(holder, facts)
        return all(
            sum(self._near(row, other, widths) for other in counted) >= self.threshold for row in unit.rows
        )

    def _counted(self, holder: tuple[Row, ...], facts: Background) -> tuple[Row, ...]:
        """Leave out persons with too many rows: rows that may be cut off must not make anyone protected."""
        if self.rows is None or facts.person is None:
            return holder
        people = [row.value(facts.person) for row in holder]
        return tuple(
            row
            for row, name in zip(holder, people, strict=True)
            if name is None or people.count(name) <= self.rows
        )

    def _widths(self, facts: Background) -> dict[str, Fraction]:
        """Return what each column's distance is divided by."""
        if not self.model.scaled:
            return dict.fromkeys(self.model.columns, Fraction(1))
        columns = facts.declared()
        widths = {}
        for name in self.model.columns:
            domain = columns.get(name)
            if not isinstance(domain, Interval):
                raise InputError(
                    f"{name} is not declared as an Interval, so it has no width to scale by",
                    field="columns",
                    next_step="Declare its bounds, or use a model with scaled=False.",
                )
            widths[name] = Fraction(domain.high) - Fraction(domain.low)
        return widths

    def _near(self, one: Row, other: Row, widths: Mapping[str, Fraction]) -> bool:
        """Say whether two records are within the radius, without rounding."""
        gaps = []
        for name in self.model.columns:
            left, right = one.value(name), other.value(name)
            if left == right:
                continue
            if not (isinstance(left, Fraction) and isinstance(right, Fraction)):
                return False
            gaps.append(abs(left - right) / widths[name])
        radius = Fraction(self.model.radius)
        match self.model.metric:
            case "euclidean":
                return sum(gap * gap for gap in gaps) <= radius * radius
            case "manhattan":
                return sum(gaps) <= radius
            case "chebyshev":
                return max(gaps, default=Fraction(0)) <= radius

    def protects(self) -> str:
        """Say in plain words who is protected."""
        condition = f"at least {self._crowd()}, itself included, in the data that hold it"
        who = (
            f"every record with {condition}"
            if self.rows is None
            else f"every {self.unit}, each with {condition}, {self._counting()}"
        )
        what = "" if self.adjacency == "add_remove" else "what the data say of "
        return f"{what}{who} ({self._rule()})"

    def leaves_out(self) -> str:
        """Say in plain words who is not."""
        if self.threshold == 1:
            all_of_them = (
                "nobody is" if self.rows is None else f"only persons with more than {self._most()} are"
            )
            return f"{all_of_them} left out by {self._rule()}, because its k reaches its beta"
        fewer = f"fewer than {self._crowd()}"
        shown = "an answer may show that they are in the data"
        if self.rows is None:
            return f"records with {fewer}: {shown}"
        return (
            f"persons with more than {self._most()}, or with any row that has {fewer}, "
            f"{self._counting()}: {shown}"
        )

    def difference(self, factor: str) -> str:
        """Say that both records of a replacement must be protected."""
        verb = (
            "is added or removed"
            if self.adjacency == "add_remove"
            else "is replaced by another protected one"
        )
        return f"changes by a factor of at most {factor} when one protected {self.noun} {verb}"

    def _crowd(self) -> str:
        model = self.model
        distance = f"{model.metric} distance {model.radius}" + (" of scaled values" if model.scaled else "")
        within = f"within {distance}" if model.radius else "equal to it"
        things = "records" if self.rows is None else "rows"
        return f"{self.threshold} {things} {within} in {', '.join(model.columns)}"

    def _counting(self) -> str:
        """Which rows make a row protected: those that `_counted` keeps."""
        return f"counting only rows of persons with at most {self._most()}"

    def _most(self) -> str:
        return "one row" if self.rows == 1 else f"{self.rows} rows"

    def _rule(self) -> str:
        name = f"rule {self.rule!r}" if self.rule is not None else "an undeclared model"
        return f"{name}: beta={self.model.beta}, k={self.model.k}"

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Permit the model that the owner declared under this name, and no other."""
        return self.rule is not None and rules.get(self.rule) == self.model

    def needs(self) -> tuple[str, Rule]:
        """Return the model itself."""
        return self.rule or "rare", self.model

    def is_inside(self, other: Relation) -> bool:
        """A smaller k, all else equal, protects fewer records."""
        if isinstance(other, SensitiveRecords):
            same = (self.adjacency, self.rows) == (other.adjacency, other.rows)
            return same and self.model.k < other.model.k and self._with_k(other.model.k) == other.model
        return super().is_inside(other)

    def _with_k(self, k: int) -> AnomalyModel:
        return AnomalyModel.read({**self.model.to_dict(), "k": k})

    def in_replace_form(self) -> SensitiveRecords:
        """Two steps of the sensitive neighbourhood graph."""
        return SensitiveRecords(self.rule, self.model, "replace", self.rows)

    def for_persons(self, rows: int) -> SensitiveRecords:
        """Give up rows−1 of k: each row taken away may take one neighbour from the person's next row."""
        refuse_replaced_rows(self)
        k = self.model.k - (rows - 1)
        if k < 1:
            raise self.cannot_become(
                f"about persons with up to {rows} rows",
                f"removing {rows - 1} of them can leave the last one unprotected at k={self.model.k}",
                f"Run the model with a k of at least {rows}; persons are then protected at k−{rows - 1}.",
            )
        return SensitiveRecords(self.rule, self._with_k(k), self.adjacency, rows)
