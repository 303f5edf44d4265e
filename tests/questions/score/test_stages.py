# SPDX-License-Identifier: Apache-2.0
"""The stages around the model: private bounds before it, a private threshold after it."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import anonymaly as am
from anonymaly.audit.fit import fit_outcomes
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval, Unbounded
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.score.bounds import (
    BINS,
    LARGEST,
    MIDDLE,
    SMALLEST,
    bin_bounds,
    least_count,
    release_bounds,
)
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.summary import count_for, count_magnitudes, count_scores
from anonymaly.questions.score.threshold import Quantile, candidates, release_threshold
from anonymaly.questions.score.value import Model
from tests.places import Put


def _frame(rows: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(5)
    return pd.DataFrame({"a": random.normal(50, 5, rows), "b": random.normal(-900, 30, rows)})


VALUES = [
    0.0,
    1.0,
    1.5,
    2.0,
    3.9999999999999996,
    -1.0,
    -2.0,
    -3.0,
    1e-12,
    -1e-12,
    1e300,
    -1e300,
    2.0**64,
    2.0**-32,
]
VALUES += [sign * 2.0**power for sign in (1, -1) for power in range(-31, 64, 7)]


def _expected() -> list[int]:
    counts = [0] * BINS
    for value in VALUES:
        beyond = 0
        if abs(value) >= 2.0**SMALLEST:
            beyond = min(math.frexp(value)[1] - 1, LARGEST) - SMALLEST + 1
        place = MIDDLE + (beyond if value > 0 else -beyond)
        low, high = bin_bounds(place)
        assert low <= max(min(value, 2.0**64), -(2.0**64)) <= high
        counts[place] += 1
    return counts


def test_magnitudes_are_counted_between_powers_of_two() -> None:
    values = [*VALUES, math.nan, None, 5.0]
    other = [1.0] * (len(VALUES) + 2) + [None]  # what has a null anywhere is counted nowhere
    table = Dataset(
        pd.DataFrame({"a": values, "b": other}), name="t", columns={"a": Unbounded(), "b": Interval(0, 2)}
    ).table
    (counts,) = count_magnitudes(table, ["a", "b"], ["a"])
    assert counts.tolist() == _expected()


def test_magnitudes_are_the_same_on_every_engine(put: Put) -> None:
    place = put(pa.table({"a": pa.array([*VALUES, None, math.nan], pa.float64())}))
    table = Dataset(**place, name="t", columns={"a": Unbounded()}).table
    assert count_magnitudes(table, ["a"], ["a"])[0].tolist() == _expected()


EXTREMES = [5e-324, 6e-323, 3e-322, 1e-320, -5e-324, 0.0, -0.0, 1.7e308, -1.7e308, 120.0, 61.5]


@pytest.mark.parametrize(
    ("domain", "query"),
    [
        (Interval(0, 120), Score(columns=["a"], contamination="0.1", epsilon=1)),
        (Interval(0, 120), Score(columns=["a"], method="grid", cells=7, contamination="0.1", epsilon=1)),
        (Interval(0, 1.7e308), Score(columns=["a"], bins=8, pair_bins=0, epsilon=1)),
        (Interval(-1, 0.5), Score(columns=["a"], method="grid", cells=8, epsilon=1)),
    ],
)
def test_no_value_makes_the_engine_fail_or_count_otherwise(
    put: Put, domain: Interval, query: Score, tmp_path: Path
) -> None:
    values = EXTREMES + [float(value % 100) for value in range(200)]
    there = Dataset(**put(pa.table({"a": values})), name="t", columns={"a": domain})
    here = Dataset(pd.DataFrame({"a": values}), name="t", columns={"a": domain})
    # Whether an answer comes must not hang on one row: the charge stands either way, and everyone sees it.
    model = am.Curator(there, budget=1, ledger=tmp_path / "t.ledger").ask(query).value
    counts = [count_for(model.method, model.space, dataset.table).to_pylist() for dataset in (there, here)]
    assert sorted(map(str, counts[0])) == sorted(map(str, counts[1]))
    expected = np.sort(model.space.points(np.array(values)[:, None])[:, 0])
    assert np.array_equal(np.sort(collect(model.space.cube(there.table)).column("x0").to_numpy()), expected)


def _chance_of_one_bin(count: int, place: int, least: int, rate: float) -> float:
    """Return the chance that the bounds are the ends of the one bin with records, in closed form."""
    q, bins = math.exp(-rate), BINS

    def at_most(value: int) -> float:
        return 1 - q ** (value + 1) / (1 + q) if value >= 0 else q**-value / (1 + q)

    believed = (1 - at_most(least - 1 - count)) * at_most(least - 1) ** (bins - 1)
    # Or nothing is believed, and it is the first of the largest.
    largest = sum(
        (1 - q)
        / (1 + q)
        * q ** abs(value - count)
        * at_most(value - 1) ** place
        * at_most(value) ** (bins - 1 - place)
        for value in range(count - 200, least)
    )
    return believed + largest


@pytest.mark.parametrize("above", [1, -3])
def test_bounds_have_the_law_of_noise_on_every_bin(above: int) -> None:
    rate, place = Fraction(1), 100
    least, bins = least_count(rate), BINS
    q = math.exp(-1)
    assert bins * q**least / (1 + q) <= 0.001 < bins * q ** (least - 1) / (1 + q)
    counts = np.zeros((1, bins), np.int64)
    counts[0, place] = least + above
    noise = Noise.seeded(3)
    hits = sum(release_bounds(counts, rate, noise) == (bin_bounds(place),) for _ in range(2000))
    chance = _chance_of_one_bin(least + above, place, least, 1.0)
    assert stats.binomtest(hits, 2000, chance).pvalue > 1e-6
    assert stats.binomtest(hits, 2000, _chance_of_one_bin(least + above, place, least, 0.7)).pvalue < 1e-6


def test_bounds_are_released_even_of_nothing() -> None:
    empty = release_bounds(np.zeros((2, BINS), np.int64), Fraction(1), Noise.seeded(3))
    assert len(empty) == 2
    assert all(low < high for low, high in empty)


def test_a_column_of_unknown_bounds_gets_private_ones_and_a_share_pays() -> None:
    columns = {"a": Interval(0, 100), "b": Unbounded()}
    table = am.Dataset(_frame(), name="t", public=True, columns=columns)
    query = am.Score(columns=["a", "b"], method="marginals", rows=400, shares={"bounds": 0.25}, epsilon=2)
    shares = query.bind(table.declaration).shares
    assert list(shares) == ["bounds", "model"]
    assert shares["bounds"] == 500_000_000
    model = am.simulate(query, table, seed=1).value
    assert model.space.lows == (0.0, -1024.0)
    assert model.space.highs == (100.0, -512.0)
    usual, odd = model.score([[50, -900], [50, -520]])
    assert usual < odd
    with pytest.raises(InputError, match="unknown bounds"):
        am.simulate(
            am.Explain(record={"a": 1, "b": 1}, metric="b", attributes=[am.Bins("a", [0, 100])], epsilon=1),
            table,
            seed=1,
        )


QUANTILE = Quantile(Fraction(1, 4))


def _outcomes(worth: Any, rate: float) -> dict[float, float]:
    """Return the law of permute-and-flip by summing over which coins succeed."""
    coins = [math.exp(-rate * (max(worth) - value)) for value in worth]
    law = dict.fromkeys(range(len(worth)), 0.0)
    for pattern in range(1, 2 ** len(worth)):
        successes = [place for place in range(len(worth)) if pattern >> place & 1]
        chance = math.prod(coin if place in successes else 1 - coin for place, coin in enumerate(coins))
        for place in successes:
            law[place] += chance / len(successes)
    return law


def test_the_threshold_has_the_law_of_permute_and_flip_over_exact_utilities() -> None:
    counts = np.array([5, 3, 2, 1, 1])
    edges = np.array([0.5, 1.5, 2.5, 3.5])
    rate = Fraction(1, 10)
    worth = [-abs(4 * above - 12) for above in (7, 4, 2, 1)]
    assert QUANTILE.worth(counts).tolist() == worth
    noise = Noise.seeded(2)
    samples = [release_threshold(counts, edges, QUANTILE, rate, noise) for _ in range(4000)]
    law = {float(edges[place]): mass for place, mass in _outcomes(worth, float(rate)).items()}
    assert fit_outcomes(samples, law).p_value > 1e-6
    flat = {float(edges[place]): mass for place, mass in _outcomes(worth, 0.05).items()}
    assert fit_outcomes(samples, flat).p_value < 1e-6


@pytest.mark.parametrize("part", [Fraction(1, 100), Fraction(1, 4), Fraction(1, 2)])
def test_one_record_changes_a_candidates_worth_by_the_unit_at_most_and_attains_it(part: Fraction) -> None:
    quantile = Quantile(part)
    random = np.random.default_rng(1)
    largest = 0
    for _ in range(200):
        counts = random.integers(0, 5, 6)
        for place in range(6):
            more = counts.copy()
            more[place] += 1
            largest = max(largest, int(np.abs(quantile.worth(more) - quantile.worth(counts)).max()))
    assert largest == quantile.unit
    # Worth may rise for one candidate and fall for another, so one draw costs twice the unit.
    assert quantile.rate(10**9, 3) == Fraction(1, 6 * quantile.unit)


def test_trillions_of_records_have_a_threshold() -> None:
    """In 64 bits the products wrap from 9.2 billion records on, and the draw refused more than 2^62."""
    quantile = Quantile(Fraction(123_456_789, 10**9))
    counts = np.array([1 << 43, 1 << 40, 1 << 33, 1 << 30, 1, 0])
    every = int(counts.sum())
    above = [every - sum(counts[: place + 1].tolist()) for place in range(5)]
    exact = [-abs(10**9 * number - 123_456_789 * every) for number in above]
    assert min(exact) < -(2**63)
    assert quantile.worth(counts).tolist() == exact
    found = release_threshold(counts, np.arange(5.0), quantile, quantile.rate(10**9, 1), Noise.seeded(1))
    assert found == exact.index(max(exact))


def test_scores_of_reference_records_are_counted_between_the_edges() -> None:
    table = am.Dataset(
        _frame(), name="t", public=True, columns={"a": Interval(0, 100), "b": Interval(-1000, 0)}
    )
    model: Model = am.simulate(am.Score(columns=["a", "b"], rows=400, epsilon=5), table, seed=1).value
    edges = candidates(*model.score_range)
    scores = model.score(_frame())
    counts = count_scores(table.table, model, edges)
    assert counts.sum() == 400
    assert np.array_equal(counts[:-1].cumsum(), [(scores <= edge).sum() for edge in edges])


@pytest.mark.parametrize("method", ["grid", "marginals"])
def test_the_private_threshold_is_near_the_quantile(method: str) -> None:
    frame = _frame(4000)
    table = am.Dataset(
        frame, name="t", public=True, columns={"a": Interval(30, 70), "b": Interval(-1000, -800)}
    )
    options = {"cells": 30, "origin": "point"} if method == "grid" else {}
    query = am.Score(columns=["a", "b"], method=method, contamination=0.05, rows=4000, epsilon=4, **options)
    model = am.simulate(query, table, seed=1).value
    assert model.contamination == 0.05
    assert model.is_unusual(frame).mean() == pytest.approx(0.05, abs=0.02)
    assert model.is_unusual([[31, -990], [50, -900]]).tolist() == [True, False]


def _plan(adjacency: Any, **options: Any) -> Any:
    person = {"person": "who", "max_rows": 3}
    frame = _frame().assign(who="x")
    dataset = Dataset(frame, name="t", columns={"a": Interval(0, 1), "b": Unbounded()}, **person)
    query = Score(columns=["a", "b"], method="marginals", contamination="0.1", epsilon=1, **options)
    return query.bind(dataset.with_adjacency(adjacency))


@pytest.mark.parametrize(("adjacency", "changed"), [("add_remove", 3), ("replace", 6)])
def test_rates_follow_from_shares_rows_and_adjacency(adjacency: str, changed: int) -> None:
    plan = _plan(adjacency)
    assert list(plan.shares) == ["bounds", "records", "model", "threshold"]
    assert plan.shares == {
        "bounds": 200_000_000,
        "records": 20_000_000,
        "model": 680_000_000,
        "threshold": 100_000_000,
    }
    assert plan.rate("bounds") == Fraction(2, 10) / changed
    assert plan.rate("records") == Fraction(2, 100) / 3
    assert plan.rate("model") == plan.facts(None).rate == Fraction(68, 100) / changed
    assert plan.rate("threshold") == Fraction(1, 10) / (2 * 9 * changed)


BAD_SHARES: list[tuple[Any, str]] = [
    ({"bounds": 0.5, "records": 0.3, "threshold": 0.2}, "leave something"),
    ({"model": 0.5}, "not a stage"),
    ({"bounds": -1}, "positive"),
    ({"bounds": "many"}, "number"),
]


@pytest.mark.parametrize(("shares", "said"), BAD_SHARES)
def test_shares_that_make_no_sense_are_refused(shares: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _plan("add_remove", shares=shares)
    with pytest.raises(InputError, match="not a stage"):
        _plan("add_remove", rows=400, shares={"records": 0.1})
