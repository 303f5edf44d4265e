# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.cli import record_files

Run = Callable[..., "subprocess.CompletedProcess[str]"]

MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
  bmi: {type: interval, low: 10, high: 70}
  ward: {type: categories, values: [A, B, C]}
budget: 5.0
"""
NEW = pd.DataFrame({"id": ["a", "=1+1", "-5"], "age": [50.0, 110.0, 20.0], "bmi": [25, 60, 25]})


@pytest.fixture(autouse=True)
def _tables(folder: Path) -> None:
    random = np.random.default_rng(0)
    patients = {"age": random.normal(50, 8, 500).round(1), "bmi": random.normal(25, 3, 500), "ward": "A"}
    pd.DataFrame(patients).to_csv(folder / "patients.csv", index=False)
    (folder / "patients.yaml").write_text(MANIFEST)
    NEW.to_csv(folder / "new.csv", index=False)
    NEW.astype({"id": "category"}).to_parquet(folder / "new.parquet")


def _spent(run: Run) -> str:
    told: dict[str, Any] = json.loads(run("ledger", "patients.yaml", "--json").stdout)
    return str(told["statement"]["spent"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["grid", "marginals"])
def test_records_are_scored_by_a_model_that_is_asked_for_once(run: Run, folder: Path, method: str) -> None:
    command = ["score", "patients.yaml", "--model", "patients.model", "--epsilon", "2", "--method", method]
    done = run(*command, "new.csv", "-o", "scores.csv", "--contamination", "0.05")
    assert done.returncode == 0, done.stderr
    assert "scored 3 records" in done.stdout
    assert "charged         ε = 2" in done.stdout
    model = am.Model.load(folder / "patients.model")
    assert model.columns == ("age", "bmi")
    scores = pd.read_csv(folder / "scores.csv")
    assert scores.columns.tolist() == ["id", "age", "bmi", "score", "unusual"]
    assert scores["score"].to_numpy() == pytest.approx(model.score(NEW[["age", "bmi"]]))
    assert scores["unusual"].tolist() == model.is_unusual(NEW[["age", "bmi"]]).tolist()
    assert scores["id"].tolist() == ["a", "'=1+1", "-5"], "a formula in a CSV must not run in a spreadsheet"
    again = run(
        "score", "patients.yaml", "new.parquet", "-o", "s.parquet", "--model", "patients.model", "--json"
    )
    told = json.loads(again.stdout)
    assert (told["records"], told["value"]["method"]) == (3, method)
    written = pd.read_parquet(folder / "s.parquet")
    assert written["score"].tolist() == scores["score"].tolist()
    assert written["id"].tolist() == NEW["id"].tolist()
    assert (
        run("score", "patients.yaml", "new.parquet", "-o", "s.csv", "--model", "patients.model").returncode
        == 0
    )
    assert (folder / "s.csv").read_text() == (folder / "scores.csv").read_text()
    assert _spent(run) == "2"


def test_large_files_go_batch_by_batch(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "ROWS", 100)
    monkeypatch.setattr(record_files, "BYTES", 4096)
    many = pd.concat([NEW] * 300, ignore_index=True)
    many.to_csv(folder / "many.csv", index=False)
    many.to_parquet(folder / "many.parquet")
    for name in ("many.csv", "many.parquet"):
        done = run(
            "score", "patients.yaml", name, "-o", "out.parquet", "--epsilon", "1", "--model", "m", "--json"
        )
        assert json.loads(done.stdout)["records"] == 900
        written = pd.read_parquet(folder / "out.parquet")
        assert written["id"].tolist() == many["id"].tolist()
        expected = am.Model.load(folder / "m").score(NEW[["age", "bmi"]]).tolist()
        assert written["score"].tolist() == expected * 300


def test_a_file_without_records_gives_a_file_without_scores(run: Run, folder: Path) -> None:
    NEW.iloc[:0].to_csv(folder / "none.csv", index=False)
    NEW.iloc[:0].to_parquet(folder / "none.parquet")
    for name in ("none.csv", "none.parquet"):
        done = run("score", "patients.yaml", name, "-o", "out.csv", "--epsilon", "1")
        assert done.returncode == 0, done.stderr
        assert pd.read_csv(folder / "out.csv").columns.tolist() == ["id", "age", "bmi", "score"]


def test_a_preview_spends_nothing_and_json_is_one_document(run: Run) -> None:
    told = json.loads(run("score", "patients.yaml", "--epsilon", "1", "--preview", "--json").stdout)
    assert told["cost"] == "1"
    assert told["shares"] == {"records": "0.02", "coarse": "0.147", "finer": "0.147", "model": "0.686"}
    answer = json.loads(run("score", "patients.yaml", "--epsilon", "1", "--json").stdout)
    assert answer["charged"] == "1"
    assert "body" not in answer["value"]
    assert _spent(run) == "1"


BAD = [
    ([], 2, "epsilon"),
    (["--epsilon", "9"], 1, "remain"),
    (["--epsilon", "1", "--columns", "ward", "--method", "grid"], 2, "needs numbers"),
    (["--epsilon", "1", "--missing", "drop"], 2, "skip, refuse, value"),
    (["--epsilon", "1", "--top", "3"], 2, "records go together"),
    (["gaps.csv", "--top", "3", "--missing", "refuse", "--epsilon", "1"], 2, "is missing in 1 of 3"),
    (["--epsilon", "1", "--method", "svm"], 2, "no method"),
    (["--epsilon", "1", "--cells", "two"], 2, "cells"),
    (["new.csv", "--epsilon", "1"], 2, "output"),
    (["-o", "scores.csv", "--epsilon", "1"], 2, "output"),
    (["nothing.csv", "-o", "scores.csv", "--epsilon", "1"], 2, "nothing.csv"),
    (["new.csv", "-o", "scores.txt", "--epsilon", "1"], 2, "scores.txt"),
    (["new.csv", "-o", "nowhere/scores.csv", "--epsilon", "1"], 2, "nowhere"),
    (["new.csv", "-o", "folder.csv", "--epsilon", "1"], 2, "folder.csv is a folder"),
    (["--model", "nowhere/model", "--epsilon", "1"], 2, "there is no folder nowhere"),
    (["taken.csv", "-o", "scores.csv", "--epsilon", "1"], 2, "'score' already"),
    (["short.csv", "-o", "scores.csv", "--epsilon", "1"], 2, "no column 'bmi'"),
    (["broken.parquet", "-o", "scores.csv", "--epsilon", "1"], 2, "broken.parquet"),
    (["new.csv", "-o", "scores.csv", "--model", "broken.parquet"], 2, "not a model"),
    (["new.csv", "-o", "scores.csv", "--epsilon", "1", "--form", "held", "--method", "grid"], 1, "stored"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), BAD, ids=lambda item: str(item)[:60])
def test_bad_input_is_explained_before_anything_is_spent(
    run: Run, folder: Path, arguments: list[str], code: int, said: str
) -> None:
    NEW.assign(score=1).to_csv(folder / "taken.csv", index=False)
    NEW[["age"]].to_csv(folder / "short.csv", index=False)
    (folder / "broken.parquet").write_bytes(b"PAR1")
    (folder / "folder.csv").mkdir()
    NEW.assign(age=[50.0, None, 20.0]).to_csv(folder / "gaps.csv", index=False)
    run("count", "patients.yaml", "--epsilon", "0.1")
    done = run("score", "patients.yaml", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "scores.csv").exists()
    assert _spent(run) == "0.1"


@pytest.mark.parametrize(
    ("age", "said"),
    [("", "is missing"), ("thirty", "cannot read"), ("nan", "is missing"), ("inf", "infinite")],
)
def test_a_bad_value_in_the_records_leaves_no_half_file(run: Run, folder: Path, age: str, said: str) -> None:
    (folder / "bad.csv").write_text(f"age,bmi\n50,25\n{age},25\n")
    run("count", "patients.yaml", "--epsilon", "0.1")
    rule = ["--missing", "refuse"]
    done = run("score", "patients.yaml", "bad.csv", "-o", "scores.csv", "--epsilon", "1", *rule)
    assert done.returncode == 2
    assert said in done.stderr
    assert not [path.name for path in folder.iterdir() if "scores" in path.name or "partial" in path.name]
    assert _spent(run) == "0.1", "the beginning of the file is read before the charge"


def test_a_bad_value_far_into_the_records_says_that_the_model_is_kept(run: Run, folder: Path) -> None:
    ages = np.full(record_files.ROWS + 1, 50.0)
    ages[-1] = np.nan
    pd.DataFrame({"age": ages, "bmi": 25.0}).to_parquet(folder / "late.parquet")
    rule = ["--missing", "refuse"]
    done = run("score", "patients.yaml", "late.parquet", "-o", "scores.csv", "--epsilon", "1", *rule)
    assert done.returncode == 2
    assert "is missing" in done.stderr
    assert "charged and is stored" in " ".join(done.stderr.split())
    assert not (folder / "scores.csv").exists()
    again = run("score", "patients.yaml", "new.csv", "-o", "scores.csv", "--epsilon", "1")
    assert again.returncode == 0
    assert _spent(run) == "1"


def test_a_model_file_of_another_question_is_not_used_by_mistake(run: Run, folder: Path) -> None:
    run("score", "patients.yaml", "--epsilon", "1", "--model", "m")
    NEW.assign(ward="A").to_csv(folder / "new.csv", index=False)
    for arguments, said in ((["--epsilon", "2"], "ε = 1"), (["--columns", "age"], "age, bmi")):
        done = run("score", "patients.yaml", "new.csv", "-o", "s.csv", "--model", "m", *arguments)
        assert done.returncode == 2
        assert said in done.stderr
    assert (
        run("score", "patients.yaml", "new.csv", "-o", "s.csv", "--model", "m", "--epsilon", "1.0").returncode
        == 0
    )
    assert _spent(run) == "1"


REAL = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [50.0, 110.0, None, 50.0],
        "bmi": [25.0, 60.0, 25.0, 25.0],
        "ward": ["A", "A", "A", "nowhere"],
    }
)


def test_the_oddest_records_are_printed_with_reasons_and_missing_values_are_left_out(
    run: Run, folder: Path
) -> None:
    REAL.to_csv(folder / "real.csv", index=False)
    command = ["score", "patients.yaml", "real.csv", "--epsilon", "4", "--model", "m", "--top", "2"]
    done = run(*command, "--reasons")
    assert done.returncode == 0, done.stderr
    told = json.loads(run(*command, "--reasons", "--json").stdout)
    assert told["top"][0]["row"] == 2
    assert told["top"][0]["record"] == {"age": 110.0, "bmi": 60.0, "ward": "A"}
    assert told["top"][0]["reasons"][0]["words"] in done.stdout
    assert {item["row"] for item in told["top"]} == {2, 4}, "an undeclared ward is odd, a missing age is not"
    assert am.Model.load(folder / "m").columns == ("age", "bmi", "ward")
    plain = json.loads(run(*command, "--json").stdout)["top"]
    assert all("reasons" not in item for item in plain)
    assert "nowhere" in run(*command).stdout
    assert _spent(run) == "4"


def test_a_file_without_a_column_of_labels_is_scored_by_its_numbers(run: Run, folder: Path) -> None:
    told = json.loads(
        run("score", "patients.yaml", "new.csv", "--top", "1", "--epsilon", "1", "--json").stdout
    )
    assert told["value"]["space"]["columns"] == ["age", "bmi"]
    assert told["top"][0]["row"] == 2
