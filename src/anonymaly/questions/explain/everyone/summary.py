# SPDX-License-Identifier: Apache-2.0
"""The only part of ``explain`` for everyone that reads rows: counts by cell and step of the metric.

A cell is one code of every attribute, so each record with a metric is in one; one without is in no group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.engine.statements import collect

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.questions.explain.everyone.axes import GroupAxis
    from anonymaly.questions.explain.everyone.binding import EveryoneBinding


@dataclass(frozen=True)
class StepCounts:
    """How many records there are of each cell and step that has any, in order."""

    cells: Integers
    steps: Integers
    counts: Integers

    def by_cell(self, cells: int, steps: int) -> Integers:
        """Return the counts of every cell and step; of 32 bits, where all of them together fit."""
        kind: Any = np.int32 if int(self.counts.sum()) < 2**31 else np.int64
        wide: Integers = np.zeros(cells * steps, kind)
        wide[self.cells * steps + self.steps] = self.counts
        return wide.reshape(cells, steps)


def count_steps_by_cell(table: ir.Table, bound: EveryoneBinding) -> StepCounts:
    """Count the records of every cell and step."""
    cell: ir.IntegerValue = ibis.literal(0, "int64")
    for axis in bound.axes:
        cell = cell * axis.codes + axis.to_ibis(table)
    placed = table.select(cell=cell, step=bound.grid.to_ibis(table[bound.metric]))
    placed = placed.filter(placed.step.notnull())
    found = collect(placed.group_by(["cell", "step"]).agg(records=placed.count()).order_by(["cell", "step"]))
    cells, steps, counts = (found.column(name).to_numpy() for name in ("cell", "step", "records"))
    return StepCounts(*(np.ascontiguousarray(item, np.int64) for item in (cells, steps, counts)))


def count_steps_of_groups(
    table: ir.Table, bound: EveryoneBinding, names: Sequence[Sequence[int]]
) -> list[Integers]:
    """Count the records of each step in each of some groups, in one pass."""
    if not names:
        return []
    inside = {f"group{place}": in_group(table, bound.axes, name) for place, name in enumerate(names)}
    placed = table.select(step=bound.grid.to_ibis(table[bound.metric]), **inside)
    placed = placed.filter(placed.step.notnull())
    sums = {name: placed.count(where=placed[name]) for name in inside}
    found = collect(placed.group_by("step").agg(**sums))
    steps = found.column("step").to_numpy()
    counts = []
    for name in inside:
        each = np.zeros(bound.grid.steps, np.int64)
        each[steps] = found.column(name).to_numpy()
        counts.append(each)
    return counts


def in_group(table: ir.Table, axes: Sequence[GroupAxis], name: Sequence[int]) -> ir.BooleanValue:
    """Return for every row whether it is in a group; any value is no condition."""
    conditions = [
        axis.to_ibis(table).isin(np.flatnonzero(axis.inside(option)).tolist())
        for axis, option in zip(axes, name, strict=True)
        if option != axis.options - 1
    ]
    found: ir.BooleanValue = ibis.and_(*conditions) if conditions else ibis.literal(True)
    return found
