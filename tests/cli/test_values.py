# SPDX-License-Identifier: Apache-2.0
"""What is typed is read by the declared type of its column, and misspelt names are guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymaly.ask.typed_values import read_value
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps, Unbounded
from anonymaly.errors import InputError
from tests.cli.conftest import Run

BUILDINGS = [f"{number:03}" for number in range(170)]
MANIFEST = f"""\
name: wifi
source: wifi.csv
columns:
  building: {{type: categories, values: {json.dumps(BUILDINGS)}}}
  floor: {{type: categories, values: [1, 2, 3]}}
  age: {{type: interval, low: 0, high: 120}}
  consent: {{type: flag}}
rules:
  rare: {{type: anomaly_model, columns: [building, floor, consent], radius: 0, beta: 5}}
  groups: {{type: same_contexts}}
budget: 1.0
"""
RECORD = ["--record", "building=166", "--record", "floor=2", "--record", "consent=true"]
ASK = ["identify", "wifi.yaml", "--model", "rare", "--epsilon", "0.1", "--preview"]


@pytest.fixture
def wifi(folder: Path) -> Path:
    (folder / "wifi.yaml").write_text(MANIFEST)
    (folder / "wifi.csv").write_text("building,floor,age,consent\n166,2,30,true\n010,1,40,false\n")
    return folder


@pytest.mark.parametrize("text", ["166", "010", '"166"'])
def test_a_number_is_text_where_a_category_is_declared_as_text(run: Run, wifi: Path, text: str) -> None:
    done = run(*ASK, "--record", f"building={text}", *RECORD[2:])
    assert done.returncode == 0, done.stderr
    assert "wrong with probability" in done.stdout


def test_a_file_of_records_is_read_by_the_declared_types(run: Run, wifi: Path) -> None:
    (wifi / "records.csv").write_text("building,floor,consent\n166,2,true\n010,1,false\n")
    done = run(*ASK, "--records", "records.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cost"] == "0.1"


def test_a_value_that_is_not_declared_is_answered_by_the_closest_few_of_170(run: Run, wifi: Path) -> None:
    done = run(*ASK, "--record", "building=1666", *RECORD[2:])
    assert done.returncode == 2
    assert "Did you mean 166" in done.stderr
    assert "(170 in all)" in done.stderr
    assert len(done.stderr) < 400
    explain = run(
        *("explain", "wifi.yaml", "--metric", "age", "--attributes", "building", "--epsilon", "0.1"),
        *("--record", "building=1666", "--record", "age=30"),
    )
    assert explain.returncode == 2
    assert "(170 in all)" in explain.stderr
    assert len(explain.stderr) < 400
    assert json.loads(run("ledger", "wifi.yaml", "--json").stdout)["error"], "no account was opened"


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("floor=two", "record: the value of floor must be a whole number"),
        ("floor=1.5", "record: the value of floor must be a whole number"),
        ("consent=perhaps", "record: the value of consent must be true or false"),
        ("consent", "record: is not name=value"),
        ("buildin=166", "Did you mean building?"),
        ("=3", "there is no declared column ''"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_its_column_and_is_not_repeated(
    run: Run, wifi: Path, pair: str, said: str
) -> None:
    done = run(*ASK, *RECORD[:2], "--record", pair)
    assert done.returncode == 2
    assert said in done.stderr
    assert "perhaps" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not (wifi / "wifi.ledger").exists()


@pytest.mark.parametrize(
    ("text", "domain", "value"),
    [
        ("30", Interval(0, 120), 30),
        ("1e1", Interval(0, 120), 10.0),
        ("-0.5", Unbounded(), -0.5),
        ("2.0", Categories([1, 2]), 2),
        ("yes", Flag(), True),
        ("FALSE", Flag(), False),
        ("0", Flag(), False),
        ("2026-01-31", Timestamps("2020-01-01", "2030-01-01"), "2026-01-31 00:00:00"),
        ("true", Categories(["true", "false"]), "true"),
        ("null", Categories(["null"]), "null"),
        ("[1]", Opaque(), "[1]"),
    ],
)
def test_each_kind_of_column_reads_its_own_values(text: str, domain: Domain, value: object) -> None:
    read = read_value(text, "column", domain, field="record")
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "domain", "said"),
    [
        ("", Interval(0, 120), "a number"),
        ("12 years", Interval(0, 120), "a number"),
        ("31.01.2026", Timestamps("2020-01-01", "2030-01-01"), "such as 2026-01-31"),
        ("2026-01-31T00:00Z", Timestamps("2020-01-01", "2030-01-01"), "no time zone"),
    ],
)
def test_what_cannot_be_read_says_what_is_wanted(text: str, domain: Domain, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read_value(text, "seen", domain, field="record")
    assert refused.value.field == "record"
    assert refused.value.next_step is not None


def test_bins_keep_their_names_in_the_groups_of_an_explanation(run: Run, wifi: Path) -> None:
    done = run(
        *(
            "explain",
            "wifi.yaml",
            "--metric",
            "age",
            "--attributes",
            "floor",
            "--epsilon",
            "0.1",
            "--preview",
        ),
        *("--record", "floor=2", "--record", "age=30", "--rule", "groups", "--utility", "overlap"),
        *("--target", "floor=2", "--target", "floor=3"),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cuont", "patients.yaml"], "there is no command 'cuont'. Did you mean count?"),
        (["histogram"], "Did you mean share-histogram"),
        (["xyzzy"], "`anonymaly --help` lists all commands"),
        (["count", "patients.yaml", "--epsilom", "1"], "--epsilon"),
        (["count", "patients.yaml", "--where", "agee > 3", "--epsilon", "1"], "Did you mean age?"),
        (["count", "patients.yaml", "--where", "ward == 'a'", "--epsilon", "1"], "Did you mean 'A'?"),
        (["score", "patients.yaml", "--columns", "Age", "--epsilon", "1"], "Did you mean age?"),
        (
            ["share-sample", "patients.yaml", "--policy", "adult", "--columns", "age", "--epsilon", "1"],
            "Did you mean adults?",
        ),
    ],
)
def test_a_misspelt_name_is_guessed_and_spends_nothing(
    run: Run, folder: Path, arguments: list[str], said: str
) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    done = run(*arguments)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    told = json.loads(run("ledger", "patients.yaml", "--json").stdout)
    assert told["statement"]["spent"] == "0.1"


def test_a_misspelt_command_is_json_when_asked_for(run: Run) -> None:
    assert json.loads(run("chekc", "patients.yaml", "--json").stdout)["next_step"].startswith(
        "Did you mean check?"
    )
