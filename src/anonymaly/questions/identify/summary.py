# SPDX-License-Identifier: Apache-2.0
"""The only part of ``identify`` that reads rows: how many are around each record, and how many equal it.

Three ways give the same counts (see ways.py). Engines compare as balls.py says, operation by operation,
and no row may make a statement fail where others would not: most engines stop at a number that is too
large or too small for them, so gaps are moved to where squares are neither, and what is divided to nothing
is nothing. Neither changes a verdict, for radii and records within the limits of balls.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import ibis
import numpy as np
import pyarrow as pa

from anonymaly.core.arrays import Floats, Integers
from anonymaly.declare.readings import code
from anonymaly.engine import lookup
from anonymaly.engine.arithmetic import divided, exact
from anonymaly.engine.statements import EngineFailure, collect, collect_batches
from anonymaly.questions.identify.axes import Axis
from anonymaly.questions.identify.balls import BallCounts, Balls
from anonymaly.questions.identify.kernels.counter import BATCH, BallCounter
from anonymaly.questions.identify.ways import Way, cell_widths, choose_way, grid_axes

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Their squares add nothing to, or exceed, the square of any radius that balls take.
LEAST_GAP, MOST_GAP = 1e-150, 1e150


def place_rows(table: ir.Table, axes: Sequence[Axis]) -> ir.Table:
    """Return the model's columns of the rows as numbers that the counting takes."""
    return table.select(**{axis.column: coordinate(table, axis) for axis in axes})


def coordinate(table: ir.Table, axis: Axis) -> ir.FloatingValue:
    """Return a column's coordinates, before they are divided by the scale; null where a row has no value.

    Moving values into their bounds brings no two of them farther apart, which Lemma 7 rests on.
    """
    if axis.attribute is not None:
        return code(axis.attribute, table).cast("float64")
    assert axis.domain is not None  # noqa: S101 - an axis is the one or the other
    low, high = (
        # As text, because some engines read a plain number as a decimal and round it once more.
        ibis.literal(repr(float(end))).cast("float64")
        for end in (axis.domain.low, axis.domain.high)
    )
    return table[axis.column].clip(lower=low, upper=high)


def count_neighbours(
    table: ir.Table,
    balls: Balls,
    columns: Sequence[str],
    scales: Sequence[float],
    *,
    way: Way | None = None,
) -> BallCounts:
    """Count the rows in each ball, and those equal to its point.

    Parameters
    ----------
    table
        A view with the columns as float64; a row with a null is in no ball.
    balls
        The points, divided by the scales.
    columns, scales
        The columns in the order of the points' coordinates, and what each is divided by.
    way
        How to count; by default as ways.py chooses.
    """
    chosen = way or choose_way(balls, remote=not _is_local(table))
    match chosen:
        case "statement":
            return _by_statement(table, balls, columns, scales)
        case "grid":
            try:
                return _by_grid(table, balls, columns, scales)
            except EngineFailure:
                # Points go to the engine as a temporary table, which not every user or replica may make.
                return _by_stream(table, balls, columns, scales)
        case "stream":
            return _by_stream(table, balls, columns, scales)


def read_points(table: ir.Table, columns: Sequence[str], scales: Sequence[float]) -> Floats:
    """Return the coordinates of all rows that have them, for tables without secrets."""
    rows = np.concatenate([part.copy() for part in _rows(table, columns, scales)])
    whole: Floats = rows[~np.isnan(rows).any(axis=1)]
    return whole


def _by_statement(
    table: ir.Table, balls: Balls, columns: Sequence[str], scales: Sequence[float]
) -> BallCounts:
    """Compare every row with every point in one statement."""
    placed = _placed(table, columns, scales)
    sums: dict[str, ir.IntegerScalar] = {}
    for number, point in enumerate(balls.queries.tolist()):
        values = [exact(value) for value in point]
        sums[f"within{number}"] = _number(_is_near(placed, values, balls))
        sums[f"own{number}"] = _number(_is_equal(placed, values))
    found = collect(placed.aggregate(**sums))
    within = [int(found.column(f"within{number}")[0].as_py()) for number in range(len(balls.queries))]
    own = [int(found.column(f"own{number}")[0].as_py()) for number in range(len(balls.queries))]
    return _stopped(np.array(within, np.int64), np.array(own, np.int64), balls)


def _by_grid(table: ir.Table, balls: Balls, columns: Sequence[str], scales: Sequence[float]) -> BallCounts:
    """Join rows with the points in their own and the neighbouring cells of a grid, on the engine."""
    placed = _placed(table, columns, scales)
    widths, axes = cell_widths(balls), grid_axes(balls).tolist()
    cells = {f"cell{axis}": _cell(placed[f"x{axis}"], balls.queries[:, axis], widths[axis]) for axis in axes}
    near = placed.mutate(**cells).join(_points(balls, widths, axes), [f"cell{axis}" for axis in axes])
    matched = near.filter(_is_near(near, _of_point(near, columns), balls))
    own = _number(_is_equal(matched, _of_point(matched, columns)))
    found = collect(matched.group_by("number").agg(within=matched.count(), own=own))
    numbers = found.column("number").to_numpy()

    def spread(name: str) -> Integers:
        counts = np.zeros(len(balls.queries), np.int64)
        counts[numbers] = [int(item) for item in found.column(name).to_pylist()]
        return counts

    return _stopped(spread("within"), spread("own"), balls)


