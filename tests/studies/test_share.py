# SPDX-License-Identifier: Apache-2.0
"""The experiments of 004 on small histograms, with few runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from anonymaly.cli.main import app
from anonymaly.core.arrays import Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.reproduce import share, share_measure
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.share import reproduce_share
from anonymaly.reproduce.share_data import (
    FILE,
    HISTOGRAMS,
    POLICIES,
    RATIOS,
    non_sensitive,
    read_histograms,
    sparsity,
)
from anonymaly.reproduce.share_measure import EPSILONS, errors
from anonymaly.reproduce.share_tables import PAPERS, RELEASED, SCALES, Regrets

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")


def small_histograms() -> dict[str, Integers]:
    generator = np.random.default_rng(1)
    adult, patent = np.zeros(64, np.int64), np.full(64, 900)
    adult[[3, 20, 40]] = 500
    return {"Adult": adult, "Patent": patent + generator.integers(0, 50, 64)}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(output: Path) -> Reproduction[Any]:
    return reproduce_share(small_histograms(), output, runs=2)


def test_every_table_and_figure_is_there(found: Reproduction[Any], output: Path) -> None:
    titles = " ".join(table.title for table in found.tables)
    for name in ("Table 1", "Table 2", *(f"Figure {number}." for number in range(6, 11))):
        assert name in titles
    assert {path.stem for path in found.pictures} == {f"figure_{number}" for number in range(6, 11)}
    assert all(path.stat().st_size > 1000 for path in found.pictures)
    assert json.loads((output / "tables.json").read_text("utf-8")) == found.to_dict()


def test_every_input_is_measured_once(output: Path, found: Reproduction[Any]) -> None:
    lines = (output / "measured" / "share.jsonl").read_text("utf-8").splitlines()[1:]
    inputs = {tuple(json.loads(line)[name] for name in ("histogram", "policy", "ratio")) for line in lines}
    assert len(lines) == len(inputs) == 2 * len(POLICIES) * len(RATIOS)
    results = json.loads(lines[0])["results"]
    assert list(results) == list(EPSILONS)
    assert set(METHODS) < set(results["1"])


def test_an_interrupted_run_goes_on_to_the_same_figures(
    found: Reproduction[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pictures take longer than all measurements here, and are seen to above.
    monkeypatch.setattr(share, "draw", lambda *arguments: [])
    measured: list[int] = []
    honest = share_measure.measure_input

    def interrupted(*arguments: object, **options: object) -> object:
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append(1)
        return honest(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(share_measure, "measure_input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce_share(small_histograms(), tmp_path, runs=2)
    monkeypatch.setattr(share_measure, "measure_input", honest)
    path = tmp_path / "measured" / "share.jsonl"
    kept = path.read_text("utf-8")
    assert len(kept.splitlines()) == 6
    resumed = reproduce_share(small_histograms(), tmp_path, runs=2)
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
    assert set(PAPERS) < set(METHODS)


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


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ANONYMALY_DATA"):
        read_histograms(None)
    with pytest.raises(InputError, match=FILE.replace(".", r"\.")):
        read_histograms(tmp_path)


def test_the_command_prints_the_tables(
    found: Reproduction[Any], output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymaly.cli.reproduce_share.read_histograms", lambda folder: small_histograms())
    monkeypatch.setattr(share, "draw", lambda *arguments: list(found.pictures))
    arguments = ["reproduce", "share", "--data", str(tmp_path), "--output", str(output), "--runs", "2"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.exception
    assert "Figure 6. Regret of MRE by share, both policies, ε = 0.01" in told.stdout
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert document["tables"] == [table.to_dict() for table in found.tables]


def test_the_sample_keeps_what_table_1_prints(found: Reproduction[Any]) -> None:
    for line, paper in zip(found.tables[0].lines, RELEASED.values(), strict=True):
        assert float(line[2]) == pytest.approx(paper, abs=0.005)
        assert float(line[3]) == pytest.approx(paper, abs=0.02)


@pytest.mark.skipif(not PUBLIC_FILES, reason="needs the public files (ANONYMALY_DATA)")
def test_the_histograms_are_those_of_table_2() -> None:
    for name, (empty, scale) in sparsity(read_histograms(Path(str(PUBLIC_FILES)))).items():
        assert (round(empty, 2), scale) == SCALES[name]
