# SPDX-License-Identifier: Apache-2.0
"""Any detector in every context, one context after another: for detectors without a kernel of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans
from anonymaly.detectors import Detector
from anonymaly.questions.explain.kernels import MOST_BITS_GENERIC
from anonymaly.questions.explain.kernels.cells import AllValues, SortedValues
from anonymaly.questions.explain.kernels.kernel import Kernel, Progress
from anonymaly.questions.explain.kernels.order import CHUNKS
from anonymaly.questions.explain.space import ContextSpace

MOST_CONTEXTS = 1 << MOST_BITS_GENERIC


class GenericKernel(Kernel[SortedValues, Detector]):
    """Says in which contexts a detector calls a record an outlier, by trying it on each context's values.

    Parameters
    ----------
    space
        The contexts: at most 65,536, unless only some are asked for.
    cells
        All values of each base cell.
    detector
        Any detector.

    Examples
    --------
    >>> from anonymaly.detectors import MedianAbsoluteDeviation
    >>> from anonymaly.questions.explain.kernels.cells import Ragged
    >>> space = ContextSpace((2,), (0,))
    >>> others = Ragged(np.array([1, 2, 3, 1, 8, 9, 8, 9]), np.array([0, 4, 8]))
    >>> GenericKernel(space, SortedValues(9, others), MedianAbsoluteDeviation()).valid().tolist()
    [True, False]
    """

    def __init__(self, space: ContextSpace, cells: SortedValues, detector: Detector) -> None:
        self._space, self._detector = space, detector
        self._value = np.array([cells.record], dtype=np.int64)
        others = cells.others.checked(space)
        self._values, self._cells = others.values, others.cells
        self._counts = cells.counted

    @classmethod
    def needs(cls, detector: Detector) -> AllValues:
        """All values: a detector may look at any of them."""
        return AllValues()

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; ``progress`` gets how many are done."""
        size = self._space.size
        if size > MOST_CONTEXTS:
            raise ValueError(
                f"{self._detector.name} tries each context: {size} are more than {MOST_CONTEXTS}"
            )
        verdicts = np.empty(size, dtype=np.bool_)
        step = -(-size // CHUNKS)
        for start in range(0, size, step):
            end = min(start + step, size)
            verdicts[start:end] = self.valid_at(np.arange(start, end))
            if progress is not None:
                progress(end)
        return verdicts

    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
        verdicts = [self._verdict(inside[self._cells]) for inside in self._space.members(indices)]
        return np.array(verdicts, dtype=np.bool_)

    def _verdict(self, inside: Booleans) -> bool:
        values = np.concatenate([self._value, self._values[inside]])
        counts = np.concatenate([np.ones(1, np.int64), self._counts[inside]])
        return self._detector.is_outlier_among(values, counts, 0)