def _of_point(near: ir.Table, columns: Sequence[str]) -> list[ir.FloatingValue]:
    return [near[f"point{axis}"] for axis in range(len(columns))]


def _cell(column: ir.FloatingValue, points: Floats, width: float) -> ir.FloatingValue:
    """Number a row's cell; rows far from all points are moved nearer first, as their cell has no number."""
    most = float(np.abs(points).max() + 4 * width)
    inside = ibis.greatest(ibis.least(column, exact(most)), exact(-most))
    return divided(inside, float(width)).floor()


def _points(balls: Balls, widths: Floats, axes: Sequence[int]) -> ir.Table:
    """Return each point once for each cell in which rows of its ball may be."""
    cells = [np.floor(balls.queries[:, axis] / widths[axis]) for axis in axes]
    steps = [(-1.0, 0.0, 1.0) if balls.radius else (0.0,)] * len(axes)
    parts = []
    for step in itertools.product(*steps):
        points = {f"point{axis}": balls.queries[:, axis] for axis in range(balls.queries.shape[1])}
        shifted = {f"cell{axis}": cell + move for axis, cell, move in zip(axes, cells, step, strict=True)}
        parts.append(pa.table({"number": np.arange(len(balls.queries)), **points, **shifted}))
    return ibis.memtable(pa.concat_tables(parts))


def _by_stream(
    table: ir.Table,
    balls: Balls,
    columns: Sequence[str],
    scales: Sequence[float],
) -> BallCounts:
    """Let rows come out of the engine once, through the compiled kernel."""
    counter = BallCounter(balls)
    for rows in _rows(table, columns, scales):
        counter.add(rows)
        if counter.finished:
            break
    return counter.counts()


def _rows(table: ir.Table, columns: Sequence[str], scales: Sequence[float]) -> Iterator[Floats]:
    """Yield rows as coordinates, many at a time, however few an engine hands out."""
    rows, filled = np.empty((BATCH, len(columns)), np.float64), 0
    for batch in collect_batches(table.select(*columns), BATCH):
        taken = 0
        while taken < batch.num_rows:
            part = batch.slice(taken, BATCH - filled)
            for place, (name, scale) in enumerate(zip(columns, scales, strict=True)):
                # Nulls become NaN, which is in no ball.
                values = part.column(name).to_numpy(zero_copy_only=False)
                np.divide(values, scale, out=rows[filled : filled + part.num_rows, place])
            taken, filled = taken + part.num_rows, filled + part.num_rows
            if filled == BATCH:
                yield rows
                filled = 0
    yield rows[:filled]


def _placed(table: ir.Table, columns: Sequence[str], scales: Sequence[float]) -> ir.Table:
    """Return the coordinates of the rows that have all of them."""
    placed = table.select(
        **{
            f"x{place}": divided(table[name], scale)
            for place, (name, scale) in enumerate(zip(columns, scales, strict=True))
        }
    )
    return placed.filter(*(placed[f"x{place}"].notnull() for place in range(len(columns))))


def _is_near(placed: ir.Table, point: Sequence[ir.FloatingValue], balls: Balls) -> ir.BooleanValue:
    """Compare rows with a point exactly as the compiled kernel does."""
    gaps = [(placed[f"x{axis}"] - value).abs() for axis, value in enumerate(point)]
    limit = exact(balls.limit)
    if balls.rule == "chebyshev":
        return _all([gap <= limit for gap in gaps])
    total: ir.FloatingValue | None = None
    for gap in gaps:
        # DuckDB calculates with infinity and nothing, as the kernel does, and is twice as fast by itself.
        kept = gap if _is_local(placed) else ibis.least(gap, exact(MOST_GAP))
        if balls.rule == "euclidean":
            kept = kept if _is_local(placed) else ibis.greatest(kept, exact(LEAST_GAP))
            kept = kept * kept
        total = kept if total is None else total + kept
    return total <= limit


def _is_equal(placed: ir.Table, point: Sequence[ir.FloatingValue]) -> ir.BooleanValue:
    return _all([placed[f"x{axis}"] == value for axis, value in enumerate(point)])


def _all(conditions: Sequence[ir.BooleanValue]) -> ir.BooleanValue:
    whole, *others = conditions
    for condition in others:
        whole = whole & condition
    return whole


def _is_local(table: ir.Table) -> bool:
    """Say whether the engine runs in this process."""
    return lookup.of(table).is_local


def _number(condition: ir.BooleanValue) -> ir.IntegerScalar:
    return condition.sum().fill_null(0)


def _stopped(within: Integers, own: Integers, balls: Balls) -> BallCounts:
    stopped = np.minimum(within, balls.stop)
    return BallCounts(stopped, np.where(stopped < balls.stop, own, 0))
