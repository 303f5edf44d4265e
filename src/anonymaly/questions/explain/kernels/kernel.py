# SPDX-License-Identifier: Apache-2.0
"""What every kernel is: small summaries of base cells in, a verdict for each context out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy.typing as npt

from anonymaly.core.arrays import Booleans
from anonymaly.detectors import Detector
from anonymaly.questions.explain.kernels.cells import CellNeed
from anonymaly.questions.explain.space import ContextSpace

Cells = TypeVar("Cells")
Rule = TypeVar("Rule", bound=Detector)
Progress = Callable[[int], object]


class Kernel(ABC, Generic[Cells, Rule]):
    """Says in which contexts a record is an outlier; agrees exactly with the plain detector.

    Parameters
    ----------
    space
        The contexts.
    cells
        What ``needs`` names, of the other records of each base cell.
    detector
        The rule, with its parameters.
    """

    @abstractmethod
    def __init__(self, space: ContextSpace, cells: Cells, detector: Rule) -> None: ...

    @classmethod
    @abstractmethod
    def needs(cls, detector: Rule) -> CellNeed:
        """Return what is to be read of each base cell."""

    @abstractmethod
    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; ``progress`` gets, in this thread, how many are done."""

    @abstractmethod
    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
