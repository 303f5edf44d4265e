# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a table with some rows left out, thousands of times: summaries from arrays, not an engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anonymaly.questions.explain.binding import ExplainBinding
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.kernels.cells import CellSummary
from anonymaly.questions.explain.mechanism import make_kernel
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
        bound = self._bind(0)
        self._last = (0, bound)
        records = asking.records
        cells = np.zeros(records.rows.num_rows, np.int64)
        for attribute in bound.attributes:
            codes = {value: attribute.code(value) for value in attribute.values}
            column = [codes[value] for value in records.rows.column(attribute.column).to_pylist()]
            cells = cells * len(attribute.values) + np.array(column, np.int64)
        self._cells = cells
        self._steps = np.array(
            [bound.metric_steps.steps(value) for value in records.rows.column(records.metric).to_pylist()]
        )
        self._order = np.lexsort((self._steps, self._cells))

    @property
    def rows(self) -> int:
        """How many rows the whole table has."""
        return len(self._cells)

    def validity(self, row: int, without: Sequence[int] = ()) -> npt.NDArray[np.bool_]:
        """Return in which contexts a row stands out when others are left out."""
        if row != self._last[0]:
            self._last = (row, self._bind(row))
        bound = self._last[1]
        return make_kernel(self.summary(bound, row, without), bound).valid()

    def summary(self, bound: ExplainBinding, row: int, without: Sequence[int] = ()) -> CellSummary:
        """Return the summary that `explain` makes of the rows that are left."""
        kept = np.ones(self.rows, np.bool_)
        kept[[row, *without]] = False
        order = self._order[kept[self._order]]
        need = kernel_type(bound.detector).needs(bound.detector)
        return need.of(self._cells[order], self._steps[order], bound.record_steps, bound.space.cells)

    def _bind(self, row: int) -> ExplainBinding:
        return self._asking.bind(self._asking.question(row, "0.2"))
