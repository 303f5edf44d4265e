# SPDX-License-Identifier: Apache-2.0
"""The experiment of 001 with few points, and how it is interrupted, printed and drawn."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from anonymaly import Interval
from studies.__main__ import app
from studies.runner import Reproduction
from studies.sensors import measure as stream_measure
from studies.sensors import printing as printed
from studies.sensors.data import Readings, Source, real_sources, synthetic
from studies.sensors.study import reproduce_stream
from studies.sensors.tables import HEADS

PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")


@pytest.fixture(scope="module")
def source() -> Source:
    values = 22 + np.sin(np.arange(1600))
    outliers = np.arange(1600) % 40 == 5
    values[outliers] += 100
    rows = values[:, np.newaxis]
    window = Readings(rows[800:], outliers[800:])
    return Source(
        "room", "°C", Readings(rows[:800], outliers[:800]), (window,), Interval(-50, 400), share=0.08
    )


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def found(source: Source, output: Path) -> Reproduction[Any]:
    return reproduce_stream([source], output, separations=(220,), points=800, runs=2)


def test_the_points_are_the_papers() -> None:
    drawn = synthetic(120, points=20_000, seed=3)
    radius = np.hypot(drawn.values[:, 0], drawn.values[:, 1])
    assert drawn.outliers.sum() == 2000
    assert radius[drawn.outliers].min() - radius[~drawn.outliers].max() == pytest.approx(120, abs=0.1)
    assert drawn.values[~drawn.outliers].std() == pytest.approx(2.5, abs=0.1)  # 3, without the outer tenth


def test_both_readings_of_epsilon_and_the_real_sources_have_a_table(found: Reproduction[Any]) -> None:
    by_column, by_reading, real = found.tables
    assert by_column.heads == by_reading.heads == HEADS
    place = HEADS.index("ε per reading")
    assert [line[place] for line in by_column.lines] == ["0.2", "1.0", "2"]
    assert [line[place] for line in by_reading.lines] == ["0.1", "0.5", "1"]
    assert [line[0] for line in real.lines] == ["room"] * 3
    for table in found.tables:
        assert len({len(line) for line in table.lines}) == 1
        assert printed.grid(table).row_count == 3


def test_correction_finds_what_perturbation_hides(found: Reproduction[Any], output: Path) -> None:
    lines = (output / "measured" / "stream.jsonl").read_text("utf-8").splitlines()[1:]
    entries = [entry for line in lines for entry in json.loads(line)["entries"]]
    strong = [entry for entry in entries if entry["epsilon"] == "0.5" and entry["study"] == "synthetic"]
    assert all(entry["corrected"]["recall"] >= 0.9 and entry["corrected"]["shown"] <= 0.2 for entry in strong)
    shared = [entry for entry in strong if entry["account"] == "reading"]
    assert all(entry["corrected"]["recall"] > entry["perturbed"]["recall"] for entry in shared)
    assert found.further["correction_seconds"] > 0


def test_what_was_measured_is_not_measured_again(
    source: Source, output: Path, found: Reproduction[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(stream_measure, "measure_synthetic", fail)
    monkeypatch.setattr(stream_measure, "measure_source", fail)
    again = reproduce_stream([source], output, separations=(220,), points=800, runs=2)
    assert again.tables == found.tables
    with pytest.raises(AssertionError):
        reproduce_stream([source], output, separations=(220,), points=800, runs=2, force=True)


def test_the_pictures_are_there(found: Reproduction[Any]) -> None:
    names = {path.stem for path in found.pictures}
    assert names == {"figure_3_recall", "figure_3_shown", "readings_room"}
    assert all(path.stat().st_size > 1000 for path in found.pictures)


def test_the_command_names_the_files_it_needs(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["stream", "--data", str(tmp_path)])
    assert done.exit_code != 0
    assert "holds no keti_building.parquet" in str(done.exception)
    done = CliRunner().invoke(app, ["nonsense"])
    assert "stream" in str(done.exception)


@pytest.mark.skipif(PUBLIC_FILES is None, reason="ANONYMALY_DATA names no folder with the public files")
def test_the_real_sources_have_histories_with_outliers() -> None:
    for found in real_sources(Path(str(PUBLIC_FILES))):
        assert 0 < found.history.outliers.mean() < found.share
        assert sum(window.outliers.sum() for window in found.windows) > 100
