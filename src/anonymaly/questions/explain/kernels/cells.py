# SPDX-License-Identifier: Apache-2.0
"""The small summaries of base cells that kernels take, and how a kernel says which of them it needs.

A base cell is one value of every attribute. The summaries are about the other records, never the one asked
about. ``summary.py`` reads them from a table; each need also makes its own from records in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.questions.explain.space import ContextSpace

# What kernels keep in 64 bits is decided by public numbers, never by a row: distances have at most 36 bits
# (`metric_steps`), and a detector bounds its neighbours. A histogram has as many bins as the root of its
# records, few enough up to what takes 64 terabytes here. Sums over records have no bound: see DistanceSums.
LONGEST = 40  # bits of a distance
MOST_RECORDS = 1 << 43
HALF = 18  # bits, in which an engine squares distances


@dataclass(frozen=True)
class Ragged:
    """A list of numbers for each cell, end to end; cell c's lie from ``offsets[c]`` to ``offsets[c+1]``."""

    values: Integers
    offsets: Integers

    @classmethod
    def of(cls, cells: Integers, values: Integers, number: int) -> Ragged:
        """Return values that are in the order of their cells.

        Examples
        --------
        >>> Ragged.of(np.array([0, 2, 2]), np.array([7, 8, 9]), 3).offsets.tolist()
        [0, 1, 1, 3]
        """
        offsets = np.zeros(number + 1, np.int64)
        np.cumsum(np.bincount(cells, minlength=number), out=offsets[1:])
        return cls(np.ascontiguousarray(values, np.int64), offsets)

    @property
    def cells(self) -> Integers:
        """The cell of each value."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int64), np.diff(self.offsets))

    def checked(self, space: ContextSpace) -> Ragged:
        """Return the same as 64-bit numbers, or say why it does not fit the space."""
        numbers = np.asarray(self.values)
        bounds = np.asarray(self.offsets, dtype=np.int64)
        if numbers.size and numbers.dtype.kind not in "iu":
            raise TypeError(f"values lie on a grid of whole numbers, not {numbers.dtype}")
        if bounds.shape != (space.cells + 1,) or bounds[0] != 0 or bounds[-1] != numbers.size:
            raise ValueError(f"{space.cells} base cells need {space.cells + 1} offsets that cover all values")
        if (np.diff(bounds) < 0).any():
            raise ValueError("offsets should not decrease")
        return Ragged(numbers.astype(np.int64, copy=False).ravel(), bounds)


@dataclass(frozen=True)
class NearestValues:
    """The values nearest to the record's, in steps of the metric: of each cell the nearest first.

    ``below`` holds values up to the record's own, ``above`` larger ones.
    """

    record: int
    below: Ragged
    above: Ragged


@dataclass(frozen=True)
class SortedValues:
    """All values of each cell, in steps of the metric and in order, and the record's.

    With ``counts`` each is there once, and as often in the table as its count says: the summary then grows
    with the values that there are, and not with the rows.
    """

    record: int
    others: Ragged
    counts: Integers | None = None

    @property
    def counted(self) -> Integers:
        """How often each value is in the table."""
        return np.ones(len(self.others.values), np.int64) if self.counts is None else self.counts


@dataclass(frozen=True)
class DistanceSums:
    """Of each cell the records, the sum of their distances d to the record, and that of d².

    The sums are whole numbers of any length: how many records there are decides how long.
    """

    counts: Integers
    sums: Sequence[int]
    squares: Sequence[int]

    @classmethod
    def of(cls, cells: Integers, distances: Integers, number: int) -> DistanceSums:
        """Return the sums of distances in memory.

        Examples
        --------
        >>> DistanceSums.of(np.array([0, 0]), np.array([3, -300_000]), 2).squares
        [90000000009, 0]
        """
        high = distances >> HALF
        low = distances - (high << HALF)

        def total(items: Integers) -> list[int]:
            sums = np.zeros(number, np.int64)
            np.add.at(sums, cells, items)
            return sums.tolist()

        counts = np.bincount(cells, minlength=number).astype(np.int64)
        squares = squares_of(total(high * high), total(high * low), total(low * low))
        return cls(counts, total(distances), squares)


def squares_of(high: Sequence[int], products: Sequence[int], low: Sequence[int]) -> list[int]:
    """Return sums of squares, given those of the squares and products of both parts: d = 2^18·high + low.

    Examples
    --------
    >>> squares_of([1], [3], [9]) == [(2**18 + 3) ** 2]
    True
    """
    parts = zip(high, products, low, strict=True)
    return [(first << 2 * HALF) + (product << HALF + 1) + last for first, product, last in parts]


@dataclass(frozen=True)
class Nearest:
    """A kernel needs up to ``most`` values of each cell on either side of the record's."""

    most: int

    def of(self, cells: Integers, steps: Integers, record: int, number: int) -> NearestValues:
        """Return them of records in memory, which are in the order of cells and steps; more do no harm."""
        lower = steps <= record
        nearest_first = np.lexsort((-steps[lower], cells[lower]))
        return NearestValues(
            record,
            Ragged.of(cells[lower], steps[lower][nearest_first], number),
            Ragged.of(cells[~lower], steps[~lower], number),
        )


@dataclass(frozen=True)
class AllValues:
    """A kernel needs all values of each cell in order."""

    def of(self, cells: Integers, steps: Integers, record: int, number: int) -> SortedValues:
        """Return them of records in memory, which are in the order of cells and steps."""
        return SortedValues(record, Ragged.of(cells, steps, number))


@dataclass(frozen=True)
class Sums:
    """A kernel needs the records of each cell, and the sums of their distances and squared distances."""

    def of(self, cells: Integers, steps: Integers, record: int, number: int) -> DistanceSums:
        """Return them of records in memory."""
        return DistanceSums.of(cells, steps - record, number)


CellNeed = Nearest | AllValues | Sums
CellSummary = NearestValues | SortedValues | DistanceSums


def check_span(smallest: int, largest: int) -> None:
    """Refuse distances that no metric has; how many records have them plays no part in it."""
    if max(int(largest), 0) - min(int(smallest), 0) > 1 << LONGEST:
        raise ValueError(f"values over more than 2^{LONGEST} steps: round the metric to a coarser grid")
