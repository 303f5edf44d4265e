# SPDX-License-Identifier: Apache-2.0
"""The balls in which rows are counted, and the counts.

Whether a row is in a ball is one plain comparison in double precision, and the ways of counting differ in
speed alone. Column by column in the given order, ``gap = |row − point|``, and the sum grows

- euclidean: ``sum = sum + gap·gap``, in the ball if ``sum <= radius·radius``;
- manhattan: ``sum = sum + gap``, in the ball if ``sum <= radius``;
- chebyshev: ``sum = max(sum, gap)``, in the ball if ``sum <= radius``.

Each operation rounds by itself (no fused multiply-add). At radius 0 all three ask for equality, and are
counted by the last, in which no square can vanish. A row with a NaN is in no ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.errors import InputError

METRICS = ("euclidean", "manhattan", "chebyshev")
# Beyond these a square leaves the range of doubles, and with it all sense of distance; engines may fail.
SMALLEST, LARGEST, FARTHEST = 1e-140, 1e140, 1e150


@dataclass(frozen=True)
class Balls:
    """Points with a radius around each, and the count at which counting stops.

    Parameters
    ----------
    queries
        The points, (q, d), divided by the scales where the model has any.
    radius
        How far a row may be.
    metric
        How distance is measured: one of ``METRICS``.
    stop
        Counts go no higher.
    """

    queries: Floats
    radius: float
    metric: str
    stop: int

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(
                f"there is no metric {self.metric!r}",
                field="metric",
                next_step=f"One of {', '.join(METRICS)}.",
            )
        if self.radius != 0 and not SMALLEST <= self.radius <= LARGEST:
            raise InputError(
                f"must be 0 or from {SMALLEST:g} to {LARGEST:g}",
                field="radius",
                next_step="Declare the columns in units in which distances are ordinary numbers.",
            )
        if self.queries.size and np.abs(self.queries).max() > FARTHEST:
            raise InputError(
                f"has a number beyond {FARTHEST:g}",
                field="record",
                next_step="Declare the columns in units in which they are ordinary numbers.",
            )
        if self.stop < 1 or self.queries.ndim != 2 or not np.isfinite(self.queries).all():
            raise ValueError("balls need finite points, one a row, and a stop of at least 1")

    @property
    def rule(self) -> str:
        """The metric by which rows are counted: at radius 0 the one without squares."""
        return self.metric if self.radius else "chebyshev"

    @property
    def limit(self) -> float:
        """What a sum is compared with."""
        return self.radius * self.radius if self.rule == "euclidean" else self.radius


@dataclass(frozen=True)
class BallCounts:
    """For each ball how many rows are in it and how many equal its point.

    Attributes
    ----------
    within
        At most ``stop``, which means "that number or more".
    own
        Rows equal to the point in every column; 0, without any meaning, where the count was stopped.
    """

    within: Integers
    own: Integers
