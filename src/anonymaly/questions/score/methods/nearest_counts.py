# SPDX-License-Identifier: Apache-2.0
"""Counts that records could have, next to noisy ones."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Floats, Integers


def nearest_counts(noisy: Integers) -> Floats:
    """Return the counts of at least 0 that are nearest to noisy ones and have the same sum.

    To cut off at 0 alone would keep half of the noise: where most cells are empty, points drawn by such
    counts would often lie where no record is, and a threshold from their scores would flag nobody.

    Examples
    --------
    >>> nearest_counts(np.array([90, 4, -6, 2, 0])).tolist()
    [88.0, 2.0, 0.0, 0.0, 0.0]
    """
    cells, total = noisy.astype(np.float64).ravel(), float(noisy.sum())
    if total <= 0:
        return np.zeros(noisy.shape)
    largest = np.sort(cells)[::-1]
    # What each of the largest has too much, if no other is above 0.
    excess = (np.cumsum(largest) - total) / np.arange(1, len(largest) + 1)
    last = int(np.flatnonzero(largest > excess)[-1])
    nearest: Floats = np.maximum(cells - excess[last], 0.0).reshape(noisy.shape)
    return nearest
