# SPDX-License-Identifier: Apache-2.0
"""The three ways of counting rows in balls, and which is the fastest.

All give the same counts. The choice depends on public facts alone: on what the asker gave and where the table
lives, never on how many rows there are or what is in them.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.questions.identify.balls import Balls

Way = Literal["statement", "grid", "stream"]

# How many points one statement compares with every row sooner than the rows come out and are counted here.
FEW, FEW_REMOTE = 8, 32
MOST_AXES = 3  # of a grid: with each, a point has three times as many cells to look in
MARGIN = 1 + 1e-6  # of a cell's width over the radius: more than rounding moves a row
FINEST = 1e-9  # of a coordinate: in narrower cells rounding would move rows by more than that


def choose_way(balls: Balls, *, remote: bool) -> Way:
    """Return how to count.

    A few points: one statement. Many on another machine, if a grid leaves each row few of them to be
    compared with: a join on it. Otherwise rows stream through the compiled kernel.

    Examples
    --------
    >>> points = np.arange(2000.0).reshape(1000, 2)
    >>> near, far = Balls(points, 0.5, "euclidean", 9), Balls(points, 500.0, "euclidean", 9)
    >>> choose_way(Balls(points[:3], 0.5, "euclidean", 9), remote=True)
    'statement'
    >>> choose_way(near, remote=True), choose_way(near, remote=False), choose_way(far, remote=True)
    ('grid', 'stream', 'stream')
    """
    if len(balls.queries) <= (FEW_REMOTE if remote else FEW):
        return "statement"
    return "grid" if remote and _compared(balls) <= FEW_REMOTE else "stream"


def cell_widths(balls: Balls) -> Floats:
    """Return how wide cells are: a row in a point's ball is in its cell or the next one, on every axis."""
    widths = np.maximum(balls.radius * MARGIN, np.abs(balls.queries).max(axis=0) * FINEST)
    return np.where(widths > 0, widths, 1.0)  # equal zeros are in one cell of any width


def grid_axes(balls: Balls) -> Integers:
    """Return the axes along which the points lie farthest apart, counted in cells."""
    shares = _shares(balls)
    return np.sort(np.argsort(shares, kind="stable")[:MOST_AXES])


def _shares(balls: Balls) -> Floats:
    """Return the part of each axis, as far as points reach along it, that a point's cells take up."""
    widths = cell_widths(balls)
    extent = balls.queries.max(axis=0) - balls.queries.min(axis=0) + widths
    shares: Floats = np.minimum(1, 3 * widths / extent)
    return shares


def _compared(balls: Balls) -> float:
    """Return with how many points a row is compared on a grid if rows are spread evenly."""
    return len(balls.queries) * math.prod(float(share) for share in _shares(balls)[grid_axes(balls)])
