# SPDX-License-Identifier: Apache-2.0
"""Counts rows in balls, on all cores, a batch of rows at a time and no farther than each ball's stop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.questions.identify.balls import METRICS, BallCounts, Balls
from anonymaly.questions.identify.kernels.box_tree import BoxTree, count_in_tree, neighbourly_order

BATCH = 1 << 20  # rows counted at once; their copy in a tree is all the memory that counting takes

Progress = Callable[[int, int], object]


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
                self._report(len(open_balls)),
            )

    def counts(self) -> BallCounts:
        """Return the counts so far."""
        return BallCounts(self._within.copy(), np.where(self._within < self.balls.stop, self._own, 0))

    def _report(self, waiting: int) -> Callable[[int], object] | None:
        """Return what reports progress in points: those done for good, and those done with this batch."""
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
        Called with the number of points that are done, and that of all points.

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
