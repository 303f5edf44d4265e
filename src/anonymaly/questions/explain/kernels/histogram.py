# SPDX-License-Identifier: Apache-2.0
"""The histogram detector for one record in every context, from the sorted values of each base cell.

A context's range and size give the first and last grid point of V's bin; its verdict needs how many of its
values lie between. Counts below a few hundred edges, dense near V and sparser away from it, are kept for each
class of cells, so a context's count is bounded from both sides by a few additions. Only where those bounds
leave the verdict open are values looked at: those between two edges, cell by cell. All of it is done in whole
numbers; the work does not grow with the number of records but for the number of edges, logarithmically.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.detectors import Histogram, decimal
from anonymaly.questions.explain.kernels import histogram_compiled
from anonymaly.questions.explain.kernels.cells import AllValues, SortedValues, check_span
from anonymaly.questions.explain.kernels.histogram_compiled import CellValues, ClassesBelow, Extent
from anonymaly.questions.explain.kernels.kernel import Kernel, Progress
from anonymaly.questions.explain.kernels.order import order_of, share_few, share_out
from anonymaly.questions.explain.space import ContextSpace

SINGLE_EDGES = 32  # of the nearest values on each side every one is an edge
GROWTH = 24  # then every next edge leaves out a twenty-fourth of the values so far


class HistogramKernel(Kernel[SortedValues, Histogram]):
    """Says in which contexts a record's bin of the histogram is nearly empty.

    Parameters
    ----------
    space
        The contexts.
    cells
        All values of each base cell in order.
    detector
        The fraction that an outlier's bin does not reach.

    Examples
    --------
    >>> from anonymaly.questions.explain.kernels.cells import Ragged
    >>> space = ContextSpace((2,), (0,))
    >>> others = Ragged(np.array([1, 2, 3, 4, 5, 6, 7, 88, 89]), np.array([0, 7, 9]))
    >>> kernel = HistogramKernel(space, SortedValues(90, others), Histogram(fraction=0.2))
    >>> kernel.valid().tolist()
    [True, False]
    >>> kernel.valid_at([1]).tolist()
    [False]
    """

    def __init__(self, space: ContextSpace, cells: SortedValues, detector: Histogram) -> None:
        self._space = space
        others = cells.others.checked(space)
        values, offsets = others.values - cells.record, others.offsets
        falls = np.flatnonzero(values[1:] < values[:-1]) + 1
        if not np.isin(falls, offsets).all():
            raise ValueError("the values of a cell should be in order")
        check_span(values.min(initial=0), values.max(initial=0))
        fraction = decimal(detector.fraction)
        self._fraction = fraction.numerator, fraction.denominator
        edges = _edges(np.sort(values))
        totals = np.concatenate([[0], np.cumsum(cells.counted)])
        places = np.stack([np.searchsorted(values[start:end], edges) for start, end in pairwise(offsets)])
        before = totals[offsets[:-1], np.newaxis]
        self._cells = CellValues(
            bits=space.cell_bits,
            values=values,
            offsets=offsets,
            totals=totals,
            edges=edges,
            places=places.astype(np.int64),
            below=totals[offsets[:-1, np.newaxis] + places] - before,
        )
        # V, at 0, is in every context: it may stand for a cell without values.
        self._extent = Extent(np.diff(totals[offsets]), *np.zeros((2, space.cells), dtype=np.int64))
        filled = np.flatnonzero(self._extent.counts)
        self._extent.smallest[filled] = np.minimum(values[offsets[filled]], 0)
        self._extent.largest[filled] = np.maximum(values[offsets[filled + 1] - 1], 0)

    @classmethod
    def needs(cls, detector: Histogram) -> AllValues:
        """All values: any of them may be at the edge of V's bin."""
        return AllValues()

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; ``progress`` gets how many are done."""
        order = order_of(self._space)
        extent = Extent(
            order.prefix_table(self._extent.counts, np.add),
            order.prefix_table(self._extent.smallest, np.minimum),
            order.prefix_table(self._extent.largest, np.maximum),
        )
        edges = len(self._cells.edges)
        below = np.zeros((order.fields[0].classes, edges), dtype=np.int64)
        below[order.first_classes] = self._cells.below
        later = max([field.classes for field in order.fields[1:]], default=1)
        verdicts = np.empty(self._space.size, dtype=np.bool_)

        def work(start: int, end: int) -> None:
            histogram_compiled.judge_prefixes(
                start, end, order.arrays, order.inner.shift, extent, self._cells,
                ClassesBelow(below, np.empty((len(order.fields), later, edges), dtype=np.int64)),
                Extent(*np.empty((3, 1 << order.inner.bits), dtype=np.int64)), self._fraction, verdicts,
            )  # fmt: skip

        share_out(order, work, progress)
        return verdicts

    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
        chosen = self._space.checked(indices)
        verdicts = np.empty(len(chosen), dtype=np.bool_)
        share_few(
            len(chosen),
            lambda start, end: histogram_compiled.judge_contexts(
                chosen[start:end], self._extent, self._cells, self._fraction, verdicts[start:end]
            ),
        )
        return verdicts


def _edges(ordered: Integers) -> Integers:
    """Return edges among the values: the nearest to 0 on both sides, then ever fewer, and the ends."""
    ranks = list(range(SINGLE_EDGES))
    while ranks[-1] < len(ordered):
        ranks.append(ranks[-1] + max(1, ranks[-1] // GROWTH))
    steps = np.array(ranks, dtype=np.int64)
    middle = int(np.searchsorted(ordered, 0))
    places = np.concatenate([middle - steps, middle + steps])
    kept = ordered[places[(places >= 0) & (places < len(ordered))]]
    ends = [min(int(ordered[0]), 0), max(int(ordered[-1]), 0) + 1] if len(ordered) else [0, 1]
    return np.unique(np.concatenate([kept, kept + 1, ends])).astype(np.int64)
