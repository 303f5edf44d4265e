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
from anonymaly.declare.readings import code
from anonymaly.engine import lookup
from anonymaly.engine.cells import RECORDS, ROWS, count_cells
from anonymaly.engine.statements import collect, collect_batches
from anonymaly.questions.explain.binding import ExplainBinding
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.kernels.cells import (
    HALF,
    AllValues,
    CellNeed,
    CellSummary,
    DistanceSums,
    Nearest,
    NearestValues,
    Ragged,
    SortedValues,
    Sums,
    squares_of,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Counts:
    """Whether the record is there, and how many others are in each cell."""

    present: bool
    others: Integers


@dataclass(frozen=True)
class Summary:
    """What is kept of the rows: counts, and what the detector's kernel needs of each cell."""

    counts: Counts
    cells: CellSummary


def summarise(table: ir.Table, bound: ExplainBinding) -> Summary:
    """Summarise the base cells as the detector's kernel needs them."""
    counts = count_others(table, bound)
    need: CellNeed = kernel_type(bound.detector).needs(bound.detector)
    match need:
        case Nearest():
            return Summary(counts, nearest_values(table, bound, need.most))
        case Sums():
            return Summary(counts, distance_sums(table, bound, counts.others))
        case AllValues():
            return Summary(counts, sorted_values(table, bound))


def in_cells(table: ir.Table, bound: ExplainBinding) -> ir.Table:
    """Return each record that is in a cell as its cell and its steps."""
    cell: ir.IntegerValue = ibis.literal(0, "int64")
    for attribute in bound.attributes:
        cell = cell * len(attribute.values) + code(attribute, table)
    placed = table.select(cell=cell, steps=bound.metric_steps.to_ibis(table[bound.query.metric]))
    return placed.filter(placed.cell.notnull() & placed.steps.notnull())


def count_others(table: ir.Table, bound: ExplainBinding) -> Counts:
    """Count the records of each cell, the record asked about apart."""
    steps, metric, own = bound.metric_steps, bound.query.metric, bound.space.own_cell
    measured = table.filter(steps.to_ibis(table[metric]).notnull())
    same = steps.to_ibis(measured[metric]) == bound.record_steps
    counts = count_cells(measured, bound.attributes, {"same": same})
    others, present = counts[RECORDS], bool(counts["same"][own] > 0)
    if present:
        others[own] -= 1
    return Counts(present, others)


def nearest_values(table: ir.Table, bound: ExplainBinding, most: int) -> NearestValues:
    """Return up to ``most`` values of each cell on either side of the record's, the nearest first.

    Values equal to the record's are on the lower side; one of them, in its own cell, is the record.
    """
    placed, record, number = in_cells(table, bound), bound.record_steps, bound.space.cells
    # One more below, because the first of the record's own cell is the record itself.
    lower, gaps = _nearest(placed, record - placed.steps, bound, most + 1, equal=True)
    upper, above = _nearest(placed, placed.steps - record, bound, most, equal=False)
    place = np.arange(len(lower)) - np.searchsorted(lower, lower)
    kept = np.where(lower == bound.space.own_cell, place >= 1, place < most)
    return NearestValues(
        record,
        Ragged.of(lower[kept], record - gaps[kept], number),
        Ragged.of(upper, record + above, number),
    )


def sorted_values(table: ir.Table, bound: ExplainBinding) -> SortedValues:
    """Return all values of each cell in order and how often each is there, the record's own taken out once.

    Values, not rows: of a metric with a declared step there are few, however many rows there are.
    """
    placed, steps = in_cells(table, bound), bound.metric_steps
    span = steps.steps(steps.high) + 1
    # One number for a cell and a value in it: below 2^57, and half of what an engine and we would hold.
    keyed = placed.select(key=placed.cell * span + placed.steps)
    counted = keyed.group_by("key").agg(records=keyed.count()).order_by("key")
    own = bound.space.own_cell * span + bound.record_steps
    values, counts, sizes = [], [], np.zeros(bound.space.cells, np.int64)
    for batch in collect_batches(counted, ROWS):
        keys = batch.column("key").to_numpy()
        others = batch.column("records").to_numpy() - (keys == own)
        keys, others = keys[others > 0], others[others > 0]
        cells = keys // span
        values.append(keys - cells * span)
        counts.append(others)
        sizes += np.bincount(cells, minlength=len(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return SortedValues(bound.record_steps, Ragged(_joined(values), offsets), _joined(counts))


def distance_sums(table: ir.Table, bound: ExplainBinding, counts: Integers) -> DistanceSums:
    """Return exact sums of distances and their squares for each cell; the record adds nothing to either."""
    placed = in_cells(table, bound)
    distance = placed.steps - bound.record_steps
    # Floor division keeps the low part in 0..2^18, whatever the sign, on every engine.
    high = (distance.cast("float64") / float(1 << HALF)).floor().cast("int64")
    low = distance - high * (1 << HALF)
    parts = placed.mutate(distance=distance, high=high, low=low)
    sums = {
        "sums": parts.distance.sum(),
        "high_squares": (parts.high * parts.high).sum(),
        "products": (parts.high * parts.low).sum(),
        "low_squares": (parts.low * parts.low).sum(),
    }
    # Engines sum in more than 64 bits; so must the result be, or the number of rows would decide a failure.
    wide = {name: total.cast("decimal(38, 0)") for name, total in sums.items()}
    found = collect(parts.group_by("cell").agg(**wide))
    cells = found.column("cell").to_pylist()

    def spread(name: str) -> list[int]:
        values = [0] * bound.space.cells
        for cell, total in zip(cells, found.column(name).to_pylist(), strict=True):
            values[cell] = int(total)
        return values

    squares = squares_of(spread("high_squares"), spread("products"), spread("low_squares"))
    return DistanceSums(counts, spread("sums"), squares)


def _joined(parts: list[Integers]) -> Integers:
    """Return arrays end to end, and let go of each as soon as it is copied: there may be many values."""
    whole, filled = np.empty(sum(map(len, parts)), np.int64), 0
    while parts:
        part = parts.pop(0)
        whole[filled : filled + len(part)] = part
        filled += len(part)
    return whole


def _nearest(
    placed: ir.Table, gap: ir.IntegerValue, bound: ExplainBinding, most: int, *, equal: bool
) -> tuple[Integers, Integers]:
    """Return the cells and the smallest gaps of each, in order; of gaps below 0 none."""
    side = placed.select("cell", gap=gap)
    side = side.filter(side.gap >= 0 if equal else side.gap > 0)
    found = collect(lookup.of(placed).smallest(side, most, bound.space.cells))
    cells, gaps = (found.column(name).to_numpy() for name in ("cell", "gap"))
    order = np.lexsort((gaps, cells))
    return cells[order], gaps[order]
