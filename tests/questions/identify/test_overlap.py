# SPDX-License-Identifier: Apache-2.0
"""The cost of a batch: never below what one record can really have a part in."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.questions.identify import overlap
from anonymaly.questions.identify.balls import METRICS, Balls
from anonymaly.questions.identify.depth import deepest as boxes_deepest
from anonymaly.questions.identify.kernels.counter import count_balls
from anonymaly.questions.identify.overlap import most_overlapping


def deepest(points: Any, radius: float, metric: str, places: Any) -> int:
    """In how many balls a record at one of the places can be, as the counting sees it."""
    # A point is as far from a place as the place is from it, rounding included.
    around = Balls(np.array(places, float), radius, metric, len(points) + 1)
    return int(count_balls(points, around).within.max())


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12),
    radius=st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0]),
    repeats=st.integers(1, 3),
)
def test_no_place_is_in_more_balls_than_are_paid_for(
    metric: str, points: list[tuple[int, int]], radius: float, repeats: int
) -> None:
    asked = np.array(points * repeats, float)
    paid = most_overlapping(asked, radius, metric)
    # Records at the points and half-way between them, where balls meet.
    places = [(x / 2, y / 2) for x in range(13) for y in range(13)]
    assert deepest(asked, radius, metric, places) <= paid
    assert repeats <= paid <= len(asked)


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=2, max_size=30),
    radius=st.floats(1e-6, 1e3),
)
def test_on_a_line_no_place_where_a_ball_begins_is_deeper_than_is_paid_for(
    points: list[float], radius: float
) -> None:
    asked = np.array(points)[:, None]
    found = deepest(asked, radius, "euclidean", asked - radius)
    assert found <= most_overlapping(asked, radius, "euclidean")


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2), min_size=1, max_size=6),
    radius=st.sampled_from([1e-6, 0.1, 0.3, 7.0, 500.0]),
)
def test_no_rounding_hides_a_ball_from_the_cost(
    metric: str, points: list[list[float]], radius: float
) -> None:
    # Points that touch at just one place, and places at the ends of balls and a hair beside them.
    asked = np.array([*points, *(np.array(points) + 2 * radius)])
    ends = [
        np.unique(
            [np.nextafter(end, towards) for end in column - radius for towards in (-np.inf, end, np.inf)]
        )
        for column in asked.T
    ]
    places = [*product(*ends), *((asked[:, None] + asked[None]) / 2).reshape(-1, 2)]
    assert deepest(asked, radius, metric, places) <= most_overlapping(asked, radius, metric)


# Balls that are boxes, and the number of columns; the lower ends of Manhattan ones lie between the halves.
BOXES = [("chebyshev", 1), ("euclidean", 1), ("chebyshev", 2), ("manhattan", 2), ("chebyshev", 3)]


@pytest.mark.parametrize(("metric", "columns"), BOXES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_batch_of_boxes_costs_just_the_depth_that_trying_all_places_finds(
    metric: str, columns: int, data: st.DataObject
) -> None:
    point = st.tuples(*[st.integers(0, 5)] * columns)
    asked = np.array(data.draw(st.lists(point, min_size=1, max_size=9)), float)
    radius = data.draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0]))
    # Balls of integers end on halves; Manhattan balls also meet between those.
    steps = np.arange(-3, 8.25, 0.25 if columns == 2 else 0.5)
    places = list(product(steps, repeat=columns))
    assert most_overlapping(asked, radius, metric) == deepest(asked, radius, metric, places)


def test_a_line_of_balls_is_paid_for_by_its_depth_and_not_by_all_near_one() -> None:
    line = np.arange(200.0)[:, None]
    assert [most_overlapping(line, 10.0, metric) for metric in METRICS] == [21, 21, 21]


def test_a_grid_of_boxes_is_paid_for_by_its_depth_and_not_by_all_near_one() -> None:
    grid = np.stack(np.meshgrid(np.arange(60.0), np.arange(60.0)), -1).reshape(-1, 2)
    assert most_overlapping(grid, 10.0, "chebyshev") == 21 * 21
    assert most_overlapping(grid, 10.0, "manhattan") == 10 * 10 + 11 * 11
    # A disc of this radius holds 317 points of the grid, and 1,257 are within twice of it.
    assert 317 <= most_overlapping(grid, 10.0, "euclidean") <= 21 * 21


def test_a_hundred_thousand_records_on_a_line_are_no_trouble() -> None:
    line = np.random.default_rng(1).permutation(np.arange(1e5))[:, None]
    assert most_overlapping(line, 2.4, "manhattan") == 5


@settings(max_examples=40, deadline=None)
@given(
    points=st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=30),
    most=st.sampled_from([0, 10**5, 10**6, 10**7]),
)
def test_little_effort_gives_a_bound_and_says_so(points: list[tuple[int, int, int]], most: int) -> None:
    lows = np.array(points, float)
    weights = np.ones(len(lows), np.int64)
    depth, exact = boxes_deepest(lows, lows + 3, weights)
    bound, was_exact = boxes_deepest(lows, lows + 3, weights, most)
    assert exact
    assert depth <= bound <= len(lows)
    assert bound == depth or not was_exact


@pytest.mark.parametrize("metric", METRICS)
def test_balls_that_touch_at_one_rounded_point_are_paid_for(metric: str) -> None:
    # 0.1 + 0.2 is a little more than 0.3, so exact and rounded distances fall on two sides.
    for left, right, radius in ((0.1, 0.3, 0.1), (0.7, 0.1, 0.3), (1e9, 1e9 + 0.6, 0.3)):
        asked = np.array([[left], [right]])
        found = deepest(asked, radius, metric, [[(left + right) / 2]])
        assert found <= most_overlapping(asked, radius, metric)


def test_records_far_apart_cost_one_and_copies_cost_each() -> None:
    apart = np.arange(50.0)[:, None] * 10
    assert most_overlapping(apart, 4.9, "euclidean") == 1
    assert most_overlapping(np.repeat(apart, 3, axis=0), 4.9, "euclidean") == 3
    assert most_overlapping(np.zeros((7, 2)), 0.0, "manhattan") == 7


def test_thousands_of_records_cost_no_more_than_comparing_all_of_them_finds() -> None:
    points = np.random.default_rng(1).random((3000, 3))
    gaps = np.abs(points[:, None] - points[None])
    for metric, near in (("chebyshev", gaps.max(-1)), ("manhattan", gaps.sum(-1))):
        paid = most_overlapping(points, 0.05, metric)
        assert paid < (near <= 0.1).sum(1).max()
        assert paid >= deepest(points, 0.05, metric, np.random.default_rng(2).random((10_000, 3)))


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2), min_size=1, max_size=30),
    radius=st.sampled_from([0.0, 1e-6, 0.1, 0.3, 7.0, 500.0]),
)
def test_few_records_are_compared_as_the_compiled_counting_compares_many(
    metric: str, points: list[list[float]], radius: float
) -> None:
    # Points a little apart, and points at just the distance that is compared.
    asked = np.array([*points, *(np.array(points) + 2 * radius)])
    few = most_overlapping(asked, radius, metric)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(overlap, "FEW", 0)
        assert most_overlapping(asked, radius, metric) == few


@pytest.mark.parametrize("many", [False, True])
def test_only_a_large_batch_imports_compiled_code_before_rows_are_read(many: bool) -> None:
    code = f"""
import sys
from anonymaly.questions.identify import overlap
from anonymaly.questions.identify.query import Identify

if {many}:
    overlap.FEW = 1
for example in Identify.examples():
    assert example.query.bind(example.dataset().declaration).expectation
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(many)
