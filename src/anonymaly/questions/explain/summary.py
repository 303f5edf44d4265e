# SPDX-License-Identifier: Apache-2.0
"""The only part of ``explain`` that reads rows: a few numbers for each base cell.

A base cell is one value of every attribute. Records without a value of an attribute or of the metric
are in no cell. The record asked about is taken out of its own cell once, by its values: whichever of
several equal records that is makes no difference to anything computed from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.engine.source import collect
from anonymaly.questions.explain.binding import Plan

if TYPE_CHECKING:
    import ibis.expr.types as ir

HALF = 18  # bits: distances have at most 36, so squares of both parts sum over 2^27 records in 64


def in_cells(table: ir.Table, plan: Plan) -> ir.Table:
    """Return each record that is in a cell as its cell and its steps."""
    cell: ir.IntegerValue = ibis.literal(0, "int64")
    for attribute in plan.attributes:
        cell = cell * len(attribute.values) + attribute.to_ibis(table)
    placed = table.select(cell=cell, steps=plan.grid.to_ibis(table[plan.metric]))
    return placed.filter(placed.cell.notnull() & placed.steps.notnull())


@dataclass(frozen=True)
class Counts:
    """Whether the record is there, and how many others are in each cell."""

    present: bool
    others: Integers


def count_cells(table: ir.Table, plan: Plan) -> Counts:
    """Count the records of each cell, the record asked about apart."""
    placed = in_cells(table, plan)
    same = (placed.cell == plan.cell) & (placed.steps == plan.steps)
    found = collect(placed.group_by("cell").agg(records=placed.count(), same=same.sum().fill_null(0)))
    others = np.zeros(plan.cells, np.int64)
    cells = found.column("cell").to_numpy()
    others[cells] = found.column("records").to_numpy()
    present = bool(found.column("same").to_numpy()[cells == plan.cell].sum() > 0)
    if present:
        others[plan.cell] -= 1
    return Counts(present, others)


@dataclass(frozen=True)
class Ragged:
    """A list of numbers for each cell, end to end; ``offsets`` says where each begins."""

    values: Integers
    offsets: Integers

    @classmethod
    def of(cls, cells: Integers, values: Integers, number: int) -> Ragged:
        """Return values that are in the order of their cells."""
        offsets = np.zeros(number + 1, np.int64)
        np.cumsum(np.bincount(cells, minlength=number), out=offsets[1:])
        return cls(np.ascontiguousarray(values, np.int64), offsets)


def nearest_values(table: ir.Table, plan: Plan, most: int) -> tuple[Ragged, Ragged]:
    """Return up to ``most`` values of each cell on either side of the record's, the nearest first.

    Values equal to the record's are on the lower side; one of them, in its own cell, is the record.
    """
    placed = in_cells(table, plan)
    # One more below, because the first of the record's own cell is the record itself.
    below = _first(placed.filter(placed.steps <= plan.steps), ibis.desc("steps"), most + 1)
    above = _first(placed.filter(placed.steps > plan.steps), ibis.asc("steps"), most)
    place = below.column("place").to_numpy()
    cells = below.column("cell").to_numpy()
    own = cells == plan.cell
    kept = np.where(own, place >= 1, place < most)
    return (
        Ragged.of(cells[kept], below.column("steps").to_numpy()[kept], plan.cells),
        Ragged.of(above.column("cell").to_numpy(), above.column("steps").to_numpy(), plan.cells),
    )


def sorted_values(table: ir.Table, plan: Plan) -> Ragged:
    """Return all values of each cell in order, the record's own taken out once."""
    placed = in_cells(table, plan)
    found = collect(placed.order_by(["cell", "steps"]))
    cells, values = found.column("cell").to_numpy(), found.column("steps").to_numpy()
    own = np.flatnonzero((cells == plan.cell) & (values == plan.steps))[:1]
    return Ragged.of(np.delete(cells, own), np.delete(values, own), plan.cells)


@dataclass(frozen=True)
class Moments:
    """Of each cell the sums of d, the distance to the record, and of the parts of d² = (2^18·high + low)²."""

    sums: Integers
    high_squares: Integers
    products: Integers
    low_squares: Integers

    def squares(self) -> list[int]:
        """Return the sums of squares, which may need more than 64 bits."""
        parts = zip(
            self.high_squares.tolist(), self.products.tolist(), self.low_squares.tolist(), strict=True
        )
        return [(high << 2 * HALF) + (product << HALF + 1) + low for high, product, low in parts]


def split(distances: Integers) -> tuple[Integers, Integers]:
    """Return the high and low parts of distances: d = 2^18·high + low, low from 0 on."""
    high = distances >> HALF
    return high, distances - (high << HALF)


def cell_moments(table: ir.Table, plan: Plan) -> Moments:
    """Return exact sums of distances and their squares for each cell; the record adds nothing to either."""
    placed = in_cells(table, plan)
    distance = placed.steps - plan.steps
    # Floor division keeps the low part in 0..2^18, whatever the sign, on every engine.
    high = (distance.cast("float64") / float(1 << HALF)).floor().cast("int64")
    low = distance - high * (1 << HALF)
    parts = placed.mutate(distance=distance, high=high, low=low)
    found = collect(
        parts.group_by("cell").agg(
            sums=parts.distance.sum(),
            high_squares=(parts.high * parts.high).sum(),
            products=(parts.high * parts.low).sum(),
            low_squares=(parts.low * parts.low).sum(),
        )
    )
    cells = found.column("cell").to_numpy()

    def spread(name: str) -> Integers:
        values = np.zeros(plan.cells, np.int64)
        values[cells] = [int(item) for item in found.column(name).to_pylist()]
        return values

    return Moments(spread("sums"), spread("high_squares"), spread("products"), spread("low_squares"))


@dataclass(frozen=True)
class Summary:
    """All that is kept of the rows: counts, and what the detector needs of each cell."""

    counts: Counts
    nearest: tuple[Ragged, Ragged] | None = None
    moments: Moments | None = None
    values: Ragged | None = None


def summarise(table: ir.Table, plan: Plan) -> Summary:
    """Summarise the base cells as the detector needs it."""
    counts = count_cells(table, plan)
    match plan.detector.summary:
        case "nearest":
            # 2k on each side decide the factor, whatever else there is (see local_outlier_factor.py).
            return Summary(counts, nearest=nearest_values(table, plan, 2 * plan.parameters["k"]))
        case "moments":
            return Summary(counts, moments=cell_moments(table, plan))
        case _:
            return Summary(counts, values=sorted_values(table, plan))


def _first(side: ir.Table, order: ir.Value, most: int) -> ibis.Table:
    window = ibis.window(group_by="cell", order_by=order)
    placed = side.mutate(place=ibis.row_number().over(window))
    return collect(placed.filter(placed.place < most).order_by(["cell", "place"]))
