# SPDX-License-Identifier: Apache-2.0
"""An ordered attribute's positions: the bins of a number, or the parts of a calendar between two dates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from anonymaly.declare.attributes import Attribute
from anonymaly.declare.dates import WEEKDAYS, Dates
from anonymaly.declare.domain import Bins, Timestamps, read_moment
from anonymaly.questions.explain.everyone.value import GroupPart

if TYPE_CHECKING:
    import ibis.expr.types as ir


class OrderedPositions(ABC):
    """Positions in order, of which a value has one or none."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many there are."""

    @abstractmethod
    def position(self, value: Any) -> int | None:
        """Return a record's position, or None if its value has none."""

    @abstractmethod
    def part(self, first: int, last: int) -> GroupPart:
        """Return the positions from one to another in words."""

    @abstractmethod
    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return each row's position; null if it has none."""


@dataclass(frozen=True)
class BinPositions(OrderedPositions):
    """The bins of a number."""

    bins: Bins

    @property
    def size(self) -> int:
        """How many bins there are."""
        return len(self.bins.edges) - 1

    def position(self, value: Any) -> int | None:
        """Return the bin that holds a value."""
        return Attribute(self.bins.column, self.bins.labels, self.bins).code(value)

    def part(self, first: int, last: int) -> GroupPart:
        """Return the bins from one to another in words."""
        labels = self.bins.labels
        return GroupPart(self.bins.column, "interval", (labels[first], labels[last]), by=self.bins)

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return each row's bin."""
        from anonymaly.declare.readings import code  # noqa: PLC0415  (Ibis, when rows are read)

        return code(Attribute(self.bins.column, self.bins.labels, self.bins), table)


@dataclass(frozen=True)
class CalendarPositions(OrderedPositions):
    """Years, quarters, months or days of the week between a declared start and end.

    Examples
    --------
    >>> months = CalendarPositions(Dates("admitted"), Timestamps("2003-11-05", "2004-02-01"))
    >>> months.size, months.position("2004-01-31"), str(months.part(1, 3))
    (4, 2, 'admitted 2003-12 to 2004-02')
    """

    dates: Dates
    domain: Timestamps

    @property
    def _first(self) -> int:
        return self.dates.number(self.domain.start) if self.dates.parts else 0

    @property
    def size(self) -> int:
        """How many there are from the start to the end."""
        return self.dates.number(self.domain.end) - self._first + 1 if self.dates.parts else len(WEEKDAYS)

    def position(self, value: Any) -> int | None:
        """Return where a date lies."""
        try:
            moment: datetime = read_moment(value)
        except ValueError:
            return None
        return self.dates.number(moment) - self._first if self.domain.contains(moment) else None

    def part(self, first: int, last: int) -> GroupPart:
        """Return the dates from one to another in words."""
        ends = [self.dates.label(self._first + place) for place in (first, last)]
        begin = self.dates.begin(self._first + first)
        # Dates outside of the declared bounds are in no part, though the calendar's month would hold them.
        since = self.domain.start if begin is not None and begin < self.domain.start else None
        until = self.domain.end if self.dates.parts and last == self.size - 1 else None
        return GroupPart(self.dates.column, "interval", tuple(ends), by=self.dates, since=since, until=until)

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return where each row's date lies."""
        import ibis  # noqa: PLC0415  (when rows are read)

        from anonymaly.declare.readings import is_within  # noqa: PLC0415

        column: Any = table[self.dates.column]
        parts = self.dates.parts
        if not parts:
            number = column.day_of_week.index().cast("int64")
        else:
            month = column.month().cast("int64") - 1
            within = {1: 0, 4: column.quarter().cast("int64") - 1, 12: month}[parts]
            number = column.year().cast("int64") * parts + within - self._first
        found: ir.IntegerValue = ibis.ifelse(is_within(self.domain, column), number, ibis.null("int64"))
        return found


def positions_of(item: Bins | Dates, domain: Timestamps | None = None) -> OrderedPositions:
    """Return the positions of an ordered attribute; dates need their declared bounds."""
    if isinstance(item, Bins):
        return BinPositions(item)
    if domain is None:
        raise AssertionError("dates without declared bounds")
    return CalendarPositions(item, domain)
