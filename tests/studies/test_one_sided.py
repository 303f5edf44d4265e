# SPDX-License-Identifier: Apache-2.0
"""The experiments of Kotsogiannis et al. 2020 on small histograms, with few runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS
from studies.one_sided import measure as measure_module
from studies.one_sided import study as study_module
from studies.one_sided.data import FILE, HISTOGRAMS, non_sensitive, read_histograms, sparsity
from studies.one_sided.measure import errors
from studies.one_sided.paper import EPSILONS, POLICIES, RATIOS, RELEASED, SCALES, SIX_METHODS
from studies.one_sided.study import OneSided
from studies.one_sided.tables import Regrets
from studies.runner import Found, Run, reproduce

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")
pytestmark = pytest.mark.slow  # a small run of all of the paper's experiments


def small_histograms() -> dict[str, Integers]:
    generator = np.random.default_rng(1)
    adult, patent = np.zeros(64, np.int64), np.full(64, 900)
    adult[[3, 20, 40]] = 500
    return {"Adult": adult, "Patent": patent + generator.integers(0, 50, 64)}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(output: Path) -> Found:
    return reproduce(OneSided(runs=2), small_histograms(), Run(output))


def test_every_table_and_figure_is_there(found: Found, output: Path) -> None:
    titles = " ".join(table.title for table in found.tables)
    for name in ("Table 1", "Table 2", *(f"Figure {number}." for number in range(6, 11))):
        assert name in titles
    assert {path.stem for path in found.pictures} == {f"figure_{number}" for number in range(6, 11)}
    assert all(path.stat().st_size > 1000 for path in found.pictures)
    assert json.loads((output / "tables.json").read_text("utf-8")) == found.to_dict()


def test_every_input_is_measured_once(output: Path, found: Found) -> None:
    lines = (output / "measured" / "inputs.jsonl").read_text("utf-8").splitlines()[1:]
    inputs = {tuple(json.loads(line)[name] for name in ("histogram", "policy", "ratio")) for line in lines}
    assert len(lines) == len(inputs) == 2 * len(POLICIES) * len(RATIOS)
    results = json.loads(lines[0])["results"]
    assert list(results) == list(EPSILONS)
    assert set(METHODS) < set(results["1"])


def test_an_interrupted_run_goes_on_to_the_same_figures(
    found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pictures take longer than all measurements here, and are seen to above.
    monkeypatch.setattr(study_module, "draw", lambda *arguments: [])
    measured: list[int] = []
    honest = measure_module.measure_input

    def interrupted(*arguments: object, **options: object) -> object:
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append(1)
        return honest(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(measure_module, "measure_input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(OneSided(runs=2), small_histograms(), Run(tmp_path))
    monkeypatch.setattr(measure_module, "measure_input", honest)
    path = tmp_path / "measured" / "inputs.jsonl"
    kept = path.read_text("utf-8")
    assert len(kept.splitlines()) == 6
    resumed = reproduce(OneSided(runs=2), small_histograms(), Run(tmp_path))
    assert path.read_text("utf-8").startswith(kept)
    assert resumed.tables == found.tables


def test_regret_is_against_the_best_on_each_input() -> None:
    entries = [
        {"results": {"1": {"a": {"mre": 2.0, "rel50": 0.0}, "b": {"mre": 1.0, "rel50": 0.03}}}},
        {"results": {"1": {"a": {"mre": 1.0, "rel50": 0.0}, "b": {"mre": 4.0, "rel50": 0.0}}}},
    ]
    regrets = Regrets(entries, ("a", "b"))
    assert regrets.mean("a", "1", "mre") == 1.5
    assert regrets.mean("b", "1", "mre") == 2.5
    assert regrets.mean("b", "1", "rel50") == 2.0  # 3 % against 1 %, and 1 % against 1 %
    assert set(SIX_METHODS) < set(METHODS)


def test_relative_errors_are_over_one_where_nothing_is_there() -> None:
    found = errors(np.array([0, 0, 4, 100]), np.array([0, 3, 2, 100]))
    assert found == {"mre": 0.875, "rel50": 0.25, "rel95": pytest.approx(2.625), "l1": 5.0}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("ratio", RATIOS)
def test_policies_keep_the_share_and_never_more_than_there_is(policy: str, ratio: str) -> None:
    counts = small_histograms()["Patent"] * 100
    part = non_sensitive(counts, policy, ratio, Noise.seeded(3))
    assert (part <= counts).all()
    assert part.sum() / counts.sum() == pytest.approx(float(ratio), rel=0.02)


def test_far_policies_prefer_a_region_and_close_ones_do_not() -> None:
    counts = np.full(1000, 10_000)
    close, far = (non_sensitive(counts, policy, "0.25", Noise.seeded(5)) / counts for policy in POLICIES)
    assert close.max() - close.min() < 0.05
    assert far.max() > 2.5 * far.min()


def test_histograms_are_read_by_name(tmp_path: Path) -> None:
    given = {name.upper(): np.full(4, number) for number, name in enumerate(HISTOGRAMS)}
    np.savez(tmp_path / FILE, **given)
    found = read_histograms(tmp_path)
    assert list(found) == list(HISTOGRAMS)
    assert found["Patent"].tolist() == [6] * 4


def test_the_sample_keeps_what_table_1_prints(found: Found) -> None:
    for line, paper in zip(found.tables[0].lines, RELEASED.values(), strict=True):
        assert line[2] == pytest.approx(paper, abs=0.005)
        assert line[3] == pytest.approx(paper, abs=0.02)


@pytest.mark.skipif(not PUBLIC_FILES, reason="needs the public files (ANONYMALY_DATA)")
def test_the_histograms_are_those_of_table_2() -> None:
    for name, (empty, scale) in sparsity(read_histograms(Path(str(PUBLIC_FILES)))).items():
        assert (round(empty, 2), scale) == SCALES[name]
