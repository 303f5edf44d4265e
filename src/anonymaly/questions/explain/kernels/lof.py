# SPDX-License-Identifier: Apache-2.0
"""The local outlier factor of one record in every context, from the values nearest to it in each base cell.

Distances and reach sums are whole numbers and exact. Only the last step, V's reach sum times the mean of the
neighbours' inverses, is done in doubles, with a bound on its rounding; the few factors within that bound of
the threshold are settled with fractions. The verdicts are those of `anonymaly.detectors.LocalOutlierFactor`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.detectors import LocalOutlierFactor
from anonymaly.detectors.local_outlier_factor import exceeds, reach_sums
from anonymaly.questions.explain.kernels import lof_compiled
from anonymaly.questions.explain.kernels.cells import check_span, checked_ragged, labels_of
from anonymaly.questions.explain.kernels.order import Progress, share_few, share_out, walk
from anonymaly.questions.explain.space import ContextSpace


class LofKernel:
    """Says in which contexts a record's local outlier factor is above the threshold.

    Parameters
    ----------
    space
        The contexts.
    value
        The record's value on the metric's grid.
    below_values, below_offsets
        Of each base cell the other records' values at most as large as the record's, nearest first: at
        least the 2k nearest, with multiplicity, or all. Cell c's lie from ``offsets[c]`` to ``offsets[c+1]``.
    above_values, above_offsets
        The same of the larger values.
    detector
        The number of neighbours and the threshold.

    Examples
    --------
    Among values 10, 11, 12 and 13 of the first cell, 30 stands out; with 28 and 29 of the other it does not.

    >>> space = ContextSpace((2,), (0,))
    >>> below = [13, 12, 11, 10, 29, 28], [0, 4, 6]
    >>> kernel = LofKernel(space, 30, *below, [], [0, 0, 0], LocalOutlierFactor(k=2))
    >>> kernel.valid().tolist()
    [True, False]
    >>> kernel.valid_at([1]).tolist()
    [False]
    """

    def __init__(
        self,
        space: ContextSpace,
        value: int,
        below_values: npt.ArrayLike,
        below_offsets: npt.ArrayLike,
        above_values: npt.ArrayLike,
        above_offsets: npt.ArrayLike,
        detector: LocalOutlierFactor,
    ) -> None:
        self._space, self._detector = space, detector
        self._below = self._side(value, below_values, below_offsets, -1)
        self._above = self._side(value, above_values, above_offsets, 1)
        check_span(
            min(self._below[0], default=0),
            max(self._above[0], default=0),
            len(self._below[0]) + len(self._above[0]),
        )

    def _side(
        self, value: int, values: npt.ArrayLike, offsets: npt.ArrayLike, sign: int
    ) -> tuple[Integers, Integers]:
        """Return one side's distances with their sign, nearest first, each with its cell."""
        numbers, bounds = checked_ragged(self._space, values, offsets)
        cells = labels_of(bounds)
        distances = numbers - value
        if ((distances > 0) if sign < 0 else (distances <= 0)).any():
            raise ValueError(
                "values equal to the record's belong to the lower side, larger ones to the upper"
            )
        # Equal distances on one side are equal values: their order makes no difference.
        order = np.argsort(sign * distances, kind="stable")
        distances, cells = distances[order], cells[order]
        kept = _first_of_each(cells, self._space.cells, 2 * self._detector.k)
        return np.ascontiguousarray(distances[kept]), np.ascontiguousarray(cells[kept])

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; progress is told how many are done."""
        order = walk(self._space)
        k, threshold = self._detector.k, self._detector.threshold
        verdicts = np.empty(self._space.size, dtype=np.uint8)
        bases, (bits, slots, merged) = order.prefix_bases, order.padded()
        sides = [(distances, order.first_classes[cells]) for distances, cells in (self._below, self._above)]
        longest = max(1, len(sides[0][0]), len(sides[1][0]))
        counts = np.array([field.classes for field in order.fields], dtype=np.int64)

        def work(start: int, end: int) -> None:
            lists = np.empty((2, len(bits), longest), dtype=np.int64)
            labels = np.empty((2, len(bits), longest), dtype=np.int64)
            lengths = np.empty((2, len(bits)), dtype=np.int64)
            for side, (distances, classes) in enumerate(sides):
                lists[side, 0, : len(distances)] = distances
                labels[side, 0, : len(classes)] = classes
                lengths[side, 0] = len(distances)
            filled = np.empty(int(counts.max()), dtype=np.int64)
            admitted = lof_compiled.bits_scratch(k, order.inner.bits)
            room = lof_compiled.row_scratch(k)
            lof_compiled.judge_prefixes(
                start, end, bases, order.inner.shift, bits, counts, slots, merged, lists, labels, lengths,
                filled, admitted, *room, k, threshold, verdicts,
            )  # fmt: skip

        share_out(order, work, progress)
        return self._settled(verdicts, np.flatnonzero(verdicts == lof_compiled.UNDECIDED))

    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
        chosen = self._space.checked(indices)
        verdicts = np.empty(len(chosen), dtype=np.uint8)
        (lower, lower_cells), (upper, upper_cells) = self._below, self._above
        lower_bits, upper_bits = self._space.cell_bits[lower_cells], self._space.cell_bits[upper_cells]
        k, threshold = self._detector.k, self._detector.threshold

        def work(start: int, end: int) -> None:
            lof_compiled.judge_contexts(
                chosen[start:end], lower, lower_bits, upper, upper_bits,
                *lof_compiled.row_scratch(k), k, threshold, verdicts[start:end],
            )  # fmt: skip

        share_few(len(chosen), work)
        doubtful = np.flatnonzero(verdicts == lof_compiled.UNDECIDED)
        return self._settled(verdicts, doubtful, chosen[doubtful])

    def _settled(
        self, verdicts: npt.NDArray[np.uint8], places: Integers, contexts: Integers | None = None
    ) -> Booleans:
        """Replace the undecided verdicts by exact ones."""
        result: Booleans = verdicts.astype(np.bool_)
        for place, context in zip(places, places if contexts is None else contexts, strict=True):
            inside = self._space.members(context)[0]
            near = [
                distances[inside[cells]][: 2 * self._detector.k]
                for distances, cells in (self._below, self._above)
            ]
            own, others = reach_sums(np.concatenate([[0], *near]), 0, self._detector.k)
            result[place] = _exceeds(own, tuple(sorted(others)), self._detector)
        return result


@lru_cache(maxsize=1 << 14)
def _exceeds(own: int, others: tuple[int, ...], detector: LocalOutlierFactor) -> bool:
    # Factors equal to the threshold come from few distances between many equal values, again and again.
    return exceeds(own, others, detector.limit)


def _first_of_each(cells: Integers, number: int, most: int) -> Booleans:
    """Return which entries are among the first so many of their cell."""
    order = np.argsort(cells, kind="stable")
    starts = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=number), out=starts[1:])
    kept = np.empty(len(cells), dtype=np.bool_)
    kept[order] = np.arange(len(cells)) - starts[cells[order]] < most
    return kept
