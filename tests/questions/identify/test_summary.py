# SPDX-License-Identifier: Apache-2.0
"""Every way of counting gives the same counts, on DuckDB, on PostgreSQL and on Spark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.engine import lookup
from anonymaly.engine.statements import EngineFailure
from anonymaly.questions.identify import summary
from anonymaly.questions.identify.balls import METRICS, Balls
from anonymaly.questions.identify.summary import count_neighbours
from anonymaly.questions.identify.ways import FEW, FEW_REMOTE, cell_widths, choose_way, grid_axes
from tests.questions.identify.naive import assert_same, count_naively

CONNECTION = ibis.duckdb.connect()
WAYS = ("statement", "grid", "stream")
# What breaks careless arithmetic: on the rim and next to it, too small or too large to square or divide.
SMALL = [0.0, -0.0, 0.1, 0.2, 0.1 + 0.2, 0.3, 0.7, 1.0, 120.0, 1e-200, 5e-324, 1e-160]
HARD = [*SMALL, 1e149, 1.7e308, -1.7e308]
VALUES = st.none() | st.sampled_from(HARD) | st.floats(-10, 10) | st.integers(-3, 3).map(float)
POINTS = st.sampled_from(SMALL) | st.floats(-10, 10) | st.integers(-3, 3).map(float)
SCALES = st.sampled_from(
    [1.0, 3.0, 120.0]
)  # no declared column is so narrow that its numbers outgrow doubles
RADII = st.sampled_from([0.0, 0.1, 0.3, 1.0, 1e-140, 1e140]) | st.floats(0.001, 20)


def arrow(rows: Sequence[Sequence[float | None]], columns: int) -> pa.Table:
    return pa.table({f"c{at}": pa.array([row[at] for row in rows], pa.float64()) for at in range(columns)})


def counted(
    table: ibis.Table, rows: Sequence[Sequence[float | None]], balls: Balls, scales: Sequence[float]
) -> None:
    names = [f"c{at}" for at in range(len(scales))]
    numbers = np.array([[math.nan if item is None else item for item in row] for row in rows], np.float64)
    expected = count_naively(numbers.reshape(-1, len(scales)) / np.array(scales), balls)
    for way in WAYS:
        assert_same(count_neighbours(table, balls, names, scales, way=way), expected)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_all_ways_agree_with_the_definition(data: st.DataObject) -> None:
    columns = data.draw(st.integers(1, 4))
    scales = data.draw(st.lists(SCALES, min_size=columns, max_size=columns))
    rows = data.draw(st.lists(st.lists(VALUES, min_size=columns, max_size=columns), max_size=40))
    points = data.draw(st.lists(st.lists(POINTS, min_size=columns, max_size=columns), min_size=1, max_size=5))
    balls = Balls(
        np.array(points) / np.array(scales),
        data.draw(RADII), data.draw(st.sampled_from(METRICS)), data.draw(st.integers(1, 50)),
    )  # fmt: skip
    CONNECTION.con.register("rows", arrow(rows, columns))
    counted(CONNECTION.table("rows"), rows, balls, scales)


@pytest.mark.parametrize("metric", METRICS)
def test_postgres_counts_alike_and_fails_on_no_row(postgres: str, metric: str) -> None:
    generator = np.random.default_rng(3)
    hard = [[one, other] for one in HARD for other in HARD]
    rows = [*hard, *generator.normal(size=(200, 2)).round(1).tolist(), [None, 1.0], [1.0, None], [None, None]]
    connection = ibis.connect(postgres)
    table = connection.create_table("rows", arrow(rows, 2))
    points = np.concatenate([np.array(hard[:200:13])[:, ::-1], generator.normal(size=(10, 2)).round(1)])
    points = points[(np.abs(points) <= 1e149).all(axis=1)]
    for scales in ((1.0, 1.0), (120.0, 3.0)):
        for radius in (0.0, 0.1, 1.0, 1e-140):
            counted(table, rows, Balls(points / np.array(scales), radius, metric, 150), scales)


@pytest.mark.parametrize("metric", METRICS)
def test_spark_counts_alike_and_fails_on_no_row(spark: Any, metric: str) -> None:
    hard = [[one, other] for one in HARD for other in HARD]
    rows = [
        *hard,
        *np.random.default_rng(3).normal(size=(50, 2)).round(1).tolist(),
        [None, 1.0],
        [None, None],
    ]
    table = lookup.named("pyspark").open_source(spark.createDataFrame(arrow(rows, 2)), None)
    points = np.array([[one, other] for one, other in hard[:200:13] if max(abs(one), abs(other)) <= 1e149])
    for scales, radius in (((1.0, 1.0), 1e-140), ((120.0, 3.0), 0.1)):
        counted(table, rows, Balls(points / np.array(scales), radius, metric, 150), scales)


def test_a_server_that_takes_no_points_streams_its_rows(postgres: str) -> None:
    rows = np.random.default_rng(3).normal(size=(50, 2)).round(1)
    ibis.connect(postgres).create_table("rows", arrow(rows.tolist(), 2))
    reader = ibis.connect(postgres)
    reader.con.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    reader.con.commit()
    balls = Balls(rows, 0.5, "euclidean", 20)
    with pytest.raises(EngineFailure):
        summary._by_grid(reader.table("rows"), balls, ["c0", "c1"], (1.0, 1.0))
    assert_same(
        count_neighbours(reader.table("rows"), balls, ["c0", "c1"], (1.0, 1.0), way="grid"),
        count_naively(rows, balls),
    )


def test_rows_come_through_the_kernel_in_batches_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).normal(size=(1000, 2)).round(1)
    connection = ibis.duckdb.connect()
    connection.con.register("rows", arrow(rows.tolist(), 2))
    balls = Balls(rows[:60], 0.5, "euclidean", 100)
    monkeypatch.setattr(summary, "BATCH", 77)
    assert_same(
        count_neighbours(connection.table("rows"), balls, ["c0", "c1"], (1.0, 1.0), way="stream"),
        count_naively(rows, balls),
    )


def test_the_way_depends_on_what_is_asked_and_where_the_table_lives() -> None:
    def ways(number: int, radius: float) -> tuple[str, str]:
        points = np.random.default_rng(0).uniform(0, 100, (number, 4))
        balls = Balls(points, radius, "euclidean", 9)
        return choose_way(balls, remote=False), choose_way(balls, remote=True)

    assert ways(FEW, 1) == ("statement", "statement")
    assert ways(FEW + 1, 1) == ("stream", "statement")
    assert ways(FEW_REMOTE + 1, 1) == ("stream", "grid")
    assert ways(FEW_REMOTE + 1, 200) == ("stream", "stream")
    assert ways(100_000, 5) == ("stream", "stream")


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e12, 1e12), st.floats(-1, 1), st.floats(1e-12, 1e12))
def test_a_row_in_a_ball_is_never_two_cells_away(point: float, away: float, radius: float) -> None:
    balls = Balls(np.array([[point]]), radius, "chebyshev", 1)
    row = point + away * radius
    if abs(row - point) > radius:
        return
    assert grid_axes(balls).tolist() == [0]
    (width,) = cell_widths(balls)
    assert abs(np.floor(row / width) - np.floor(point / width)) <= 1
