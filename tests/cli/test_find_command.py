# SPDX-License-Identifier: Apache-2.0
"""``anonymaly find``: the plan first, then one charge, then a report; and for the owner without any."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run

MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
  bmi: {type: interval, low: 10, high: 70}
  ward: {type: categories, values: [A, B, C]}
budget: 5.0
"""
NEW = pd.DataFrame({"id": ["a", "b", "c"], "age": [50.0, 50, 51], "bmi": [25, 60, None], "ward": list("ABA")})


@pytest.fixture(autouse=True)
def _tables(folder: Path) -> None:
    random = np.random.default_rng(0)
    patients = {
        "age": random.normal(50, 8, 800).round(1),
        "bmi": random.normal(25, 2, 800),
        "ward": random.choice(["A", "B"], 800),
    }
    pd.DataFrame(patients).to_csv(folder / "patients.csv", index=False)
    (folder / "patients.yaml").write_text(MANIFEST)
    NEW.to_csv(folder / "new.csv", index=False)


def _spent(run: Run, folder: Path) -> str:
    if not (folder / "patients.ledger").exists():
        return "0"
    # By itself: where nothing was asked, there is a ledger and no account in it.
    told = json.loads(run("ledger", "patients.ledger", "--verify", "--json").stdout)
    return str(told["accounts"][0]["spent"]) if told["accounts"] else "0"


def test_the_plan_comes_first_and_then_the_oddest_with_a_report(run: Run, folder: Path) -> None:
    shown = ["--top", "2", "-o", "report.html"]
    done = run("find", "patients.yaml", "new.csv", "--epsilon", "3", "--explain", "1", *shown)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "find: the 2 oddest of 3 records of new.csv, compared with patients"
    shares = [line for line in lines if line.startswith("    ")]
    assert [line.split("ε = ")[1].split()[0] for line in shares] == ["2", "1"]
    assert lines.index("  would cost at most ε = 3 of 5 remaining") < lines.index(
        next(line for line in lines if line.startswith("id b (row 2): score"))
    )
    assert "charged ε = 3;" in done.stdout
    assert "the same with pictures: report.html" in done.stdout
    assert (folder / "report.html").read_text("utf-8").count("<h3>") == 2


def test_a_preview_spends_nothing_and_json_is_one_document(run: Run) -> None:
    command = ["find", "patients.yaml", "new.csv", "--epsilon", "2", "--explain", "1", "--json"]
    told = json.loads(run(*command, "--preview").stdout)
    assert (told["cost"], told["affordable"]) == ("2", True)
    assert [step["name"] for step in told["shares"]] == ["model", "explanation 1"]
    done = run(*command)
    found = json.loads(done.stdout)
    assert (found["charged"], found["remaining"]) == ("2", "3")
    assert found["records"][0]["record"]["id"] == "b"
    assert "in named shares" in done.stderr, "the plan is said before the charge here, too"
    assert json.loads(run(*command).stdout)["charged"] == "0"


SAME = """\
Alter ;bmi;ward;note
50,0;25,5;a ;x
97;60,25;Herz;y
alt;24;B;z
"""
AS_WRITTEN = """\
name: patients
source: german.csv
file: {encoding: latin-1, delimiter: ";"}
reading: {decimal: ",", trim: true, fold: true}
columns:
  "Alter ": {type: interval, low: 0, high: 120}
  bmi: {type: interval, low: 10, high: 70}
  ward: {type: categories, values: [A, B, C], read: {same: {C: [Herz]}}}
budget: 5.0
"""


