# SPDX-License-Identifier: Apache-2.0
"""In how many of a batch's balls one record can lie: what the charge of a batch is divided by (Lemma 8).

The number is a function of the records asked about and the declaration. A question that was charged and not
answered yet is answered at the rate of the day: whatever version found the number, no record lies in more
balls, so the answer keeps within the charge.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.questions.identify.axes import RELATIVE
from anonymaly.questions.identify.balls import Balls
from anonymaly.questions.identify.depth import deepest

FEW = 1_000  # points; to compare each with each takes milliseconds, and the compiler a second to import
MOST_TURNED = 4  # columns for which Manhattan balls are turned; with each, the axes are twice as many
ROUNDING = 2.0**-52  # of a sum, for each of its parts


def most_overlapping(points: Floats, radius: float, metric: str) -> int:
    """Return a number of balls around the points that no record can lie in more of.

    For one column, for Chebyshev balls and for Manhattan balls in two columns it is the least such number,
    unless finding it takes too long; for others it is a bound.

    Examples
    --------
    >>> most_overlapping(np.array([[0.0], [1.0], [5.0], [5.0]]), 0.5, "euclidean")
    2
    >>> most_overlapping(np.arange(200.0)[:, None], 10.0, "euclidean")
    21
    """
    distinct, repeats = np.unique(points + 0.0, axis=0, return_counts=True)  # -0.0 and 0.0 are one place
    if not radius:
        return int(repeats.max())
    columns = points.shape[1]
    turned = metric == "manhattan" and columns <= MOST_TURNED
    depth, exact = deepest(*_boxes(distinct, radius, turned=turned), repeats)
    if exact and (columns == 1 or turned or metric == "chebyshev"):
        return depth  # boxes that meet have centres within twice the radius, so the other bound is no better
    return min(depth, _most_near_one(points, radius, metric))


def _boxes(points: Floats, radius: float, *, turned: bool) -> tuple[Floats, Floats]:
    """Return boxes around the balls, rounded outwards."""
    reach = radius * (1 + RELATIVE)  # what is within the radius by rounded numbers is exactly within this
    if turned:
        # |x| + |y| is the larger of |x + y| and |x - y|, so that along these axes balls are boxes.
        signs = np.array([(1, *others) for others in product((1, -1), repeat=points.shape[1] - 1)], float)
        reach += ROUNDING * points.shape[1] * float(np.abs(points).sum(axis=1).max())
        points = points @ signs.T
    return np.nextafter(points - reach, -np.inf), np.nextafter(points + reach, np.inf)


def _most_near_one(points: Floats, radius: float, metric: str) -> int:
    """Return the most points within twice the radius of one of them, itself and its repetitions included."""
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
