# SPDX-License-Identifier: Apache-2.0
"""Figures 1 to 5 of Kotsogiannis et al. 2020 on invented traces, with few runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymaly.core.arrays import Booleans
from anonymaly.noise import Noise
from studies.runner import Found, Run, reproduce
from studies.traces import study as study_module
from studies.traces.data import Traces, places_by_hour, radios_by_hour, read_traces, trajectories, with_folds
from studies.traces.learning import Examples, error, logistic, objective_perturbation
from studies.traces.paper import EPSILONS, PLACES, SHARES
from studies.traces.policies import choose_places
from studies.traces.study import TraceStudy
from studies.traces.trajectories import Task
from studies.traces.ways import Ways

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")
FOLDS = 2
pytestmark = pytest.mark.slow  # a small run of all of the paper's experiments


def invented_taxis() -> pd.DataFrame:
    """40 taxis over seven days; every fifth changes its place in each step, the others rarely."""
    draw = np.random.default_rng(1)
    parts = []
    for taxi in range(40):
        for day in range(2, 9):
            slots = pd.date_range(f"2008-02-{day:02}", periods=90, freq="10min")
            stays = 1 if taxi % 5 == 0 else 30
            steps = np.repeat(draw.normal(0, 0.1, (90 // stays + 1, 2)), stays, axis=0)[:90]
            parts.append(
                pd.DataFrame(
                    {"taxi": taxi, "slot_10min": slots, "lon": 116.4 + steps[:, 0], "lat": 39.9 + steps[:, 1]}
                )
            )
    return pd.concat(parts, ignore_index=True)


def invented_radios() -> pd.DataFrame:
    draw = np.random.default_rng(2)
    moments = pd.Timestamp("2013-06-20 07:00") + pd.to_timedelta(draw.integers(0, 300, 2000), unit="min")
    return pd.DataFrame({"timestamp": moments, "wap1": draw.integers(1, 90, 2000)})


@pytest.fixture(scope="module")
def traces() -> Traces:
    rows = with_folds(trajectories(invented_taxis()), FOLDS, seed=1)
    return Traces(rows, {"radios": radios_by_hour(invented_radios())})


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(output: Path, traces: Traces) -> Found:
    return reproduce(TraceStudy(runs=1, samples=1, folds=FOLDS), traces, Run(output))


def test_every_figure_is_there_as_a_table_and_a_picture_beside_the_papers_words(
    found: Found, output: Path
) -> None:
    titles = " ".join(table.title for table in found.tables)
    assert all(f"Figure {number}." in titles for number in range(1, 6))
    assert {path.stem for path in found.pictures} == {f"figure_{number}" for number in range(1, 6)}
    assert all(path.stat().st_size > 1000 for path in found.pictures)
    said = next(table for table in found.tables if table.title == "What the paper says, and ours")
    assert {str(line[0]).split(",")[0] for line in said.lines} == {f"Figure {n}" for n in range(1, 6)}
    assert all(said.column("paper"))
    assert json.loads((output / "tables.json").read_text("utf-8")) == found.to_dict()


def test_what_was_measured_is_kept_and_not_measured_again(
    found: Found, traces: Traces, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "input", None)
    monkeypatch.setattr(study_module, "draw", lambda *arguments: [])
    again = reproduce(TraceStudy(runs=1, samples=1, folds=FOLDS), traces, Run(output))
    assert again.tables == found.tables
    lines = (output / "measured" / "trajectories.jsonl").read_text("utf-8").splitlines()[1:]
    assert len(lines) == (len(SHARES) + 1) * (len(EPSILONS) + 1)


def test_a_classifier_trained_on_a_sample_knows_busy_taxis_where_most_are_harmless(found: Found) -> None:
    table = next(table for table in found.tables if table.title.startswith("Figure 1."))
    errors = {line[0]: line[1] for line in table.lines}
    assert errors["sample, ε = 1"] < 0.05
    assert errors["all records, open"] < 0.05


def test_whoever_passes_a_sensitive_place_once_is_in_no_sample(traces: Traces) -> None:
    places = traces.policies["0.50"]
    sample = Task(traces, 1, 1, FOLDS, 1)._sample("0.50", "1", seed=3)
    assert len(sample) > 0
    assert not set(sample["place"].astype(int)) & set(places.sensitive)
    whole = traces.rows.groupby("trajectory").size()
    assert set(sample.groupby("person").size()) <= set(whole)  # all rows of a day, or none


@pytest.mark.parametrize("share", SHARES)
def test_sensitive_places_leave_the_wanted_share(share: str) -> None:
    visits: Booleans = np.random.default_rng(3).random((4000, PLACES)) < np.linspace(0.001, 0.3, PLACES)
    found = choose_places(visits, float(share), seed=1)
    avoids = ~visits[:, list(found.sensitive)].any(axis=1)
    assert avoids.mean() == found.share == pytest.approx(float(share), abs=0.02)


def test_busy_taxis_change_their_place_all_day(traces: Traces) -> None:
    busy = traces.rows.groupby("taxi")["busy"].first()
    assert busy[busy].index.tolist() == list(range(0, 40, 5))
    assert (traces.rows.groupby("taxi")["fold"].nunique() == 1).all()


def test_a_taxi_counts_once_in_each_place_and_hour_of_the_largest_day(traces: Traces) -> None:
    rows = places_by_hour(traces.rows)
    day = traces.rows[traces.rows["day"] == "2008-02-04"]
    assert len(rows) == len(set(zip(day["taxi"], day["place"], day["slot"] // 6, strict=True))) < len(day)
    counts = Traces(traces.rows, {"taxis": rows}).exact_grid("taxis")
    assert counts.sum() == len(rows)
    assert counts.max() <= 40


def test_sequences_are_counted_once_for_a_trajectory_and_never_across_two() -> None:
    rows = pd.DataFrame({"trajectory": [0, 0, 0, 0, 1, 1], "place": [1, 2, 1, 2, 1, 2]})
    ways = Ways.of(rows, 2)
    assert dict(zip(ways.codes.tolist(), ways.counts.tolist(), strict=True)) == {66: 2, 129: 1}
    assert ways.among(np.array([1])).tolist() == [1, 0]
    found, beside = ways.aligned(np.array([66, 70]), np.array([1, 5]))
    assert found.tolist() == [1, 0]
    assert beside == 5
    assert ways.errors(found, beside)["held"] == 0.75
    assert ways.errors(found, beside)["possible"] == 6.5 / PLACES**2


def test_of_a_trajectory_only_some_sequences_count_if_they_are_truncated(traces: Traces) -> None:
    ways = Ways.of(traces.rows, 4)
    assert ways.truncated(1, Noise.seeded(1)).sum() == len(np.unique(ways.owner))
    assert (ways.truncated(10**6, Noise.seeded(1)) == ways.counts).all()


def test_objective_perturbation_learns_where_epsilon_is_vast_and_not_where_it_is_small(
    traces: Traces,
) -> None:
    examples = Examples.of(traces.rows, "trajectory")
    assert error(examples, examples, FOLDS, logistic) < 0.01
    vast = objective_perturbation(1e6, 1e-4, Noise.seeded(1))
    assert error(examples, examples, FOLDS, vast) < 0.01
    small = [
        error(examples, examples, FOLDS, objective_perturbation(1e-4, 1e-4, Noise.seeded(seed)))
        for seed in range(20)
    ]
    assert np.mean(small) > 0.2


@pytest.mark.skipif(not PUBLIC_FILES, reason="needs the public files (ANONYMALY_DATA)")
def test_the_public_traces_have_as_many_busy_taxis_as_the_paper_has_residents() -> None:
    rows = read_traces(Path(str(PUBLIC_FILES)), 10, 1).rows
    days = rows.groupby("trajectory")["busy"].first()
    assert len(days) == 3983
    assert days.mean() == pytest.approx(43 / 553, abs=0.005)
