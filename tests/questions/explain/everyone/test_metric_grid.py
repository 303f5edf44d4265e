# SPDX-License-Identifier: Apache-2.0
"""The metric's grid at the ends of what a double holds."""

from __future__ import annotations

import math
import sys

import pytest

from anonymaly.declare.domain import Interval
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid


@pytest.mark.parametrize(("low", "high"), [(0, sys.float_info.max), (-sys.float_info.max, 0), (0, 5e-324)])
def test_no_edge_fails_to_be_rounded(low: float, high: float) -> None:
    """A failure would be charged, and which edge is drawn depends on rows."""
    grid = MetricGrid.of(Interval(low, high), 1024)
    edges = [grid.rounded_edge(number) for number in range(1025)]
    assert all(map(math.isfinite, edges))
    assert edges == sorted(edges)
    assert grid.rounded_edge(1024) == pytest.approx(high)
