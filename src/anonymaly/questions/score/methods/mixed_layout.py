# SPDX-License-Identifier: Apache-2.0
"""Where each cell of the mixed method's histograms stands, and the places that a record has in them.

Numbers are counted on a fine public lattice, whose cells are put together into bins before noise is drawn:
so one statement counts for every choice of bins, and every record has one place in each histogram.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.questions.score.methods.method import coordinate
from anonymaly.questions.score.methods.mixed_rule import paired

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

FINE = 4096  # cells of a number's lattice
MIDDLE = 0.5  # where a sketch puts a number that is missing
HALF = 0.6  # a direction's places lie within this of the middle; beyond, they are moved to it


@dataclass(frozen=True)
class Layout:
    """The histograms of columns, pairs and sketches, one after another in one list of cells.

    Examples
    --------
    >>> layout = Layout(labels=(0, 2), pair_bins=5, sketches=0, side=0, coins=0)
    >>> layout.columns, layout.pairs, layout.pair_shapes, layout.size
    ((4097, 3), [(1, 0)], [(3, 6)], 4118)
    """

    labels: tuple[int, ...]
    pair_bins: int
    sketches: int
    side: int
    coins: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The cells of each column as it is counted, with that of missing ones, which is the last."""
        return tuple((number or FINE) + 1 for number in self.labels)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of columns that have a histogram."""
        return paired(self.labels, self.pair_bins) if self.pair_bins else []

    @property
    def sides(self) -> tuple[int, ...]:
        """The cells of each column in a pair, with that of missing ones."""
        return tuple((number or self.pair_bins) + 1 for number in self.labels)

    @cached_property
    def pair_shapes(self) -> list[tuple[int, int]]:
        """The cells of each pair."""
        return [(self.sides[left], self.sides[right]) for left, right in self.pairs]

    @property
    def numbers(self) -> list[int]:
        """The columns that are numbers."""
        return [axis for axis, number in enumerate(self.labels) if not number]

    @cached_property
    def directions(self) -> Floats:
        """Two random unit vectors over the numbers for each sketch, from the public coins."""
        shape = (self.sketches, 2, len(self.numbers))
        normal = _normal(self.coins, math.prod(shape)).reshape(shape)
        length = np.sqrt((normal**2).sum(axis=2, keepdims=True))
        directions: Floats = normal / np.where(length > 0, length, 1.0)
        return directions

    @property
    def size(self) -> int:
        """The number of all cells."""
        pairs = sum(left * right for left, right in self.pair_shapes)
        return sum(self.columns) + pairs + self.sketches * self.side**2

    def count(self, cube: ir.Table) -> ir.Table:
        """Count the cells of all histograms in one aggregate: a record has one place in each of them."""
        import ibis  # noqa: PLC0415  (half a second that a preview does not need)

        axes = range(len(self.labels))
        centred = _centred(cube, self.numbers) if self.sketches else cube
        codes = {f"b{axis}": _code(centred, axis, self.labels[axis], FINE) for axis in axes}
        in_pairs = sorted({axis for pair in self.pairs for axis in pair})
        sides = {f"s{axis}": _code(centred, axis, self.labels[axis], self.pair_bins) for axis in in_pairs}
        sketched = {
            f"d{number}": _directed(centred, self.numbers, sketch, self.side)
            for number, sketch in enumerate(self.directions)
        }
        # Codes first, in a step of their own: engines would compute them again for every pair.
        coded = centred.select(**codes, **sides, **sketched)
        places, first = [], 0
        for axis, size in enumerate(self.columns):
            places.append(coded[f"b{axis}"] + first)
            first += size
        for (left, right), (rows, columns) in zip(self.pairs, self.pair_shapes, strict=True):
            places.append(coded[f"s{left}"] * columns + coded[f"s{right}"] + first)
            first += rows * columns
        for name in sketched:
            places.append(coded[name] + first)
            first += self.side**2
        placed = coded.select(place=ibis.array([place.cast("int32") for place in places]).unnest())
        return placed.group_by("place").agg(records=placed.count())

    def arrays(self, counts: pa.Table) -> tuple[list[Integers], list[Integers], Integers]:
        """Return the counts of columns, pairs and sketches."""
        cells = np.zeros(self.size, np.int64)
        cells[counts.column("place").to_numpy()] = counts.column("records").to_numpy()
        parts = _split(cells, [*self.columns, *(rows * columns for rows, columns in self.pair_shapes)])
        *found, rest = parts
        width = len(self.columns)
        pairs = [part.reshape(shape) for part, shape in zip(found[width:], self.pair_shapes, strict=True)]
        return found[:width], pairs, rest.reshape(self.sketches, self.side, self.side)

    def codes(self, points: Floats, cells: int) -> Integers:
        """Return the place of each coordinate among a column's cells; what is missing comes last."""
        return np.column_stack([self.code(points[:, axis], axis, cells) for axis in range(len(self.labels))])

    def code(self, column: Floats, axis: int, cells: int) -> Integers:
        """Return the place of each coordinate of one column."""
        number, lost = self.labels[axis], np.isnan(column)
        known = np.where(lost, 0.0, column)
        places = known if number else np.minimum(np.floor(known * cells), cells - 1)
        return np.where(lost, number or cells, places.astype(np.int64))

    def sketched(self, points: Floats) -> Iterator[Integers]:
        """Yield each sketch's place of every point."""
        centred = np.nan_to_num(points[:, self.numbers], nan=MIDDLE) - MIDDLE
        for one, other in self.directions:
            codes = [
                np.minimum(
                    (np.clip((centred @ way + HALF) / (2 * HALF), 0, 1) * self.side).astype(int),
                    self.side - 1,
                )
                for way in (one, other)
            ]
            yield codes[0] * self.side + codes[1]


