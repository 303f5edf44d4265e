# SPDX-License-Identifier: Apache-2.0
"""How many of a batch's answers one record can have a part in: what the batch costs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from anonymaly.questions.identify.axes import RELATIVE, Points
from anonymaly.questions.identify.balls import Balls, count_balls


def most_overlapping(points: Points, radius: float, metric: str) -> int:
    """Return a number of balls around the points that no record can lie in more of.

    Two balls that hold the same record have centres within twice the radius of each other, in any metric.
    So the most centres near one centre, itself and its repetitions among them, are enough (Lemma 8).

    Examples
    --------
    >>> most_overlapping(np.array([[0.0], [1.0], [5.0], [5.0]]), 0.5, "euclidean")
    2
    """
    if len(points) == 1:
        return 1
    return _counted(np.ascontiguousarray(points).tobytes(), points.shape, radius, metric)


@lru_cache(maxsize=16)  # a question is planned several times on its way, and its balls stay the same
def _counted(points: bytes, shape: tuple[int, ...], radius: float, metric: str) -> int:
    centres = np.frombuffer(points, np.float64).reshape(shape)
    wide = Balls(centres, 2 * radius * (1 + RELATIVE), metric, stop=len(centres) + 1)
    return int(count_balls(centres, wide).within.max())
