# SPDX-License-Identifier: Apache-2.0
"""Counting in balls as it is defined, one row after the other."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymaly.questions.identify.balls import BallCounts, Balls


def is_near(row: list[float], point: list[float], radius: float, metric: str) -> bool:
    gaps = [abs(value - other) for value, other in zip(row, point, strict=True)]
    if any(math.isnan(gap) for gap in gaps):
        return False
    if metric == "chebyshev" or not radius:
        return max(gaps) <= radius
    total = 0.0
    for gap in gaps:
        total = total + (gap * gap if metric == "euclidean" else gap)
    return total <= (radius * radius if metric == "euclidean" else radius)


def count_naively(rows: npt.NDArray[np.float64], balls: Balls) -> BallCounts:
    listed = rows.tolist()
    within, own = [], []
    for point in balls.queries.tolist():
        near = sum(is_near(row, point, balls.radius, balls.metric) for row in listed)
        within.append(min(near, balls.stop))
        own.append(sum(row == point for row in listed) if near < balls.stop else 0)
    return BallCounts(np.array(within, np.int64), np.array(own, np.int64))


def assert_same(found: BallCounts, expected: BallCounts) -> None:
    assert found.within.tolist() == expected.within.tolist()
    assert found.own.tolist() == expected.own.tolist()
