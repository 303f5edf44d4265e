# SPDX-License-Identifier: Apache-2.0
"""How many rows are within a radius of each point, counted no farther than needed.

Whether a row is in a ball is one plain comparison in double precision, and the ways of counting differ in
speed alone. Column by column in the given order, ``gap = |row − point|``, and the sum grows

- euclidean: ``sum = sum + gap·gap``, in the ball if ``sum <= radius·radius``;
- manhattan: ``sum = sum + gap``, in the ball if ``sum <= radius``;
- chebyshev: ``sum = max(sum, gap)``, in the ball if ``sum <= radius``.

Each operation rounds by itself (no fused multiply-add). At radius 0 all three ask for equality, and are
counted by the last, in which no square can vanish. A row with a NaN is in no ball.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.errors import InputError
from anonymaly.questions.identify.kernels.box_tree import BoxTree, count_in_tree, neighbourly_order

METRICS = ("euclidean", "manhattan", "chebyshev")
# Beyond these a square leaves the range of doubles, and with it all sense of distance; engines may fail.
SMALLEST, LARGEST, FARTHEST = 1e-140, 1e140, 1e150
BATCH = 1 << 20  # rows counted at once; their copy in a tree is all the memory that counting takes

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Balls:
    """Points with a radius around each, and the count from which on no more is asked.

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
        At most ``stop``, which means "so many or more".
    own
        Rows equal to the point in every column; 0 where the count was stopped, and then without meaning.
    """

    within: Integers
    own: Integers


class BallCounter:
    """Counts rows that come in batches; what is kept between them is two numbers for each ball.

    Examples
    --------
    >>> counter = BallCounter(Balls(np.array([[0.0], [9.0]]), 1.0, "euclidean", 3))
    >>> counter.add(np.array([[0.0], [0.5], [np.nan]]))
    >>> counter.add(np.array([[1.0], [1.5], [9.0]]))
    >>> counter.counts()
    BallCounts(within=array([3, 1]), own=array([0, 1]))
    """

    def __init__(self, balls: Balls, progress: Progress | None = None) -> None:
        self.balls = balls
        self._progress = progress
        number = len(balls.queries)
        self._queries = np.ascontiguousarray(balls.queries, np.float64)
        self._within = np.zeros(number, np.int64)
        self._own = np.zeros(number, np.int64)
        self._order = neighbourly_order(self._queries)

    @property
    def finished(self) -> bool:
        """Whether every count has reached the stop, so that no further row matters."""
        return bool((self._within >= self.balls.stop).all())

    def add(self, rows: Floats) -> None:
        """Count some more rows."""
        for start in range(0, len(rows), BATCH):
            open_balls = self._order[self._within[self._order] < self.balls.stop]
            if not len(open_balls):
                return
            tree = BoxTree.of(rows[start : start + BATCH])
            count_in_tree(
                tree,
                self._queries,
                open_balls,
                METRICS.index(self.balls.rule),
                self.balls.radius,
                self.balls.limit,
                self.balls.stop,
                self._within,
                self._own,
                self._told(len(open_balls)),
            )

    def counts(self) -> BallCounts:
        """Return the counts so far."""
        return BallCounts(self._within.copy(), np.where(self._within < self.balls.stop, self._own, 0))

    def _told(self, waiting: int) -> Callable[[int], object] | None:
        """Tell progress in points: those that are done for good, and those done with this batch."""
        progress, number = self._progress, len(self._queries)
        if progress is None:
            return None
        return lambda done: progress(number - waiting + done, number)


def count_balls(rows: Floats, balls: Balls, progress: Progress | None = None) -> BallCounts:
    """Count the rows of an array in each ball, on all cores.

    Parameters
    ----------
    rows
        One row a line, (n, d); rows with a NaN are in no ball.
    balls
        Where to count, and up to which number.
    progress
        Told how many points are done, and of how many.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 0.0], [4.0, 3.0]])
    >>> for metric in METRICS:
    ...     print(metric, count_balls(rows, Balls(rows[:1], 4.0, metric, 10)).within)
    euclidean [3]
    manhattan [3]
    chebyshev [4]
    """
    counter = BallCounter(balls, progress)
    counter.add(rows)
    return counter.counts()