def _code(cube: ir.Table, axis: int, labels: int, cells: int) -> ir.IntegerValue:
    import ibis  # noqa: PLC0415

    column = cube[coordinate(axis)]
    if labels:
        return ibis.ifelse(column.isnull(), labels, column.cast("int32")).cast("int32")
    place = (column * cells).floor().cast("int32").clip(upper=cells - 1)
    return ibis.ifelse(column.isnull(), cells, place).cast("int32")


def _centred(cube: ir.Table, numbers: Sequence[int]) -> ir.Table:
    """Add how far each number is from the middle; one that is missing is at the middle."""
    import ibis  # noqa: PLC0415

    from anonymaly.engine.arithmetic import exact  # noqa: PLC0415

    away = {
        f"m{axis}": ibis.coalesce(cube[coordinate(axis)], exact(MIDDLE)) - exact(MIDDLE) for axis in numbers
    }
    return cube.mutate(**away)


def _directed(centred: ir.Table, numbers: Sequence[int], sketch: Floats, side: int) -> ir.IntegerValue:
    import ibis  # noqa: PLC0415

    from anonymaly.engine.arithmetic import exact  # noqa: PLC0415

    codes = []
    for way in sketch:
        terms = [centred[f"m{axis}"] * exact(part) for axis, part in zip(numbers, way.tolist(), strict=True)]
        whole = ((_sum(terms) + exact(HALF)) / exact(2 * HALF) * side).floor()
        codes.append(ibis.greatest(ibis.least(whole, exact(side - 1)), exact(0)).cast("int32"))
    return codes[0] * side + codes[1]


def _sum(terms: Sequence[ir.FloatingValue]) -> ir.FloatingValue:
    """Add by halves: a long chain would be as deep as it has terms, and compilers of statements are not."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return _sum(terms[:middle]) + _sum(terms[middle:])


def _split(cells: Integers, sizes: Sequence[int]) -> list[Integers]:
    return np.split(cells, np.cumsum(sizes))


def _normal(coins: int, count: int) -> Floats:
    """Return normal numbers that follow from the coins alone, the same in every version of every library."""
    words = (np.arange(2 * count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    words = words + np.uint64(coins % 2**64)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words = words ^ (words >> np.uint64(31))
    even = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53
    normal: Floats = np.sqrt(-2 * np.log(even[:count])) * np.cos(2 * math.pi * even[count:])
    return normal
