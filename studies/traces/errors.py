# SPDX-License-Identifier: Apache-2.0
"""Relative errors of released counts, and their means over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers


def relative_errors(counts: Integers, found: npt.NDArray[Any]) -> dict[str, float]:
    """Return mean, median and 95th percentile of the relative errors (δ = 1).

    Examples
    --------
    >>> relative_errors(np.array([0, 10]), np.array([1, 5]))
    {'mre': 0.75, 'rel50': 0.75, 'rel95': 0.975}
    """
    relative = np.abs(counts - found) / np.maximum(counts, 1)
    median, high = np.percentile(relative, [50, 95])
    return {"mre": float(relative.mean()), "rel50": float(median), "rel95": float(high)}


def means(drawn: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return the means of each series' measures.

    Examples
    --------
    >>> means({"sample": [{"mre": 1.0}, {"mre": 3.0}]})
    {'sample': {'mre': 2.0}}
    """
    return {
        name: {measure: float(np.mean([each[measure] for each in runs])) for measure in runs[0]}
        for name, runs in drawn.items()
    }