def test_new_records_may_be_written_as_the_table_is(run: Run, folder: Path) -> None:
    table = pd.read_csv(folder / "patients.csv").rename(columns={"age": "Alter "})
    table.to_csv(folder / "german.csv", sep=";", decimal=",", index=False, encoding="latin-1")
    (folder / "patients.yaml").write_text(AS_WRITTEN)
    (folder / "same.csv").write_text(SAME, "latin-1")
    plain = run("find", "patients.yaml", "same.csv", "--epsilon", "3")
    assert plain.returncode == 2
    assert "if same.csv is written as the table is, add --as-table" in plain.stderr
    assert _spent(run, folder) == "0"
    done = run(
        "find", "patients.yaml", "same.csv", "--epsilon", "3", "--explain", "1", "--as-table", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert "same.csv, Alter : 1 of 3 rows cannot be read" in done.stderr
    found = {item["row"]: item["record"] for item in json.loads(done.stdout)["records"]}
    assert found == {
        1: {"Alter ": 50.0, "bmi": 25.5, "ward": "A", "note": "x"},
        2: {"Alter ": 97.0, "bmi": 60.25, "ward": "C", "note": "y"},
        3: {"Alter ": None, "bmi": 24.0, "ward": "B", "note": "z"},
    }


def test_lines_of_another_length_are_refused_before_a_charge(run: Run, folder: Path) -> None:
    (folder / "torn.csv").write_text("age,bmi,ward\n50,25,A\n51\n")
    done = run("find", "patients.yaml", "torn.csv", "--epsilon", "3", "--as-table")
    assert done.returncode == 2
    assert "of 2 lines of torn.csv, 1 have too few values and 0 too many" in done.stderr
    assert _spent(run, folder) == "0"


def test_without_records_or_owner_it_asks_which(run: Run) -> None:
    done = run("find", "patients.yaml")
    assert done.returncode == 2
    assert "anonymaly find patients.yaml new.csv --epsilon 1" in done.stderr
    assert "anonymaly find patients.yaml --owner" in done.stderr
    assert run("find", "patients.yaml", "new.csv", "--owner").returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["none.csv", "--epsilon", "1"], "there is no file none.csv"),
        (["new.txt", "--epsilon", "1"], "does not name a known format"),
        (["new.csv"], "epsilon: is needed"),
        (["new.csv", "--epsilon", "0"], "must be positive"),
        (["new.csv", "--epsilon", "1", "--top", "0"], "top: must be a whole number"),
        (["new.csv", "--epsilon", "1", "--top", "1000000"], "top: must be a whole number"),
        (["new.csv", "--epsilon", "1", "--columns", "wage"], "no declared column 'wage'"),
        (["new.csv", "--epsilon", "1", "--columns", "ward"], "no number"),
        (["new.csv", "--epsilon", "1", "--missing", "refuse"], "bmi: is missing in 1 of 3 records"),
        (["new.csv", "--epsilon", "1", "--missing", "no"], "must be one of skip"),
        (["new.csv", "--epsilon", "1", "-o", "report.txt"], "must end in .html"),
        (["new.csv", "--epsilon", "1", "-o", "none/report.html"], "there is no folder none"),
        (["empty.csv", "--epsilon", "1"], "has no records"),
        (["nothing.csv", "--epsilon", "1"], "nothing.csv"),
        (["other.csv", "--epsilon", "1"], "has no column 'age'; it has 'id', 'aged'"),
        (["words.csv", "--epsilon", "1"], "words.csv"),
        (["new.csv", "--epsilon", "6"], "needs up to ε=6"),
        (["--owner", "--epsilon", "1"], "means nothing with --owner"),
    ],
)
def test_what_cannot_be_done_is_refused_and_costs_nothing(
    run: Run, folder: Path, options: list[str], said: str
) -> None:
    (folder / "new.txt").write_text("")
    (folder / "nothing.csv").write_text("")
    NEW.iloc[:0].to_csv(folder / "empty.csv", index=False)
    NEW.rename(columns={"age": "aged"}).to_csv(folder / "other.csv", index=False)
    NEW.assign(age="old").to_csv(folder / "words.csv", index=False)
    done = run("find", "patients.yaml", *options)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert _spent(run, folder) == "0"


def test_a_code_stays_a_whole_number(run: Run, folder: Path) -> None:
    rows = pd.DataFrame({"pay": [30.0, 31, 32] * 200, "year": [2003, 2004, None] * 200})
    rows.to_parquet(folder / "paid.parquet")
    (folder / "paid.yaml").write_text(
        "name: paid\nsource: paid.parquet\nbudget: 9\ncolumns:\n"
        "  pay: {type: interval, low: 0, high: 99}\n  year: {type: categories, values: [2003, 2004]}\n"
    )
    (folder / "two.csv").write_text("pay,year\n95,2003\n31,\n")
    command = ["find", "paid.yaml", "two.csv", "--epsilon", "5", "--explain", "0"]
    told = json.loads(run(*command, "--json").stdout)
    assert [item["record"] for item in told["records"]] == [
        {"pay": 95.0, "year": 2003},
        {"pay": 31.0, "year": None},
    ]
    assert "[pay = 95, year = 2003]" in run(*command).stdout


def test_the_owner_sees_exact_rows_and_no_account_is_opened(run: Run, folder: Path) -> None:
    done = run("find", "patients.yaml", "--owner", "--top", "3", "--html", "odd.html")
    assert done.returncode == 0, done.stderr
    assert "for the owner alone" in done.stderr
    assert done.stdout.startswith("The 3 oddest of the 800 rows of patients")
    assert (folder / "odd.html").exists()
    assert not list(folder.glob("*.ledger"))
    told = json.loads(run("find", "patients.yaml", "--owner", "--top", "1", "--json").stdout)
    assert len(told["records"]) == 1
    assert "share" not in told["records"][0]["explained"]
