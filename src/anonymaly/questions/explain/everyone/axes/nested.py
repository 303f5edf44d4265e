# SPDX-License-Identifier: Apache-2.0
"""Options of which each holds the one before: the record's own value and any, or ever wider intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.questions.explain.everyone.axes.axis import GroupAxis
from anonymaly.questions.explain.everyone.positions import OrderedPositions
from anonymaly.questions.explain.everyone.value import GroupPart

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class OwnOrAny(GroupAxis):
    """The record's own value, or any: what hundreds of categories need no more of than two codes.

    Examples
    --------
    >>> axis = OwnOrAny("job", "Nurse", 300)
    >>> axis.codes, axis.options, str(axis.part(0)), str(axis.part(1))
    (2, 2, 'job = Nurse', 'any job')
    """

    column: str
    own: str | int | bool
    values: int  # how many are declared

    @property
    def codes(self) -> int:
        """The own value, and all else."""
        return 2

    @property
    def options(self) -> int:
        """The own value, and any."""
        return 2

    def inside(self, option: int) -> Booleans:
        """Return which codes an option holds."""
        return np.arange(2) <= option

    def part(self, option: int) -> GroupPart:
        """Return an option in words."""
        return GroupPart(self.column) if option else GroupPart(self.column, "values", (self.own,))

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return 0 for the own value and 1 for all else, null among it."""
        import ibis  # noqa: PLC0415  (when rows are read)

        return ibis.ifelse((table[self.column] == self.own).fill_null(False), 0, 1).cast("int64")

    def weights(self) -> Integers:
        """Return one for the own value, and the others' number."""
        return np.array([1, self.values - 1], np.int64)


@dataclass(frozen=True)
class Dyadic(GroupAxis):
    """Intervals of 1, 2, 4, … neighbouring positions that hold the record's, and any.

    A code is the first interval that holds a position.
    """

    column: str
    positions: OrderedPositions
    own: int

    @property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """The first and the last position of each, from narrow to wide; the whole is not among them.

        Examples
        --------
        >>> from anonymaly.declare.domain import Bins
        >>> from anonymaly.questions.explain.everyone.positions import positions_of
        >>> ages = positions_of(Bins("age", [0, 10, 20, 30, 40, 50]))
        >>> Dyadic("age", ages, 3).intervals
        ((3, 3), (2, 3), (0, 3))
        """
        found: dict[tuple[int, int], None] = {}
        width, size = 1, self.positions.size
        while width < size:
            first = self.own // width * width
            found.setdefault((first, min(first + width, size) - 1))
            width *= 2
        found.pop((0, size - 1), None)
        return tuple(found)

    @property
    def codes(self) -> int:
        """One for each interval, one for the other positions, and one for none."""
        return len(self.intervals) + 2

    @property
    def options(self) -> int:
        """The intervals, and any."""
        return len(self.intervals) + 1

    def inside(self, option: int) -> Booleans:
        """Return which codes an option holds."""
        return np.arange(self.codes) <= (option if option < self.options - 1 else self.codes)

    def part(self, option: int) -> GroupPart:
        """Return an option in words."""
        return (
            GroupPart(self.column)
            if option == self.options - 1
            else self.positions.part(*self.intervals[option])
        )

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return the first interval that holds each row's position."""
        import ibis  # noqa: PLC0415  (when rows are read)

        position = self.positions.to_ibis(table)
        cases = [(position.between(*interval), code) for code, interval in enumerate(self.intervals)]
        found = ibis.cases(*cases, (position.notnull(), len(self.intervals)), else_=len(self.intervals) + 1)
        return found.cast("int64")

    def weights(self) -> Integers:
        """Return how many positions each code stands for."""
        sizes = [last - first + 1 for first, last in self.intervals]
        return np.diff([0, *sizes, self.positions.size, self.positions.size]).astype(np.int64)
