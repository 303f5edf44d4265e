# SPDX-License-Identifier: Apache-2.0
"""The only part of ``score`` that reads rows: counts for a model, for bounds and for a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis
import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.engine.statements import collect, collect_batches
from anonymaly.questions.score.bounds import BINS, LARGEST, MIDDLE, SMALLEST
from anonymaly.questions.score.methods.method import ScoringMethod, coordinate
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_edges import Edges, together
from anonymaly.questions.score.methods.mixed_layout import HistogramLayout
from anonymaly.questions.score.space import Space, complete
from anonymaly.questions.score.value import Model

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

BATCH = 1_000_000


def count_records(table: ir.Table, columns: Sequence[str]) -> int:
    """Count the records that have a value in every column."""
    records = complete(table, columns).count().name("records")
    return int(collect(records).column("records")[0].as_py())


def count_magnitudes(table: ir.Table, columns: Sequence[str], unknown: Sequence[str]) -> Integers:
    """Count, for each unbounded column, the records between powers of two.

    Records without a value in one of ``columns`` are not counted, nor those without one in the column itself.
    """
    counts = np.zeros((len(unknown), BINS), np.int64)
    for place, name in enumerate(unknown):
        records = complete(table, columns or [name])
        bins = records.select(bin=_magnitude(records[name]))
        found = collect(bins.group_by("bin").agg(records=bins.count()))
        counts[place, found.column("bin").to_numpy()] = found.column("records").to_numpy()
    return counts


def _magnitude(column: ir.NumericValue) -> ir.IntegerValue:
    """Return the bin of each value: the distance from the middle bin is given by its exponent."""
    size = column.abs().clip(lower=2.0**SMALLEST, upper=2.0**LARGEST)
    guess = size.log2().cast("float64").floor()
    power = (ibis.literal(2.0) ** guess).cast("float64")
    # Engines round logarithms differently next to powers of two; the powers themselves are exact.
    mended = ibis.cases((size < power, guess - 1.0), (size >= 2.0 * power, guess + 1.0), else_=guess)
    beyond = (mended - (SMALLEST - 1.0)).cast("int64")
    near = column.abs() < 2.0**SMALLEST
    return ibis.cases((near, MIDDLE), (column < 0, MIDDLE - beyond), else_=MIDDLE + beyond).cast("int64")


def count_for(method: ScoringMethod, space: Space, table: ir.Table) -> pa.Table:
    """Count the records of the unit cube as the method wants: one engine aggregate."""
    return collect(method.count(space.cube(table)))


def count_bins(method: MixedMethod, space: Space, table: ir.Table, edges: Sequence[Edges]) -> Integers:
    """Count the records of each number's bins; those without a value are in none of them."""
    plain = HistogramLayout(method.labels, pair_bins=0, sketches=0, side=0, coins=0)
    columns, _, _ = plain.arrays(collect(plain.count(space.cube(table))))
    numbers = [columns[axis] for axis in plain.numbers]
    return np.concatenate([together(cells[:-1], each) for cells, each in zip(numbers, edges, strict=True)])


def count_scores(table: ir.Table, model: Model, edges: Floats) -> Integers:
    """Stream the reference records through a released model; count scores between the public edges.

    Place 0 holds the scores at or below ``edges[0]``, place i those above ``edges[i - 1]``, up to
    ``edges[i]``.
    """
    counts = np.zeros(len(edges) + 1, np.int64)
    names = [coordinate(axis) for axis in range(len(model.columns))]
    for batch in collect_batches(model.space.cube(table), BATCH):
        points = np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in names])
        places = np.searchsorted(edges, model.score_points(points), side="left")
        counts += np.bincount(places, minlength=len(counts))
    return counts
