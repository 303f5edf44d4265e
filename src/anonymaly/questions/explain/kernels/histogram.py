# SPDX-License-Identifier: Apache-2.0
"""The histogram detector for one record in every context, from the sorted values of each base cell.

A context's range and size give the first and last grid point of V's bin; its verdict needs how many of its
values lie between. Counts below a few hundred edges, dense near V and sparser away from it, are kept for each
class of cells, so a context's count is bounded from both sides by a few additions. Only where those bounds
leave the verdict open are values looked at: those between two edges, cell by cell. All of it is done in whole
numbers; the work does not grow with the number of records but for the number of edges, logarithmically.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.detectors import Histogram, decimal
from anonymaly.questions.explain.kernels import histogram_compiled
from anonymaly.questions.explain.kernels.cells import check_span, checked_ragged, labels_of
from anonymaly.questions.explain.kernels.order import Progress, share_few, share_out, walk
from anonymaly.questions.explain.space import ContextSpace

SINGLE_EDGES = 32  # of the nearest values on each side every one is an edge
GROWTH = 24  # then every next edge leaves out a twenty-fourth of the values so far


class HistogramKernel:
    """Says in which contexts a record's bin of the histogram is nearly empty.

    Parameters
    ----------
    space
        The contexts.
    value
        The record's value on the metric's grid.
    values, offsets
        The other records' values of each base cell in order. Cell c's lie from ``offsets[c]`` to
        ``offsets[c+1]``.
    detector
        The fraction that an outlier's bin does not reach.

    Examples
    --------
    >>> space = ContextSpace((2,), (0,))
    >>> cells = [1, 2, 3, 4, 5, 6, 7, 88, 89], [0, 7, 9]
    >>> kernel = HistogramKernel(space, 90, *cells, Histogram(fraction=0.2))
    >>> kernel.valid().tolist()
    [True, False]
    >>> kernel.valid_at([1]).tolist()
    [False]
    """

    def __init__(
        self,
        space: ContextSpace,
        value: int,
        values: npt.ArrayLike,
        offsets: npt.ArrayLike,
        detector: Histogram,
    ) -> None:
        self._space = space
        numbers, self._offsets = checked_ragged(space, values, offsets)
        self._values = numbers - value
        cells = labels_of(self._offsets)
        if ((np.diff(self._values) < 0) & (np.diff(cells) == 0)).any():
            raise ValueError("the values of a cell should be in order")
        check_span(self._values.min(initial=0), self._values.max(initial=0), len(self._values))
        fraction = decimal(detector.fraction)
        self._fraction = fraction.numerator, fraction.denominator
        self._counts = np.diff(self._offsets)
        # V, at 0, is in every context: it may stand for a cell without values.
        filled = np.flatnonzero(self._counts)
        self._smallest, self._largest = np.zeros((2, space.cells), dtype=np.int64)
        self._smallest[filled] = np.minimum(self._values[self._offsets[filled]], 0)
        self._largest[filled] = np.maximum(self._values[self._offsets[filled + 1] - 1], 0)
        self._edges = _edges(np.sort(self._values))
        # How many of a cell's values lie below each edge.
        self._below = np.stack(
            [
                np.searchsorted(self._values[start:end], self._edges)
                for start, end in zip(self._offsets[:-1], self._offsets[1:], strict=True)
            ]
        ).astype(np.int64)

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; progress is told how many are done."""
        order = walk(self._space)
        bases, inner, (bits, slots, merged) = order.prefix_bases, order.inner, order.padded()
        class_counts = np.array([field.classes for field in order.fields], dtype=np.int64)
        counts = order.prefix_table(self._counts, np.add)
        smallest = order.prefix_table(self._smallest, np.minimum)
        largest = order.prefix_table(self._largest, np.maximum)
        below = np.zeros((order.fields[0].classes, len(self._edges)), dtype=np.int64)
        below[order.first_classes] = self._below
        room = max([field.classes for field in order.fields[1:]], default=1)
        cell_bits = self._space.cell_bits
        verdicts = np.empty(self._space.size, dtype=np.bool_)

        def work(start: int, end: int) -> None:
            histogram_compiled.judge_prefixes(
                start, end, bases, inner.shift, bits, class_counts, slots, merged,
                counts, smallest, largest, below,
                np.empty((len(bits), room, len(self._edges)), dtype=np.int64),
                np.empty((3, 1 << inner.bits), dtype=np.int64), self._edges, self._below,
                self._values, self._offsets, cell_bits, self._fraction, verdicts,
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
                chosen[start:end], self._counts, self._smallest, self._largest, self._edges, self._below,
                self._values, self._offsets, self._space.cell_bits, self._fraction, verdicts[start:end],
            ),
        )  # fmt: skip
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
