# SPDX-License-Identifier: Apache-2.0
"""All intervals of neighbouring positions that hold the record's, and any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.questions.explain.everyone.axes.axis import GroupAxis
from anonymaly.questions.explain.everyone.positions import OrderedPositions
from anonymaly.questions.explain.everyone.value import GroupPart

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class IntervalAxis(GroupAxis):
    """Intervals by their first and last position; a code is a position, the last one is of no position.

    Examples
    --------
    >>> from anonymaly.declare.domain import Bins
    >>> from anonymaly.questions.explain.everyone.positions import positions_of
    >>> axis = IntervalAxis("age", positions_of(Bins("age", [0, 18, 65, 120])), 1)
    >>> axis.intervals
    ((1, 1), (1, 2), (0, 1))
    >>> str(axis.part(1))
    'age from 18 to 120'
    """

    column: str
    positions: OrderedPositions
    own: int

    @cached_property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """The first and the last position of each; the whole is not among them, because it is any."""
        size = self.positions.size
        pairs = [(first, last) for first in range(self.own, -1, -1) for last in range(self.own, size)]
        return tuple(pair for pair in pairs if pair != (0, size - 1))

    @property
    def codes(self) -> int:
        """The positions, and none."""
        return self.positions.size + 1

    @property
    def options(self) -> int:
        """The intervals, and any."""
        return len(self.intervals) + 1

    def inside(self, option: int) -> Booleans:
        """Return which codes an option holds."""
        codes = np.arange(self.codes)
        if option == self.options - 1:
            return codes >= 0
        first, last = self.intervals[option]
        return (codes >= first) & (codes <= last)

    def in_order(self) -> list[int]:
        """Return the intervals so that one after the other grows or shrinks by one position at an end."""
        number = {pair: option for option, pair in enumerate(self.intervals)}
        found: list[int] = []
        for first in range(self.own, -1, -1):
            sweep = [
                number[first, last]
                for last in range(self.own, self.positions.size)
                if (first, last) in number
            ]
            found += sweep if (self.own - first) % 2 == 0 else sweep[::-1]
        return [*found, self.options - 1]

    def part(self, option: int) -> GroupPart:
        """Return an option in words."""
        return (
            GroupPart(self.column)
            if option == self.options - 1
            else self.positions.part(*self.intervals[option])
        )

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return each row's position."""
        return self.positions.to_ibis(table).fill_null(self.positions.size)

    def weights(self) -> Integers:
        """Return one for each position."""
        return np.append(np.ones(self.positions.size, np.int64), 0)
