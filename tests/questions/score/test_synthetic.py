# SPDX-License-Identifier: Apache-2.0
"""Synthetic rows of a model: typed and within what is declared, with the law of the released histograms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import anonymaly as am
from anonymaly.ask.synthetic import BANNER
from anonymaly.errors import Refused
from anonymaly.questions.score.methods.nearest_counts import nearest_counts

GENERATOR = np.random.default_rng(4)
COUNT = 600
WARDS = np.array(["A", "B", "Z", None], object)
PEOPLE = pd.DataFrame(
    {
        "age": np.where(GENERATOR.random(COUNT) < 0.2, np.nan, GENERATOR.normal(50, 12, COUNT)),
        "bmi": GENERATOR.normal(25, 4, COUNT),
        "ward": WARDS[GENERATOR.integers(0, 4, COUNT)],
        "job": np.array(["nurse", "cook", "clown"])[GENERATOR.integers(0, 3, COUNT)],
        "year": GENERATOR.integers(2000, 2004, COUNT),
        "new": GENERATOR.random(COUNT) < 0.3,
        "came": pd.Timestamp("2024-01-01") + pd.to_timedelta(GENERATOR.integers(0, 364, COUNT), unit="D"),
    }
)
COLUMNS: dict[str, Any] = {
    "age": am.Interval(0, 120),
    "bmi": am.Interval(10, 70),
    "ward": am.Categories(["A", "B"]),
    "job": am.Categories(["nurse", "cook"], other="another"),
    "year": am.Categories([2000, 2001], other=-1),
    "new": am.Flag(),
    "came": am.Timestamps("2024-01-01", "2025-01-01"),
}


def model(**options: Any) -> Any:
    table = am.Dataset(PEOPLE, name="people", columns=COLUMNS, public=True)
    return am.simulate(am.Score(**{"epsilon": 20, **options}), table, seed=2).value


def test_rows_of_a_mixed_model_are_typed_and_within_what_is_declared() -> None:
    rows = model(columns=list(COLUMNS)).draw(3000, seed=1).to_arrow()
    kinds = {field.name: field.type for field in rows.schema}
    assert kinds == {
        "age": pa.float64(),
        "bmi": pa.float64(),
        "ward": pa.string(),
        "job": pa.string(),
        "year": pa.int64(),
        "new": pa.bool_(),
        "came": pa.timestamp("us"),
        "synthetic": pa.bool_(),
    }
    for name, domain in COLUMNS.items():
        values = [item for item in rows[name].to_pylist() if item is not None]
        fits = domain.is_label if isinstance(domain, am.Categories) else domain.contains
        assert values
        assert all(map(fits, values)), name
    assert set(rows["job"].to_pylist()) >= {"nurse", "cook", "another"}
    assert set(rows["year"].to_pylist()) >= {2000, 2001, -1}
    # What is missing, and labels that were not declared and have no other value, are nulls.
    assert 0.1 < rows["age"].null_count / 3000 < 0.3
    assert 0.4 < rows["ward"].null_count / 3000 < 0.6


def test_labels_are_drawn_as_often_as_the_released_histogram_says() -> None:
    released = model(columns=["job", "ward"], pair_bins=0)
    rows = released.draw(20_000, seed=3).to_arrow()
    held = nearest_counts(np.split(released.body["columns"], [released.method.cells[0]])[0])[:3]
    seen = [rows["job"].to_pylist().count(name) for name in ("nurse", "cook", "another")]
    # A fixed seed; of all seeds one in 10,000 fails.
    assert chisquare(seen, held / held.sum() * sum(seen)).pvalue > 1e-4


def test_rows_of_a_grid_fall_into_its_cells_as_often_as_their_counts_say() -> None:
    released = model(columns=["age", "bmi"], method="grid", cells=6)
    rows = released.draw(20_000, seed=3).to_arrow()
    counts = np.zeros((6, 6))
    counts[tuple(released.body["cells"].T)] = np.maximum(released.body["counts"], 0)
    places = [np.clip((rows["age"].to_numpy() / 20).astype(int), 0, 5)]
    places.append(np.clip(((rows["bmi"].to_numpy() - 10) / 10).astype(int), 0, 5))
    seen = np.zeros((6, 6))
    np.add.at(seen, tuple(places), 1)
    assert not seen[counts == 0].any()
    likely = counts / counts.sum() * 20_000 >= 5
    share = counts[likely] / counts[likely].sum()
    assert chisquare(seen[likely], share * seen[likely].sum()).pvalue > 1e-4


def test_rows_of_marginals_have_the_law_of_each_column() -> None:
    released = model(columns=["age", "bmi"], method="marginals", bins=8)
    rows = released.draw(20_000, seed=3).to_arrow()
    mass = nearest_counts(released.body["columns"][1])
    seen = np.histogram(rows["bmi"].to_numpy(), np.linspace(10, 70, 9))[0]
    likely = mass / mass.sum() * 20_000 >= 5
    assert not seen[mass == 0].any()
    assert chisquare(seen[likely], mass[likely] / mass[likely].sum() * seen[likely].sum()).pvalue > 1e-4


@pytest.mark.parametrize("method", ["mixed", "marginals", "grid"])
def test_a_model_that_was_saved_draws_the_same_rows_and_each_seed_others(method: str, tmp_path: Path) -> None:
    released = model(columns=["age", "bmi"], method=method)
    released.save(tmp_path / "people.model")
    first = released.draw(40, seed=9)
    again = am.Model.load(tmp_path / "people.model").draw(40, seed=9)
    assert first.to_arrow().equals(again.to_arrow())
    assert not first.to_arrow().equals(released.draw(40, seed=10).to_arrow())
    assert str(first).startswith(BANNER)
    assert len(released.draw(0)) == 0


def test_a_held_model_draws_nothing_because_its_counts_are_exact() -> None:
    held = model(columns=["age", "bmi"], method="grid", form="held")
    with pytest.raises(Refused, match="exact counts"):
        held.draw(1, seed=0)
