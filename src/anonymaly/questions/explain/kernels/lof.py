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

from anonymaly.core.arrays import Booleans, Bytes, Integers
from anonymaly.detectors import LocalOutlierFactor
from anonymaly.detectors.local_outlier_factor import exceeds, reach_sums
from anonymaly.questions.explain.kernels import lof_compiled
from anonymaly.questions.explain.kernels.cells import Nearest, NearestValues, Ragged, check_span
from anonymaly.questions.explain.kernels.kernel import Kernel, Progress
from anonymaly.questions.explain.kernels.lof_compiled import Side, SideLists, ValuesAround
from anonymaly.questions.explain.kernels.order import order_of, share_few, share_out
from anonymaly.questions.explain.space import ContextSpace


class LofKernel(Kernel[NearestValues, LocalOutlierFactor]):
    """Says in which contexts a record's local outlier factor is above the threshold.

    Parameters
    ----------
    space
        The contexts.
    cells
        Of each base cell at least the 2k nearest values on either side, with multiplicity, or all.
    detector
        The number of neighbours and the threshold.

    Examples
    --------
    Among values 10, 11, 12 and 13 of the first cell, 30 stands out; with 28 and 29 of the other it does not.

    >>> space = ContextSpace((2,), (0,))
    >>> below = Ragged(np.array([13, 12, 11, 10, 29, 28]), np.array([0, 4, 6]))
    >>> above = Ragged(np.array([]), np.array([0, 0, 0]))
    >>> kernel = LofKernel(space, NearestValues(30, below, above), LocalOutlierFactor(k=2))
    >>> kernel.valid().tolist()
    [True, False]
    >>> kernel.valid_at([1]).tolist()
    [False]
    """

    def __init__(self, space: ContextSpace, cells: NearestValues, detector: LocalOutlierFactor) -> None:
        self._space, self._detector = space, detector
        self._below = self._side(cells.record, cells.below, -1)
        self._above = self._side(cells.record, cells.above, 1)
        # Sums of at most k + 1 distances: both numbers are public, and so is that they fit 64 bits.
        check_span(self._below[0].min(initial=0), self._above[0].max(initial=0))

    @classmethod
    def needs(cls, detector: LocalOutlierFactor) -> Nearest:
        """2k on each side decide the factor, whatever else there is (see `reach_sums`)."""
        return Nearest(2 * detector.k)

    def _side(self, record: int, given: Ragged, sign: int) -> tuple[Integers, Integers]:
        """Return one side's distances with their sign, nearest first, each with its cell."""
        side = given.checked(self._space)
        cells, distances = side.cells, side.values - record
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
        """Return the verdict for every context; ``progress`` gets how many are done."""
        order = order_of(self._space)
        k, threshold = self._detector.k, float(self._detector.threshold)
        verdicts = np.empty(self._space.size, dtype=np.uint8)
        sides = [(distances, order.first_classes[cells]) for distances, cells in (self._below, self._above)]

        def work(start: int, end: int) -> None:
            lof_compiled.judge_prefixes(
                start, end, order.arrays, order.inner.shift, SideLists.of(sides, len(order.fields)),
                np.empty(int(order.arrays.classes.max()), dtype=np.int64),
                lof_compiled.bits_scratch(k, order.inner.bits), ValuesAround.empty(k), k, threshold, verdicts,
            )  # fmt: skip

        share_out(order, work, progress)
        return self._settled(verdicts, np.flatnonzero(verdicts == lof_compiled.UNDECIDED))

    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
        chosen = self._space.checked(indices)
        verdicts = np.empty(len(chosen), dtype=np.uint8)
        lower, upper = (
            Side(distances, self._space.cell_bits[cells]) for distances, cells in (self._below, self._above)
        )
        k, threshold = self._detector.k, float(self._detector.threshold)

        def work(start: int, end: int) -> None:
            lof_compiled.judge_contexts(
                chosen[start:end], lower, upper, ValuesAround.empty(k), k, threshold, verdicts[start:end]
            )

        share_few(len(chosen), work)
        doubtful = np.flatnonzero(verdicts == lof_compiled.UNDECIDED)
        return self._settled(verdicts, doubtful, chosen[doubtful])

    def _settled(self, verdicts: Bytes, places: Integers, contexts: Integers | None = None) -> Booleans:
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
    """Return which entries are among the first ``most`` of their cell."""
    order = np.argsort(cells, kind="stable")
    starts = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=number), out=starts[1:])
    kept = np.empty(len(cells), dtype=np.bool_)
    kept[order] = np.arange(len(cells)) - starts[cells[order]] < most
    return kept
