# SPDX-License-Identifier: Apache-2.0
"""What judges a record in every context: one kernel for each detector.

Kernels take small summaries of base cells, never the table, and agree exactly with the plain detectors.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from anonymaly.detectors import Detector, Grubbs, Histogram, LocalOutlierFactor
from anonymaly.questions.explain.kernels.generic import MOST_CONTEXTS, GenericKernel
from anonymaly.questions.explain.kernels.grubbs import GrubbsKernel
from anonymaly.questions.explain.kernels.histogram import HistogramKernel
from anonymaly.questions.explain.kernels.lof import LofKernel
from anonymaly.questions.explain.kernels.order import Progress
from anonymaly.questions.explain.kernels.populations import overlaps, populations

__all__ = [
    "MOST_CONTEXTS",
    "GenericKernel",
    "GrubbsKernel",
    "HistogramKernel",
    "Kernel",
    "LofKernel",
    "has_compiled_kernel",
    "overlaps",
    "populations",
]


class Kernel(Protocol):
    """Says in which contexts a record is an outlier."""

    def valid(self, progress: Progress | None = None) -> npt.NDArray[np.bool_]:
        """Return the verdict for every context; progress is told, in this thread, how many are done."""

    def valid_at(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return the verdict for each of a few contexts."""


def has_compiled_kernel(detector: Detector) -> bool:
    """Return whether a detector has a kernel of its own, and so no limit of 65,536 contexts.

    Examples
    --------
    >>> from anonymaly.detectors import DETECTORS
    >>> [name for name, detector in DETECTORS.items() if not has_compiled_kernel(detector)]
    ['mad']
    """
    return isinstance(detector, LocalOutlierFactor | Grubbs | Histogram)
