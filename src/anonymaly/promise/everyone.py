# SPDX-License-Identifier: Apache-2.0
"""Differential privacy: everyone is protected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from anonymaly.core.rate import Adjacency
from anonymaly.declare.rules import Rule
from anonymaly.promise.change import Background, Row, Unit
from anonymaly.promise.relation import Rows, Stepwise, refuse_replaced_rows


class Everyone(Stepwise):
    """Differential privacy: every record, or every person, however many rows they have.

    Protecting every row by itself is less than protecting persons with one row each: where a table is cut
    to one row per person, another row of that person may take its place.

    Examples
    --------
    >>> Everyone().relates([{"age": 30}, {"age": 40}], [{"age": 30}])
    True
    >>> Everyone("replace").relates([{"age": 30}], [{"age": 40}])
    True
    """

    type: Literal["everyone"] = "everyone"
    adjacency: Adjacency = "add_remove"
    """Whether one unit comes or goes (add_remove), or is replaced by another (replace)."""
    rows: Rows | None = None
    """The most rows of a person that are read; without it, every row is protected by itself."""

    if TYPE_CHECKING:

        def __init__(
            self, adjacency: Adjacency = "add_remove", rows: int | None = None, *, type: str = "everyone"
        ) -> None: ...

    @property
    def holds_additions(self) -> bool:
        """All of them, where records come and go."""
        return self.adjacency == "add_remove"

    @property
    def of_single_records(self) -> bool:
        """Whoever else is there has no say."""
        return True

    def covers(self, unit: Unit, holder: tuple[Row, ...], removed: bool, facts: Background) -> bool:
        """Every step."""
        return True

    def protects(self) -> str:
        """Say in plain words who is protected."""
        # How many rows are read differs: sequences are counted in all of them, most questions read ``rows``.
        who = "every record" if self.rows is None else "every person, however many rows they have"
        if self.adjacency == "add_remove":
            return f"{who}: whether they are in the data, and what the data say of them"
        return f"{who}: what the data say of them"

    def leaves_out(self) -> str:
        """Say in plain words who is not."""
        if self.rows is None:
            return "people with more than one row, who are protected one row at a time"
        return "people with several ids, or with rows without one, who count as several persons"

    @property
    def row_by_row(self) -> str:
        """Nothing more: they are all whom it leaves out."""
        return ""

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Differential privacy needs no rule."""
        return True

    def in_replace_form(self) -> Everyone:
        """Remove one, then add the other."""
        return Everyone("replace", self.rows)

    def for_persons(self, rows: int) -> Everyone:
        """Remove, or add, the rows of the person that are read, one after another."""
        refuse_replaced_rows(self)
        return Everyone(self.adjacency, rows)
