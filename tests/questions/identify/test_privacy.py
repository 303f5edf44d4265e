# SPDX-License-Identifier: Apache-2.0
"""The whole question on tables of a few rows: its exact law, on every pair that the promise speaks about.

The relation judges pairs by exact distances of unclamped values; the question counts by its own ways.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymaly as am
from anonymaly.declare.dataset import Dataset
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.binding import IdentifyBinding, bind
from anonymaly.questions.identify.kernels.counter import count_balls
from anonymaly.questions.identify.summary import count_neighbours, place_rows
from tests.questions.identify.graphs import chance_of_yes, factor

COLUMNS = {"x": am.Interval(0, 3), "y": am.Interval(0, 0.3)}
BASE = Fraction(2)  # e^ε0

values_of_x = st.sampled_from([0, 1, 2, 3, 3.5, 40, -1, None])
values_of_y = st.sampled_from([0, 0.1, 0.2, 0.3, 0.30000000000000004, None])
rows = st.fixed_dictionaries({"x": values_of_x, "y": values_of_y})
models = st.builds(
    am.AnomalyModel,
    st.sampled_from([("x",), ("x", "y"), ("y",)]),
    st.sampled_from([0, 0.1, 1, 1.5]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    st.booleans(),
)
asked_points = st.lists(
    st.fixed_dictionaries({"x": st.sampled_from([0, 1, 3]), "y": st.sampled_from([0, 0.1, 0.3])}),
    min_size=1,
    max_size=4,
)


def declare(table: list[dict[str, Any]], model: am.AnomalyModel, **options: Any) -> Dataset:
    kinds = {"x": pa.float64(), "y": pa.float64(), "id": pa.string()}
    columns = {name: pa.array([row.get(name) for row in table], kind) for name, kind in kinds.items()}
    return Dataset(pa.table(columns), name="tiny", columns=COLUMNS, rules={"rare": model}, **options)


def counted(bound: IdentifyBinding, dataset: Dataset) -> BallCounts:
    """The counts as the question makes them, on the engine."""
    (stage,) = bound.stages
    counts: BallCounts = stage.summarise(dataset.table, {})
    return counts


def quickly(bound: IdentifyBinding, dataset: Dataset) -> BallCounts:
    """The same without an engine, which takes a hundred times as long."""
    source = dataset._source._place.frame
    places = [
        np.clip(source.column(axis.column).to_numpy(), axis.domain.low, axis.domain.high) / axis.scale
        for axis in bound.axes
        if axis.domain is not None
    ]
    return count_balls(np.column_stack(places), bound.balls)


def chances(bound: IdentifyBinding, dataset: Dataset, count: Any = quickly) -> list[Fraction]:
    """The probability of yes of each answer, at e^ε0 = 2."""
    counts = count(bound, dataset)
    return chance_of_yes(bound.judge(counts.own, counts.within), BASE)


def loss(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """The largest factor for any answers together: they are independent."""
    return math.prod((factor(*pair) for pair in zip(first, second, strict=True)), start=Fraction(1))


def promised(bound: IdentifyBinding) -> Fraction:
    """What the promise allows, in units of ε0: all that the charge was divided by."""
    units = Fraction(bound.query.epsilon) / bound.rate
    assert units.denominator == 1
    return BASE ** int(units)


def ask(points: list[dict[str, float]], model: am.AnomalyModel, **fields: Any) -> am.Identify:
    columns = {name: [point[name] for point in points] for name in model.columns}
    # A large error makes counting stop early, which must not matter.
    given_fields = {"model": "rare", "epsilon": 1, "extra_error": 0.3}
    return am.Identify(records=columns, **{**given_fields, **fields})


@settings(max_examples=12, deadline=None)
@given(table=st.lists(rows, max_size=8), model=models, points=asked_points)
def test_the_engine_counts_what_plain_arrays_count(
    table: list[dict[str, Any]], model: am.AnomalyModel, points: Any
) -> None:
    dataset = declare(table, model)
    bound = bind(ask(points, model), dataset.declaration)
    expected = quickly(bound, dataset)
    for way in ("statement", "grid", "stream"):
        placed = place_rows(dataset.table, bound.axes)
        found = count_neighbours(placed, bound.balls, bound.columns, bound.scales, way=way)
        assert found.within.tolist() == expected.within.tolist()
        assert found.own.tolist() == expected.own.tolist()


@pytest.mark.parametrize("guarantee", ["sensitive", "differential"])
@settings(max_examples=400, deadline=None)
@given(table=st.lists(rows, max_size=6), row=rows, model=models, points=asked_points)
def test_a_row_more_or_less_changes_no_answer_by_more_than_promised(
    guarantee: Any, table: list[dict[str, Any]], row: dict[str, Any], model: am.AnomalyModel, points: Any
) -> None:
    before, after = declare(table, model), declare([*table, row], model)
    bound = bind(ask(points, model, guarantee=guarantee), before.with_adjacency("add_remove"))
    if bound.relation.relates(table, [*table, row], columns=COLUMNS):
        found = loss(chances(bound, before), chances(bound, after))
        assert found <= promised(bound)


@settings(max_examples=400, deadline=None)
@given(table=st.lists(rows, min_size=1, max_size=6), row=rows, model=models, points=asked_points)
def test_a_row_replaced_changes_no_answer_by_more_than_promised(
    table: list[dict[str, Any]], row: dict[str, Any], model: am.AnomalyModel, points: Any
) -> None:
    other = [row, *table[1:]]
    before, after = declare(table, model), declare(other, model)
    bound = bind(ask(points, model), before.with_adjacency("replace"))
    if bound.relation.relates(table, other, columns=COLUMNS):
        found = loss(chances(bound, before), chances(bound, after))
        assert found <= promised(bound)


@settings(max_examples=40, deadline=None)
@given(
    table=st.lists(st.tuples(rows, st.sampled_from(["a", "b", "c", None])), max_size=6),
    person=st.lists(rows, min_size=1, max_size=2),
    model=models,
    points=asked_points,
)
def test_a_person_more_or_less_changes_no_answer_by_more_than_promised(
    table: list[tuple[dict[str, Any], str | None]],
    person: list[dict[str, Any]],
    model: am.AnomalyModel,
    points: Any,
) -> None:
    others = [{**row, "id": name} for row, name in table]
    everybody = others + [{**row, "id": "z"} for row in person]
    before, after = (declare(data, model, person="id", max_rows=2) for data in (others, everybody))
    bound = bind(ask(points, model), before.with_adjacency("add_remove"))
    if bound.relation.relates(others, everybody, columns=COLUMNS, person="id"):
        found = loss(*(chances(bound, side, counted) for side in (before, after)))
        assert found <= promised(bound)


def test_the_whole_charge_is_lost_where_all_balls_meet() -> None:
    model = am.AnomalyModel(["x"], radius=1, beta=2, k=1)
    query = ask([{"x": 0}, {"x": 0}, {"x": 1}], model)  # type: ignore[typeddict-item]
    table = [{"x": 0}, {"x": 1}]
    before, after = declare(table, model), declare([*table, {"x": 1}], model)
    bound = bind(query, before.declaration)
    assert bound.relation.relates(table, [*table, {"x": 1}], columns=COLUMNS)
    found = loss(chances(bound, before), chances(bound, after))
    assert found == promised(bound) == BASE**3


def test_a_row_that_is_not_sensitive_has_no_such_bound() -> None:
    model = am.AnomalyModel(["x"], radius=0, beta=4, k=1)
    query = ask([{"x": 3}], model)  # type: ignore[typeddict-item]
    before, after = declare([], model), declare([{"x": 3}], model)
    bound = bind(query, before.declaration)
    assert not bound.relation.relates([], [{"x": 3}], columns=COLUMNS)
    assert loss(chances(bound, before), chances(bound, after)) > BASE**3


def test_rows_that_are_cut_off_make_nobody_protected_and_the_words_say_so() -> None:
    """51 rows are near the one of person s, 50 of them of one person, of whom the question reads two."""
    model = am.AnomalyModel(["x"], radius=1, beta=20, k=2)
    others = [{"x": 2, "id": "heavy"}] * 50 + [{"x": 0, "id": f"other {number}"} for number in range(5)]
    everybody = [*others, {"x": 2.5, "id": "s"}]
    before, after = (declare(table, model, person="id", max_rows=2) for table in (others, everybody))
    bound = bind(am.Identify(record={"x": 2.5}, model="rare", epsilon=2), before.declaration)
    found = loss(chances(bound, before, counted), chances(bound, after, counted))
    assert found > 1000 * promised(bound)
    assert not bound.relation.relates(others, everybody, columns=COLUMNS, person="id")
    words = bound.guarantee.describe().splitlines()
    told = [line for line in words if line.startswith(("Protected", "Not protected"))]
    assert len(told) == 2
    for line in told:
        assert "19 rows within euclidean distance 1 in x" in line
        assert "counting only rows of persons with at most 2 rows" in line
    # Of as many persons with one row each, s is one of the crowd.
    crowd = [{"x": 2, "id": f"light {number}"} for number in range(20)]
    assert bound.relation.relates(crowd, [*crowd, everybody[-1]], columns=COLUMNS, person="id")
    small, large = (
        declare(table, model, person="id", max_rows=2) for table in (crowd, [*crowd, everybody[-1]])
    )
    assert loss(chances(bound, small, counted), chances(bound, large, counted)) <= promised(bound)


def test_values_beyond_the_bounds_are_still_near_those_within() -> None:
    # By unclamped distances 3.5 protects 3; were it left out, 3 would be an anomaly that nobody protects.
    model = am.AnomalyModel(["x"], radius=1, beta=2, k=1)
    query = ask([{"x": 3}], model)  # type: ignore[typeddict-item]
    table = [{"x": 3.5}]
    before, after = declare(table, model), declare([*table, {"x": 3}], model)
    bound = bind(query, before.declaration)
    assert bound.relation.relates(table, [*table, {"x": 3}], columns=COLUMNS)
    found = loss(chances(bound, before), chances(bound, after))
    assert found <= BASE
