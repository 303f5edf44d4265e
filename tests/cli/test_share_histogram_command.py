# SPDX-License-Identifier: Apache-2.0
"""``share-histogram`` shows its cells as bars and on a page, and writes synthetic rows; so does ``score``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
CELLS = ["share-histogram", "patients.yaml", "--by", "ward", "--method", "geometric", "--epsilon", "0.9"]


def _spent(run: Run) -> str:
    return str(json.loads(run("ledger", "patients.yaml", "--json").stdout)["statement"]["spent"])


def test_bars_a_page_and_synthetic_rows_come_with_one_charge(run: Run, folder: Path) -> None:
    many = {"age": [30, 17, 45] * 200, "ward": ["A", "B", "A"] * 200}
    pandas.DataFrame(many).to_csv(folder / "patients.csv", index=False)
    first = json.loads(run(*CELLS, "--json").stdout)
    wanted = ["--chart", "--html", "cells.html", "--synthetic", "rows.csv", "--draw", "40", "-o", "cells.csv"]
    done = run(*CELLS, *wanted)
    assert done.returncode == 0, done.stderr
    assert "each interval holds in 95 of 100 releases" in done.stdout
    assert "40 synthetic rows, marked as such: rows.csv" in done.stdout
    assert "<svg" in (folder / "cells.html").read_text()
    assert "protected" in (folder / "cells.html").read_text()
    rows = pandas.read_csv(folder / "rows.csv")
    assert len(rows) == 40
    assert rows["synthetic"].all()
    assert set(rows["ward"]) <= {"A", "B", "C"}
    assert pandas.read_csv(folder / "cells.csv")["estimate"].tolist() == first["value"]["estimates"]
    assert _spent(run) == "0.9"


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (["--html", "cells.txt"], ".html"),
        (["--html", "nowhere/cells.html"], "no folder nowhere"),
        (["--synthetic", "rows.xlsx"], "synthetic: the ending .xlsx"),
        (
            ["--synthetic", "rows.csv", "--draw", "1000001"],
            "draw: must be a whole number from 0 to 1,000,000",
        ),
        (["--rehearse", "--synthetic", "rows.csv"], "invented"),
        (["--rehearse", "--html", "cells.html"], "invented"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_charge(
    run: Run, folder: Path, wanted: list[str], named: str
) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    done = run(*CELLS, *wanted)
    assert done.returncode == 2, done.stdout
    assert named in done.stderr
    assert _spent(run) == "0.1"
    assert not list(folder.glob("rows*")) + list(folder.glob("cells*"))


@pytest.mark.slow
def test_a_model_draws_rows_too(run: Run, folder: Path) -> None:
    command = ["score", "patients.yaml", "--columns", "age", "--columns", "ward", "--epsilon", "0.9"]
    done = run(*command, "--model", "m.model", "--synthetic", "rows.parquet", "--draw", "25")
    assert done.returncode == 0, done.stderr
    rows = pandas.read_parquet(folder / "rows.parquet")
    assert rows.columns.tolist() == ["age", "ward", "synthetic"]
    assert len(rows) == 25
    assert rows["age"].dropna().between(0, 120).all()
    again = run("score", "patients.yaml", "--model", "m.model", "--synthetic", "more.csv", "--draw", "3")
    assert again.returncode == 0, again.stderr
    assert "nothing was asked or charged" in again.stdout
    assert len(pandas.read_csv(folder / "more.csv")) == 3
