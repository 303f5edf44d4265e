# SPDX-License-Identifier: Apache-2.0
"""In how many of a batch's balls one record can lie: what the charge of a batch is divided by."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.questions.identify.axes import RELATIVE
from anonymaly.questions.identify.balls import Balls

FEW = 1_000  # points; to compare each with each takes milliseconds, and the compiler a second to import


def most_overlapping(points: Floats, radius: float, metric: str) -> int:
    """Return a number of balls around the points that no record can lie in more of.

    Two balls that hold the same record have centres within twice the radius of each other, in any metric.
    So the most centres near one centre, itself and its repetitions among them, are enough (Lemma 8).

    Examples
    --------
    >>> most_overlapping(np.array([[0.0], [1.0], [5.0], [5.0]]), 0.5, "euclidean")
    2
    """
    wide = Balls(points, 2 * radius * (1 + RELATIVE), metric, stop=len(points) + 1)
    if len(points) <= FEW:
        return _most_within(points, wide)
    # Here, because a preview of fewer records shall not wait for the compiler's import.
    from anonymaly.questions.identify.kernels.counter import count_balls  # noqa: PLC0415

    return int(np.max(count_balls(points, wide).within))


def _most_within(points: Floats, balls: Balls) -> int:
    """Compare all points with each other by the rule of `balls`, operation by operation."""
    sums = np.zeros((len(points), len(points)))
    for column in points.T:
        gaps = np.abs(column[:, None] - column)
        if balls.rule == "chebyshev":
            sums = np.maximum(sums, gaps)
        else:
            sums += gaps * gaps if balls.rule == "euclidean" else gaps
    return int((sums <= balls.limit).sum(axis=1).max())
