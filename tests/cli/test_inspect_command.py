# SPDX-License-Identifier: Apache-2.0
"""``anonymaly inspect``: what an owner sees of their own rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run

MANIFEST = """\
name: points
source: points.parquet
columns:
  x: {type: interval, low: -10, high: 10}
  y: {type: interval, low: -10, high: 10}
rules:
  rare: {type: anomaly_model, columns: [x, y], radius: 0.5, beta: 6}
  exact: {type: anomaly_model, columns: [x, y], radius: 0, beta: 6}
budget: 1.0
"""


@pytest.fixture
def points(folder: Path) -> Path:
    values = np.random.default_rng(1).normal(0, 1.5, (300, 2))
    pd.DataFrame(values, columns=["x", "y"]).to_parquet(folder / "points.parquet")
    (folder / "points.yaml").write_text(MANIFEST)
    return folder


def test_labels_are_counted_and_written(run: Run, points: Path) -> None:
    done = run(
        "inspect", "anomalies", "points.yaml", "--model", "rare", "--output", "labels.parquet", "--json"
    )
    told = json.loads(done.stdout)
    labels = pq.read_table(points / "labels.parquet").to_pandas()
    assert told == {
        "records": 300,
        "anomalies": int(labels.anomalous.sum()),
        "protected": int(labels.sensitive.sum()),
    }
    assert 0 < told["anomalies"] < 300
    assert "for the owner alone" in done.stderr


def test_a_privacy_map_is_told_and_drawn(run: Run, points: Path) -> None:
    done = run(
        "inspect", "privacy-map", "points.yaml", "--model", "rare", "--epsilon", "0.25", "--pictures", "maps"
    )
    assert done.returncode == 0
    assert "largest epsilon of protected: 0.25" in done.stdout
    assert {"accuracy.png", "privacy.png"} <= {path.name for path in (points / "maps").iterdir()}
    assert not (points / "points.ledger").exists()


def test_regularity_is_told(run: Run, points: Path) -> None:
    assert "regular: True" in run("inspect", "regularity", "points.yaml", "--model", "rare").stdout
    assert "regular: False" in run("inspect", "regularity", "points.yaml", "--model", "exact").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("privacy-map", "points.yaml", "--model", "rare"), "epsilon"),
        (("anomalies", "points.yaml", "--model", "rare", "--output", "labels.csv"), "parquet"),
    ],
)
def test_what_is_missing_is_said(run: Run, points: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run("inspect", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_model_that_is_not_declared_is_refused(run: Run, points: Path) -> None:
    done = run("inspect", "anomalies", "points.yaml", "--model", "none")
    assert done.returncode == 1
    assert "rare" in done.stderr


def test_columns_are_looked_at_before_anything_is_charged(run: Run, folder: Path) -> None:
    (folder / "patients.csv").write_text("age,ward\n30,A\nthirty,a\n31,a\n")
    done = run("inspect", "columns", "patients.yaml", "--html", "report.html")
    assert done.returncode == 0, done.stderr
    assert "for the owner alone" in done.stderr
    assert "'thirty' (1)" in done.stdout
    assert "'a' (2)" in done.stdout
    page = folder / "report.html"
    assert "thirty" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o077 == 0, "what is seen there is not public"
    assert not (folder / "patients.ledger").exists()
    told = json.loads(run("inspect", "columns", "patients.yaml", "--json").stdout)
    assert [(column["column"], column["unreadable"], column["undeclared"]) for column in told["columns"]] == [
        ("ward", 0, 2),
        ("age", 1, 0),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("columns", "patients.yaml", "--html", "report.txt"), "html: must end in .html"),
        (("columns", "patients.yaml", "--html", "nowhere/report.html"), "html: there is no folder nowhere"),
        (("columns", "patients.yaml", "--model", "rare"), "model: means nothing to columns"),
        (("columns", "patients.yaml", "--epsilon", "1"), "epsilon: means nothing to columns"),
        (("anomalies", "patients.yaml"), "model: is needed for anomalies"),
        (
            ("anomalies", "patients.yaml", "--model", "rare", "--html", "x.html"),
            "html: means nothing to anomalies",
        ),
    ],
)
def test_options_of_another_look_are_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run("inspect", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
