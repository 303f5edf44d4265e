# SPDX-License-Identifier: Apache-2.0
"""The experiment of Böhler et al. 2017 with few points."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from anonymaly import Interval
from studies.runner import Found, Run, reproduce
from studies.sensors import measure as measure_module
from studies.sensors.data import Readings, Source, real_sources, synthetic
from studies.sensors.study import Sensors
from studies.sensors.tables import HEADS

SMALL = Sensors(separations=(220,), points=800, runs=2)
PUBLIC_FILES = os.environ.get("ANONYMALY_DATA")
pytestmark = pytest.mark.slow  # a small run of all of the paper's experiments


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
def found(source: Source, output: Path) -> Found:
    return reproduce(SMALL, [source], Run(output))


def test_the_points_are_the_papers() -> None:
    drawn = synthetic(120, points=20_000, seed=3)
    radius = np.hypot(drawn.values[:, 0], drawn.values[:, 1])
    assert drawn.outliers.sum() == 2000
    assert radius[drawn.outliers].min() - radius[~drawn.outliers].max() == pytest.approx(120, abs=0.1)
    assert drawn.values[~drawn.outliers].std() == pytest.approx(2.5, abs=0.1)  # 3, without the outer tenth


def test_both_readings_of_epsilon_and_the_real_sources_have_a_table(found: Found) -> None:
    by_column, by_reading, real = found.tables
    assert by_column.heads == by_reading.heads == HEADS
    place = HEADS.index("ε per reading")
    assert [line[place] for line in by_column.lines] == ["0.2", "1.0", "2"]
    assert [line[place] for line in by_reading.lines] == ["0.1", "0.5", "1"]
    assert [line[0] for line in real.lines] == ["room"] * 3
    for table in found.tables:
        assert len(table.lines) == 3


def test_correction_finds_what_perturbation_hides(found: Found, output: Path) -> None:
    lines = (output / "measured" / "settings.jsonl").read_text("utf-8").splitlines()[1:]
    entries = [entry for line in lines for entry in json.loads(line)["entries"]]
    strong = [entry for entry in entries if entry["epsilon"] == "0.5" and entry["study"] == "synthetic"]
    assert all(entry["corrected"]["recall"] >= 0.9 and entry["corrected"]["shown"] <= 0.2 for entry in strong)
    shared = [entry for entry in strong if entry["account"] == "reading"]
    assert all(entry["corrected"]["recall"] > entry["perturbed"]["recall"] for entry in shared)
    assert found.further["correction_seconds"] > 0


def test_what_was_measured_is_not_measured_again(
    source: Source, output: Path, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(measure_module, "measure_synthetic", fail)
    monkeypatch.setattr(measure_module, "measure_source", fail)
    again = reproduce(SMALL, [source], Run(output))
    assert again.tables == found.tables
    with pytest.raises(AssertionError):
        reproduce(SMALL, [source], Run(output, force=True))


def test_the_pictures_are_there(found: Found) -> None:
    names = {path.stem for path in found.pictures}
    assert names == {"figure_3_recall", "figure_3_shown", "readings_room"}
    assert all(path.stat().st_size > 1000 for path in found.pictures)


@pytest.mark.skipif(PUBLIC_FILES is None, reason="ANONYMALY_DATA names no folder with the public files")
def test_the_real_sources_have_histories_with_outliers() -> None:
    for found in real_sources(Path(str(PUBLIC_FILES))):
        assert 0 < found.history.outliers.mean() < found.share
        assert sum(window.outliers.sum() for window in found.windows) > 100
