# SPDX-License-Identifier: Apache-2.0
"""In how many of a batch's balls one record can lie: what the charge of a batch is divided by."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.questions.identify.axes import RELATIVE
from anonymaly.questions.identify.balls import Balls


def most_overlapping(points: Floats, radius: float, metric: str) -> int:
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
    # Here, because a preview of one record shall not wait for the compiler's import.
    from anonymaly.questions.identify.kernels.counter import count_balls  # noqa: PLC0415

    wide = Balls(points, 2 * radius * (1 + RELATIVE), metric, stop=len(points) + 1)
    return int(np.max(count_balls(points, wide).within))
