# SPDX-License-Identifier: Apache-2.0
"""Bins that follow the records, and random directions, where public numbers say that there are enough."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.engine.statements import collect
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.methods.method import MethodFacts
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_edges import FINE, equal_edges, next_edges
from anonymaly.questions.score.methods.mixed_layout import HistogramLayout

COLUMNS: dict[str, Any] = {
    "a": am.Interval(0, 1),
    "b": am.Interval(0, 1),
    "kind": am.Categories(["x", "y"]),
    "on": am.Flag(),
}


def frame(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "a": random.normal(0.3, 0.01, rows),
            "b": random.random(rows),
            "kind": random.choice(["x", "y"], rows),
            "on": random.random(rows) < 0.5,
        }
    )


def bound(
    *, declared: int | None = None, held: int = 50, adjacency: Any = "add_remove", **options: Any
) -> Any:
    data = am.Dataset(frame(held), name="t", columns=COLUMNS, rows=declared)
    query = am.Score(**{"columns": list(COLUMNS), "epsilon": 1, **options})
    return query.bind(data.with_adjacency(adjacency))


def planned(**options: Any) -> MixedMethod:
    method = bound(**options).method()
    assert isinstance(method, MixedMethod)
    return method


def test_the_gates_open_by_the_number_that_was_declared_and_not_by_the_length_of_the_table() -> None:
    for held in (50, 5000):
        assert [planned(declared=rows, held=held).adaptive for rows in (279, 280)] == [False, True]
        assert [planned(declared=rows, held=held).sketches > 0 for rows in (799, 800)] == [False, True]
    assert planned(declared=50, rows=10**4).adaptive, "the question's own number counts first"


def test_a_replaced_person_counts_for_half_in_the_gate() -> None:
    assert not planned(declared=400, adjacency="replace").adaptive
    assert planned(declared=560, adjacency="replace").adaptive


def test_what_each_stage_may_spend_is_fixed_before_any_row_is_read() -> None:
    assert bound(declared=279).shares == {"model": 10**9}
    assert bound(declared=280).shares == {"coarse": 150_000_000, "finer": 150_000_000, "model": 700_000_000}
    counted = bound().shares
    assert counted == {
        "records": 20_000_000,
        "coarse": 147_000_000,
        "finer": 147_000_000,
        "model": 686_000_000,
    }
    assert bound(columns=["kind"]).shares == {"records": 20_000_000, "model": 980_000_000}


@pytest.mark.parametrize(("adjacency", "changed"), [("add_remove", 1), ("replace", 2)])
@pytest.mark.parametrize("counted", [10, 10**5])
def test_the_stages_never_spend_more_than_the_models_share_whatever_number_was_released(
    adjacency: str, changed: int, counted: int
) -> None:
    plan: ScoreBinding = bound(adjacency=adjacency)
    method = plan.method(counted)
    assert isinstance(method, MixedMethod)
    column, pair, sketch = method.rates(plan.model_rate(method))
    last = method.dimensions * column + len(method.layout.pairs) * pair + method.sketches * sketch
    before = 2 * (plan.rate("coarse") + plan.rate("finer")) if method.adaptive else Fraction(0)
    assert (last + before) * changed == Fraction(98, 100)
    assert method.adaptive == (counted == 10**5)


def test_where_the_released_number_is_small_the_first_stages_draw_nothing() -> None:
    plan = bound()
    data = am.Dataset(frame(50), name="t", columns=COLUMNS)
    coarse = next(stage for stage in plan.stages if stage.name == "coarse")
    assert coarse.summarise(data.table, {"records": 50}) is None
    assert coarse.release(None, {"records": 50}, None) is None  # type: ignore[arg-type]  # no noise to draw


def test_edges_are_dense_where_records_are_and_never_leave_the_lattice() -> None:
    counts = np.zeros(8, np.int64)
    counts[2] = 1000
    edges = next_edges(counts, equal_edges(8), 1.0, 32)
    assert (edges[0], edges[-1]) == (0, FINE)
    assert list(edges) == sorted(set(edges))
    inside = sum(FINE * 2 // 8 <= edge <= FINE * 3 // 8 for edge in edges)
    assert inside >= len(edges) // 2
    # Of noise alone nothing is learned, and bins are equally wide.
    assert next_edges(np.array([2, -3, 1, 0, 0, -1, 2, 0]), equal_edges(8), 5.0, 4) == equal_edges(4)
    assert len(next_edges(counts, equal_edges(8), 1.0, 10**4)) <= FINE + 1


def simulated(rows: int, **options: Any) -> am.Model:
    data = am.Dataset(frame(rows), name="t", columns=COLUMNS, public=True)
    query = am.Score(columns=list(COLUMNS), **{"rows": rows, "epsilon": 2, **options})
    model: am.Model = am.simulate(query, data, seed=4).value
    return model


def test_a_narrow_column_gets_narrow_bins_and_what_is_beside_it_is_odd() -> None:
    model = simulated(3000)
    method = model.method
    assert isinstance(method, MixedMethod)
    assert method.adaptive
    assert method.sketches > 0
    widths = np.diff(method.edges[0])
    crowded = widths[int(np.searchsorted(method.edges[0], 0.3 * FINE)) - 1]
    assert crowded < FINE / method.bins / 2, "half as wide as an equal bin would be, or less"
    inside, beside = model.score([[0.3, 0.5, "x", True], [0.4, 0.5, "x", True]])
    assert beside > inside + 1


def test_a_model_with_edges_and_directions_is_the_same_after_it_was_saved(tmp_path: Any) -> None:
    model = simulated(3000)
    model.save(tmp_path / "m.model")
    again = am.Model.load(tmp_path / "m.model")
    assert again == model
    assert (again.score(frame(100)) == model.score(frame(100))).all()


def test_directions_place_records_alike_on_the_engine_and_in_numpy() -> None:
    method = MixedMethod(4, (0, 0, 3, 2), bins=4, pair_bins=0, sketches=5, side=4, coins=12345)
    model = simulated(200, bins=4, pair_bins=0)
    data = am.Dataset(frame(300), name="t", columns=COLUMNS)
    _, _, sketches = method.layout.arrays(collect(method.count(model.space.cube(data.table))))
    points = model.space.points(frame(300))
    here = [np.bincount(places, minlength=16).reshape(4, 4) for places in method.layout.sketched(points)]
    assert (sketches == np.array(here)).all()
    assert [int(cells.sum()) for cells in sketches] == [300] * 5


def test_directions_follow_from_their_coins_alone_and_have_length_one() -> None:
    one, other = (HistogramLayout((0,) * 6, 0, sketches=4, side=3, coins=coins) for coins in (7, 8))
    assert np.allclose((one.directions**2).sum(axis=2), 1)
    assert not np.allclose(one.directions, other.directions)
    assert (
        one.directions[0, 0].round(6).tolist()
        == HistogramLayout((0,) * 6, 0, 4, 3, 7).directions[0, 0].round(6).tolist()
    )


def test_explicit_bins_are_equally_wide_unless_they_are_to_follow_the_records() -> None:
    facts = MethodFacts(2, Fraction(1), 10**5)
    assert not MixedMethod.plan({"bins": 9}, facts).adaptive
    assert MixedMethod.plan({"bins": 9, "adaptive": True}, facts).adaptive
    assert not MixedMethod.plan({"adaptive": False}, facts).adaptive
