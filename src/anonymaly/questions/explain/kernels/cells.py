# SPDX-License-Identifier: Apache-2.0
"""Checks on the small summaries of base cells that kernels take."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.questions.explain.space import ContextSpace

# Every sum and product in the kernels stays below four times (largest distance) × (records + 1).
MOST_BITS = 61


def checked_ragged(
    space: ContextSpace, values: npt.ArrayLike, offsets: npt.ArrayLike
) -> tuple[Integers, Integers]:
    """Return the cells' values end to end and where each cell's begin, as 64-bit numbers."""
    numbers = np.asarray(values)
    bounds = np.asarray(offsets, dtype=np.int64)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"values lie on a grid of whole numbers, not {numbers.dtype}")
    if bounds.shape != (space.cells + 1,) or bounds[0] != 0 or bounds[-1] != numbers.size:
        raise ValueError(f"{space.cells} base cells need {space.cells + 1} offsets that cover all values")
    if (np.diff(bounds) < 0).any():
        raise ValueError("offsets should not decrease")
    return numbers.astype(np.int64).ravel(), bounds


def labels_of(offsets: Integers) -> Integers:
    """Return the cell of each value.

    Examples
    --------
    >>> labels_of(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def check_span(smallest: int, largest: int, records: int) -> None:
    """Refuse distances so long that sums over the records would not be exact in 64 bits."""
    span = max(int(largest), 0) - min(int(smallest), 0)
    if span * (records + 1) >= 1 << MOST_BITS:
        raise ValueError(
            f"{records} values over {span} steps are too many: round the metric to a coarser grid"
        )
