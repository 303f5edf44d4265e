# SPDX-License-Identifier: Apache-2.0
"""`anonymaly init` without and with answers; the terminal is in test_messy_tables.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

from anonymaly.declare.manifest import Manifest
from tests.cli.conftest import Run


def _columns(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["columns"]
    return found


def test_the_form_comes_from_the_file_and_bounds_do_not(run: Run, folder: Path) -> None:
    (folder / "visits.csv").write_text(
        "Patient ID;Größe (cm);Kosten €;born;lab date;seen;consent;ward;notes\n"
        '7;169,5;"€ 1,760.72";13/05/1987;03/04/2020;2020-01-01T10:00:00Z;ja;A;said "fine"\n'
        "8;170,5;€ 60.72;14/05/1987;04/04/2020;2020-01-02T10:00:00Z;nein;B;well\n"
        "9;-;€ 70.72;14/05/1987;05/04/2020;2020-01-02T10:00:00Z;unbekannt;B;well\n",
        "utf-8",
    )
    done = run("init", "visits.csv")
    assert done.returncode == 0, done.stderr
    text = (folder / "visits.yaml").read_text("utf-8")
    assert _columns(folder / "visits.yaml") == {
        "Größe (cm)": {"type": "interval", "low": "?", "high": "?", "read": {"decimal": ","}},
        "Kosten €": {
            "type": "interval",
            "low": "?",
            "high": "?",
            "read": {"thousands": ",", "signs": ["€"]},
        },
        "born": {"type": "timestamps", "start": "?", "end": "?", "read": {"dates": ["%d/%m/%Y"]}},
        "lab date": {"type": "timestamps", "start": "?", "end": "?", "read": {"dates": ["?"]}},
        "seen": {"type": "timestamps", "start": "?", "end": "?", "read": {"dates": ["iso"]}},
        "consent": {"type": "flag", "read": {"means_true": ["ja"], "means_false": ["nein"]}},
        "ward": {"type": "categories", "values": ["?"]},
    }
    assert "\n  Größe (cm): " in text, "unicode was escaped"
    assert "seen in the file: confirm decimal comma" in text
    assert "both %d/%m/%Y and %m/%d/%Y fit" in text
    assert "# person: Patient ID  # is it?" in text
    assert "# notes: {type: opaque}  # left out: free text by its name" in text
    assert 'file: {encoding: utf-8, delimiter: ";"}  # seen in the file: confirm' in text
    assert 'nulls: ["", "-", unbekannt]' in text
    for value in ("169", "170", "1760", "60.72", "1987", "fine", "well"):
        assert value not in text, "a value of a row is in the declaration"
    for kind in ("policy", "anomaly_model", "same_contexts"):
        assert f"type: {kind}" in text


def test_what_a_name_or_a_null_could_hide_is_said_beside_it(run: Run, folder: Path) -> None:
    (folder / "light.csv").write_text('Nr,"Light ",room\n1,300,?\n2,?,B\n3,?,A\n4,250,?\n')
    assert run("init", "light.csv").returncode == 0
    text = (folder / "light.yaml").read_text("utf-8")
    assert "# key: Nr  # to call your own rows by it; then declare it below, as opaque" in text
    (light,) = [line for line in text.splitlines() if line.startswith('  "Light "')]
    assert "spaces around its name belong to it" in light
    (nulls,) = [line for line in text.splitlines() if line.startswith("  nulls:")]
    assert 'here "?" is one of them, and stays' in nulls


def test_what_is_open_is_listed_at_once(run: Run, folder: Path) -> None:
    told = run("init", "patients.csv", "--force")
    assert "Open in 3 places: age (low, high), ward (values), budget" in told.stdout
    said = json.loads(run("init", "patients.csv", "--force", "--json").stdout)
    assert said["open"] == ["age (low, high)", "ward (values)", "budget"]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("age,ward,Age,,x,", "'age' and 'Age' name columns 1, 3; columns 4, 6 have no name"),
        ("age,ward,age", "'age' names columns 1, 3"),
        ("age,", "column 2 has no name"),
    ],
)
def test_repeated_and_missing_names_are_named_with_their_places(
    run: Run, folder: Path, header: str, said: str
) -> None:
    (folder / "patients.csv").write_text(f"{header}\n1,2,3,4,5,6\n")
    for command in (["init", "patients.csv", "--force"], ["check", "patients.yaml"]):
        done = run(*command)
        assert done.returncode == 2
        assert said in done.stderr


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("latin-1", "latin-1"), ("cp1252", "windows-1252"), ("utf-16", "utf-16"), ("utf-8-sig", None)],
)
def test_the_encoding_is_found_and_read(run: Run, folder: Path, encoding: str, shown: str | None) -> None:
    sign = "" if encoding == "latin-1" else "€"
    (folder / "städte.csv").write_text(f"Größe,Ort\n1{sign},Köln\n2{sign},Düren\n", encoding)
    answers = ["--answer", "columns.Größe=0 to 9", "--answer", "columns.Ort=Köln, Düren"]
    done = run("init", "städte.csv", "-o", "new.yaml", *answers)
    assert done.returncode == 0, done.stderr
    manifest = Manifest.load(folder / "new.yaml")
    assert manifest.file.get("encoding") == shown
    assert manifest.dataset(folder).table.to_pyarrow().to_pylist() == [
        {"Größe": 1.0, "Ort": "Köln"},
        {"Größe": 2.0, "Ort": "Düren"},
    ]


def test_the_owner_may_name_another_delimiter(run: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text("a,b,c;d\n1;2\n")
    done = run(
        "init", "odd.csv", "--answer", "file=no", "--answer", "delimiter=;", "--answer", "numbers=unbounded"
    )
    assert done.returncode == 0, done.stderr
    manifest = Manifest.load(folder / "odd.yaml")
    assert manifest.dataset(folder).table.to_pyarrow().to_pylist() == [{"a,b,c": 1.0, "d": 2.0}]


def test_answers_that_contradict_each_other_are_explained(run: Run, folder: Path) -> None:
    (folder / "wards.csv").write_text("ward\nA\nNA\n")
    done = run("init", "wards.csv", "--answer", "columns.ward=A, NA")
    assert done.returncode == 2
    assert "'NA'" in done.stderr
    assert "cannot be used like this" in done.stderr


def test_line_breaks_in_quotes_are_mentioned(run: Run, folder: Path) -> None:
    (folder / "patients.csv").write_text('age,ward\n1,"A\nB"\n2,C\n')
    run("init", "patients.csv", "--force")
    assert "confirm: values in quotes hold line breaks" in (folder / "patients.yaml").read_text()


def test_a_parquet_file_is_proposed_by_its_types_and_its_texts(run: Run, folder: Path) -> None:
    pandas.DataFrame(
        {
            "when": pandas.to_datetime(["2020-01-01T00:00Z", "2020-01-02T00:00Z"]),
            "price": [1.5, 2.5],
            "old": [True, False],
            "weight": ["72,5", "80,1"],
            "email": ["a@b.c", "d@e.f"],
        }
    ).to_parquet(folder / "shop.parquet")
    done = run("init", "shop.parquet")
    assert done.returncode == 0, done.stderr
    found = _columns(folder / "shop.yaml")
    assert {name: item["type"] for name, item in found.items()} == {
        "when": "timestamps",
        "price": "interval",
        "old": "flag",
        "weight": "interval",
    }
    assert found["weight"]["read"] == {"decimal": ","}


def test_answers_by_flags_declare_a_whole_table(run: Run, folder: Path) -> None:
    answers = ["ward", "A, B, C"], ["age", "0 to 120"]
    flags = [flag for name, item in answers for flag in ("--answer", f"columns.{name}={item}")]
    done = run("init", "patients.csv", "--force", *flags, "--answer", "budget=1.5")
    assert done.returncode == 0, done.stderr
    assert "?" not in done.stdout
    checked = run("check", "patients.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "budget of ε = 1.5" in checked.stdout
    assert _columns(folder / "patients.yaml")["ward"] == {"type": "categories", "values": ["A", "B", "C"]}


@pytest.mark.parametrize(
    ("answer", "field", "said"),
    [
        ("persn=age", "answers.persn", "Did you mean person?"),
        ("person=nobody", "answers.person", "no column 'nobody'"),
        ("columns.age=10 to 1", "answers.columns.age", "not below"),
        ("columns.age=high to low", "answers.columns.age", "not a number"),
        ("columns.agee=0 to 1", "answers.columns.agee", "columns.age"),
        ("budget=-1", "answers.budget", "positive"),
        ("rules=everything", "answers.rules", "policy"),
        ("max_rows=2", "answers.max_rows", "no question"),
        ("nonsense", "answer", "KEY=ANSWER"),
    ],
)
def test_an_answer_that_means_nothing_is_explained_and_nothing_is_written(
    run: Run, folder: Path, answer: str, field: str, said: str
) -> None:
    done = run("init", "patients.csv", "-o", "new.yaml", "--answer", answer)
    assert done.returncode == 2
    assert field in done.stderr
    assert said in done.stderr
    assert not (folder / "new.yaml").exists()


def test_the_last_day_that_is_named_is_meant_to_its_end_where_times_are_written(
    run: Run, folder: Path
) -> None:
    (folder / "visits.csv").write_text(
        "seen,born\n31.12.2020 18:30,13.05.1987\n30.12.2020 08:15,14.05.1987\n", "utf-8"
    )
    days = "2020-01-01 to 2020-12-31"
    done = run("init", "visits.csv", "--answer", f"columns.seen={days}", "--answer", f"columns.born={days}")
    assert done.returncode == 0, done.stderr
    columns = _columns(folder / "visits.yaml")
    assert str(columns["seen"]["end"]) == "2020-12-31 23:59:59.999999"
    assert str(columns["born"]["end"]) == "2020-12-31"
