# SPDX-License-Identifier: Apache-2.0
"""Any detector in every context, one context after the other: the way of a detector without a kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans
from anonymaly.detectors import Detector
from anonymaly.questions.explain.kernels.cells import checked_ragged, labels_of
from anonymaly.questions.explain.kernels.order import CHUNKS, Progress
from anonymaly.questions.explain.space import ContextSpace

MOST_CONTEXTS = 1 << 16  # some minutes on a large table


class GenericKernel:
    """Says in which contexts a detector calls a record an outlier, by trying it on each context's values.

    Parameters
    ----------
    space
        The contexts: at most 65,536, unless only some are asked for.
    value
        The record's value on the metric's grid.
    values, offsets
        The other records' values of each base cell. Cell c's lie from ``offsets[c]`` to ``offsets[c+1]``.
    detector
        Any detector.

    Examples
    --------
    >>> from anonymaly.detectors import MedianAbsoluteDeviation
    >>> space = ContextSpace((2,), (0,))
    >>> cells = [1, 2, 3, 1, 8, 9, 8, 9], [0, 4, 8]
    >>> GenericKernel(space, 9, *cells, MedianAbsoluteDeviation()).valid().tolist()
    [True, False]
    """

    def __init__(
        self,
        space: ContextSpace,
        value: int,
        values: npt.ArrayLike,
        offsets: npt.ArrayLike,
        detector: Detector,
    ) -> None:
        self._space, self._detector, self._value = space, detector, np.array([value], dtype=np.int64)
        self._values, bounds = checked_ragged(space, values, offsets)
        self._cells = labels_of(bounds)

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; progress is told how many are done."""
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
        verdicts = [
            self._detector.is_outlier(np.concatenate([self._value, self._values[inside[self._cells]]]), 0)
            for inside in self._space.members(indices)
        ]
        return np.array(verdicts, dtype=np.bool_)
