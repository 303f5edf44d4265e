# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a table with some rows left out, thousands of times: summaries from arrays, not an engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.questions.explain.plan import Plan
from anonymaly.questions.explain.summary import Counts, Moments, Ragged, Summary, split
from anonymaly.questions.explain.verdicts import make_kernel
from studies.pcor.asking import Asking


class Neighbours:
    """A table as base cells and steps, from which rows can be left out.

    Parameters
    ----------
    asking
        The table and the detector.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self.name = asking.name
        plan = self._plan(0)
        self._last = (0, plan)
        records = asking.records
        cells = np.zeros(records.rows.num_rows, np.int64)
        for attribute in plan.attributes:
            codes = {value: attribute.code(value) for value in attribute.values}
            column = [codes[value] for value in records.rows.column(attribute.column).to_pylist()]
            cells = cells * len(attribute.values) + np.array(column, np.int64)
        self._cells = cells
        self._steps = np.array(
            [plan.grid.steps(value) for value in records.rows.column(plan.metric).to_pylist()]
        )
        self._order = np.lexsort((self._steps, self._cells))

    @property
    def rows(self) -> int:
        """How many rows the whole table has."""
        return len(self._cells)

    def validity(self, row: int, without: Sequence[int] = ()) -> npt.NDArray[np.bool_]:
        """Return in which contexts a row stands out when others are left out."""
        if row != self._last[0]:
            self._last = (row, self._plan(row))
        plan = self._last[1]
        return make_kernel(self.summary(plan, row, without), plan).valid()

    def summary(self, plan: Plan, row: int, without: Sequence[int] = ()) -> Summary:
        """Return the summary that `explain` makes of the rows that are left."""
        kept = np.ones(self.rows, np.bool_)
        kept[[row, *without]] = False
        order = self._order[kept[self._order]]
        cells, steps = self._cells[order], self._steps[order]
        counts = Counts(True, np.bincount(cells, minlength=plan.cells))
        match plan.detector.summary:
            case "nearest":
                lower = steps <= plan.steps
                descending = np.lexsort((-steps[lower], cells[lower]))
                below = Ragged.of(cells[lower], steps[lower][descending], plan.cells)
                return Summary(counts, nearest=(below, Ragged.of(cells[~lower], steps[~lower], plan.cells)))
            case "moments":
                return Summary(counts, moments=_moments(cells, steps - plan.steps, plan.cells))
            case _:
                return Summary(counts, values=Ragged.of(cells, steps, plan.cells))

    def _plan(self, row: int) -> Plan:
        return self._asking.plan(self._asking.question(row, "0.2"))


def _moments(cells: Integers, distances: Integers, number: int) -> Moments:
    high, low = split(distances)

    def total(values: Integers) -> Integers:
        sums = np.zeros(number, np.int64)
        np.add.at(sums, cells, values)
        return sums

    return Moments(total(distances), total(high * high), total(high * low), total(low * low))
