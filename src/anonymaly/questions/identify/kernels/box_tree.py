# SPDX-License-Identifier: Apache-2.0
"""Rows in boxes within boxes, so that a ball meets few of them.

Boxes are bounded in the way rows are compared: rounding is monotone, so the sum of the gaps to a box's
nearest or farthest corner, by the same operations in the same order, is never above or below the sum of any
row in it. A box can therefore be counted or skipped as a whole without changing a single verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.threads import in_threads, worker_threads
from anonymaly.questions.identify.kernels.loops import (
    arrange,
    copy_whole_rows,
    count_range,
    merge_boxes,
    split,
)

LEAF = 64  # rows; fewer make more boxes than they save
CHUNK = 1024  # points that a thread takes at once
CROWDS, POINTS_PER_CROWD = 64, 4096  # a crowd is worth its search if thousands of points may share it
HALVINGS = 6  # of a crowd's radius
SORTED_COLUMNS, SORTED_BITS, SORTED_SAMPLE = 4, 4, 10_000
SURE = 1 - 1e-9  # of the radius: more than all rounding in a triangle


@dataclass(frozen=True)
class BoxTree:
    """A balanced tree of boxes.

    Box 1 holds all rows, and box b those of 2b and 2b+1. On level l, box i has rows n·i/2^l to n·(i+1)/2^l.

    Attributes
    ----------
    rows
        A copy of the rows; those of one last box together, column by column.
    boxes
        For each box its lower corner, then its upper one.
    depth
        The level of the last boxes.
    """

    rows: Floats
    boxes: Floats
    depth: int

    @classmethod
    def of(cls, rows: Floats) -> BoxTree:
        """Copy rows into boxes, those with a NaN left out."""
        copy = np.empty(rows.shape, np.float64)
        copy = copy[: copy_whole_rows(rows, copy)]
        number, columns = len(copy), rows.shape[1]
        depth = max(0, (number // LEAF).bit_length() - 1) if number else 0
        boxes = np.empty((2 << depth, 2 * columns), np.float64)
        threads = worker_threads() if depth > 4 else 1
        top = (threads - 1).bit_length()
        for level in range(top):
            for index in range(1 << level):
                split(copy, level, index)

        def work(index: int) -> None:
            arrange(copy, boxes, depth, top, index, np.empty(columns * 2 * LEAF, np.float64))

        if number:
            in_threads(work, range(1 << top))
            merge_boxes(boxes, top, 0, 0)
        return cls(copy, boxes, depth)

    def spread(self, number: int) -> Floats:
        """Return rows from all over the tree: one from each of ``number`` equal parts."""
        rows, columns = self.rows.shape
        leaves = np.arange(number) * (1 << self.depth) // number
        first = rows * leaves >> self.depth
        size = (rows * (leaves + 1) >> self.depth) - first
        places = first[:, None] * columns + np.arange(columns) * size[:, None]
        chosen: Floats = self.rows.reshape(-1)[places]
        return chosen


def neighbourly_order(points: Floats) -> Integers:
    """Return the points' numbers so that near ones mostly follow each other and meet the same boxes.

    On a million rows that saves a third of the time: boxes and rows are still in the processor's cache.

    Examples
    --------
    >>> neighbourly_order(np.array([[0.0], [9.0], [1.0], [8.0]])).tolist()
    [0, 2, 3, 1]
    """
    number = len(points)
    widest = np.argsort(-np.ptp(points, axis=0), kind="stable")[:SORTED_COLUMNS]
    levels = []
    for column in widest:
        sample = points[:: max(1, number // SORTED_SAMPLE), column]
        edges = np.quantile(sample, np.arange(1, 1 << SORTED_BITS) / (1 << SORTED_BITS))
        levels.append(np.searchsorted(edges, points[:, column]).astype(np.uint8))
    key = np.zeros(number, np.uint32)
    for bit in range(SORTED_BITS - 1, -1, -1):
        for level in levels:
            key = (key << np.uint32(1)) | ((level >> np.uint8(bit)) & np.uint8(1))
    return np.argsort(key, kind="stable")


@dataclass(frozen=True)
class Crowds:
    """Balls that are known to hold at least a number of rows, the smallest first.

    A point whose own ball holds one of them as a whole needs no counting. In real data nearly all do.
    """

    centres: Floats
    room: Floats  # how far a point may be from the centre: its radius less the crowd's

    @classmethod
    def none(cls, columns: int) -> Crowds:
        """Return no crowds."""
        return cls(np.empty((0, columns), np.float64), np.empty(0, np.float64))


def find_crowds(tree: BoxTree, metric: int, radius: float, stop: int, number: int) -> Crowds:
    """Look for crowds of ``stop`` rows around rows from all over the tree."""
    nothing = Crowds.none(tree.rows.shape[1])
    if not number or not radius or len(tree.rows) < stop:
        return nothing
    centres = tree.spread(number)
    count = _Counting(tree, centres, metric, nothing, stop)

    def smallest(crowd: int) -> float:
        """Halve the radius of one crowd a few times, as long as it holds ``stop`` rows."""
        low, high = 0.0, radius
        for step in range(HALVINGS + 1):
            middle = high if step == 0 else (low + high) / 2
            found = np.zeros(number, np.int64)
            count(np.array([crowd]), middle * middle if metric == 0 else middle, found, np.zeros_like(found))
            if found[crowd] >= stop:
                high = middle
            elif step == 0:
                return np.inf
            else:
                low = middle
        return high

    room = radius * SURE - np.array(in_threads(smallest, range(number)))
    order = np.argsort(-room, kind="stable")
    order = order[room[order] > 0]
    return Crowds(np.ascontiguousarray(centres[order]), room[order])


def count_in_tree(
    tree: BoxTree,
    queries: Floats,
    chosen: Integers,
    metric: int,
    radius: float,
    limit: float,
    stop: int,
    within: Integers,
    own: Integers,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Add the rows in the chosen points' balls to ``within``, up to the stop, and copies to ``own``.

    Copies are counted only where the stop was not reached.
    """
    if not len(tree.rows):
        return
    number = min(CROWDS, len(chosen) // POINTS_PER_CROWD, 1 << tree.depth)
    crowds = find_crowds(tree, metric, radius, stop, number)
    count = _Counting(tree, queries, metric, crowds, stop)
    done = 0

    def report(counted: int) -> None:
        nonlocal done
        done += counted
        if progress is not None:
            progress(done)

    parts = [chosen[start : start + CHUNK] for start in range(0, len(chosen), CHUNK)]
    in_threads(lambda part: count(part, limit, within, own), parts, each=report)


@dataclass(frozen=True)
class _Counting:
    """What one thread does for some of the points."""

    tree: BoxTree
    queries: Floats
    metric: int
    crowds: Crowds
    stop: int

    def __call__(self, chosen: Integers, limit: float, within: Integers, own: Integers) -> int:
        tree, crowds = self.tree, self.crowds
        # A box leaves at most one other waiting on each level.
        stack, sums = np.empty(tree.depth + 2, np.int64), np.empty(2 * LEAF, np.float64)
        count_range(
            tree.rows, tree.boxes, tree.depth, self.queries, chosen, self.metric, limit, self.stop,
            crowds.centres, crowds.room, within, own, stack, sums,
        )  # fmt: skip
        return len(chosen)
