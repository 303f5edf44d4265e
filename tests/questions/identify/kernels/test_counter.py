# SPDX-License-Identifier: Apache-2.0
"""The compiled counts equal the plain definition, whatever the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from anonymaly.questions.identify.balls import METRICS, Balls
from anonymaly.questions.identify.kernels import box_tree, counter
from anonymaly.questions.identify.kernels.box_tree import LEAF, BoxTree, find_crowds
from anonymaly.questions.identify.kernels.counter import BallCounter, count_balls
from tests.questions.identify.naive import assert_same, count_naively

ANY = st.floats(-100, 100) | st.sampled_from([0.0, -0.0, 0.1, 0.3, 1.0, 1e-200, 5e-324, 1e140])
LATTICE = st.integers(-2, 2).map(float)
RADII = st.sampled_from([0.0, 0.1, 1.0, 2.0, 2.5, 1e-140, 1e140]) | st.floats(0.01, 300)


@st.composite
def questions(draw: st.DrawFn) -> tuple[np.ndarray, Balls]:
    columns = draw(st.integers(1, 4))
    values = draw(st.sampled_from([ANY, LATTICE]))
    rows = draw(nst.arrays(np.float64, st.tuples(st.integers(0, 200), st.just(columns)), elements=values))
    missing = draw(st.lists(st.integers(0, 199), max_size=5))
    rows[[place for place in missing if place < len(rows)]] = np.nan
    asked = draw(nst.arrays(np.float64, st.tuples(st.integers(1, 8), st.just(columns)), elements=values))
    present = rows[~np.isnan(rows).any(axis=1)][:4]
    points = np.concatenate([asked, present])
    return rows, Balls(points, draw(RADII), draw(st.sampled_from(METRICS)), draw(st.integers(1, 400)))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(questions())
def test_counts_are_those_of_the_definition(question: tuple[np.ndarray, Balls]) -> None:
    rows, balls = question
    assert_same(count_balls(rows, balls), count_naively(rows, balls))


@settings(max_examples=30, deadline=None)
@given(questions(), st.data())
def test_neither_order_nor_batches_change_a_count(
    question: tuple[np.ndarray, Balls], data: st.DataObject
) -> None:
    rows, balls = question
    counting = BallCounter(balls)
    for part in np.array_split(rows[data.draw(st.permutations(range(len(rows))))], 3):
        counting.add(part)
    assert_same(counting.counts(), count_balls(rows, balls))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("columns", [1, 3, 7])
def test_crowds_and_many_boxes_change_no_count(
    metric: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box_tree, "POINTS_PER_CROWD", 50)
    rows = np.random.default_rng(7).standard_t(4, (20 * LEAF, columns)).round(1)
    points = np.concatenate([rows[:400], rows[:200] + 0.05, 3 * rows[:200]])
    gaps = np.abs(points[:, None, :] - rows[None, :, :])
    total = np.zeros(gaps.shape[:2])
    for column in range(columns):
        gap = gaps[:, :, column]
        if metric == "chebyshev":
            total = np.maximum(total, gap)
        else:
            total = total + (gap * gap if metric == "euclidean" else gap)
    middle = np.quantile(total, 0.3)
    balls = Balls(points, round(np.sqrt(middle) if metric == "euclidean" else middle, 1), metric, 80)
    near = (total <= balls.limit).sum(axis=1)
    assert 0.05 < (near < 80).mean() < 0.95
    assert len(find_crowds(BoxTree.of(rows), METRICS.index(metric), balls.radius, 80, 16).room) > 3
    found = count_balls(rows, balls)
    assert found.within.tolist() == np.minimum(near, 80).tolist()
    assert found.own.tolist() == np.where(near < 80, (gaps == 0).all(axis=2).sum(axis=1), 0).tolist()


def test_points_on_the_rim_are_inside() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 5.0], [np.nextafter(5.0, 6), 0.0], [-4.0, -3.0]])
    origin = np.zeros((1, 2))
    assert count_balls(rows, Balls(origin, 5.0, "euclidean", 9)).within.tolist() == [3]
    assert count_balls(rows, Balls(origin, 7.0, "manhattan", 9)).within.tolist() == [4]
    assert count_balls(rows, Balls(origin, 4.0, "chebyshev", 9)).within.tolist() == [2]


@pytest.mark.parametrize("metric", METRICS)
def test_radius_nothing_asks_for_equality_even_where_squares_vanish(metric: str) -> None:
    rows = np.array([[1e-200], [2e-200], [1e-200], [0.0], [-0.0]])
    found = count_balls(rows, Balls(np.array([[1e-200], [0.0]]), 0.0, metric, 9))
    assert found.within.tolist() == found.own.tolist() == [2, 2]


def test_a_million_equal_rows_are_counted_as_one_box() -> None:
    rows = np.full((1 << 20, 2), 0.1)
    found = count_balls(rows, Balls(rows[:1], 0.0, "euclidean", 1 << 30))
    assert found.within.tolist() == found.own.tolist() == [1 << 20]


def test_large_arrays_are_counted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).normal(size=(1000, 2))
    balls = Balls(rows[:50], 0.5, "euclidean", 70)
    whole = count_balls(rows, balls)
    monkeypatch.setattr(counter, "BATCH", 128)
    assert_same(count_balls(rows, balls), whole)


def test_progress_counts_points_and_ends_with_all_of_them() -> None:
    rows = np.random.default_rng(1).normal(size=(3000, 2))
    reports: list[tuple[int, int]] = []
    count_balls(rows, Balls(rows, 0.5, "euclidean", 70), lambda done, total: reports.append((done, total)))
    assert [total for _, total in reports] == [3000] * len(reports)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1] == (3000, 3000)
