# SPDX-License-Identifier: Apache-2.0
"""``anonymaly identify``: a record by its values, or many from a file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
RULES = """\
  rare: {type: anomaly_model, columns: [age], radius: 2, beta: 30, k: 2}
  exact: {type: anomaly_model, columns: [ward], radius: 0, beta: 3}
"""


@pytest.fixture(autouse=True)
def rules(folder: Path) -> None:
    manifest = folder / "patients.yaml"
    text = manifest.read_text().replace("budget: 1.0", "budget: 100")
    manifest.write_text(text.replace("rules:\n", f"rules:\n{RULES}"))


def test_one_record_is_given_by_its_values(run: Run) -> None:
    done = run("identify", "patients.yaml", "--record", "age=17", "--model", "rare", "--epsilon", "10")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("an anomaly")
    preview = run(
        "identify", "patients.yaml", "--record", "age=45.5", "--columns", "age", "--radius", "0.5",
        "--beta", "2", "--guarantee", "differential", "--scaled", "false", "--epsilon", "0.1", "--preview",
        "--json",
    )  # fmt: skip
    assert json.loads(preview.stdout)["guarantee"]["relation"]["type"] == "everyone"


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_many_records_come_from_a_file(run: Run, folder: Path, name: str) -> None:
    frame = pandas.DataFrame({"age": [17, 80.5, 30]})
    if name.endswith("csv"):
        frame.to_csv(folder / name, index=False)
    else:
        frame.to_parquet(folder / name)
    done = run("identify", "patients.yaml", "--records", name, "--model", "rare", "--epsilon", "30", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["value"] == [True, False, True]
    # The same as JSON is the same question, charged once.
    query = {"question": "identify", "records": {"age": [17, 80.5, 30]}, "model": "rare", "epsilon": 30}
    again = run("ask", "patients.yaml", "-", "--json", input=json.dumps(query))
    assert json.loads(again.stdout)["charged"] == "0"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nothing.csv", None, "cannot read"),
        ("new.txt", "age\n17\n", "ending"),
        ("new.csv", "age,age\n17,18\n", "twice"),
        ("new.csv", "age,name\n17,Ada\n", "does not use"),
        ("new.csv", "age,name\n17,Ada\n,Bob\n", "no value of age"),
        ("new.csv", "age\nold\n", "where a number is wanted"),
        ("new.csv", "age\n", "holds no record"),
        ("new.parquet", "no parquet", "cannot read"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    run: Run, folder: Path, name: str, content: str | None, reason: str
) -> None:
    if content is not None:
        (folder / name).write_text(content)
    done = run("identify", "patients.yaml", "--records", name, "--model", "rare", "--epsilon", "1")
    assert done.returncode == 2
    assert reason in done.stderr
    assert "records" in done.stderr


def test_records_of_a_file_are_called_by_one_of_its_columns(run: Run, folder: Path) -> None:
    (folder / "new.csv").write_text("age,name\n17,Ada\n80.5,Bob\n")
    given = ("--records", "new.csv", "--model", "rare", "--epsilon", "30")
    done = run("identify", "patients.yaml", *given, "--label", "name")
    assert done.returncode == 0, done.stderr
    first = "1 of 2 records answered as anomalies: Ada; the others: no anomaly, or not in the data\n"
    assert done.stdout.startswith(first)


def test_a_path_in_a_question_opens_no_file(run: Run, folder: Path) -> None:
    (folder / "new.csv").write_text("age\n17\n")
    query = {"question": "identify", "records": "new.csv", "model": "rare", "epsilon": 1}
    done = run("ask", "patients.yaml", "-", input=json.dumps(query))
    assert done.returncode == 2
    assert "cannot be read from str" in done.stderr


def test_lookahead_is_a_command_too(run: Run) -> None:
    done = run(
        "lookahead", "patients.yaml", "--columns", "ward", "--model", "exact", "--epsilon", "5", "--json"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["value"]
    assert told["columns"] == [{"column": "ward", "values": ["A", "B", "C"], "bins": None}]
    assert told["counts"][1:] == [1, 0]  # counts below beta - k are exact


def test_a_context_to_start_from_is_given_by_several_values(run: Run, folder: Path) -> None:
    manifest = folder / "patients.yaml"
    rule = "groups: {type: same_contexts, start: true, detectors: {lof: {}, grubbs: {alpha: [0.01]}}}"
    manifest.write_text(manifest.read_text().replace("rules:\n", f"rules:\n  {rule}\n"))
    done = run(
        "explain", "patients.yaml", "--record", "age=30", "--record", "ward=A", "--metric", "age",
        "--attributes", "ward", "--search", "random_walk", "--start", "ward=A", "--start", "ward=B",
        "--rule", "groups", "--epsilon", "1", "--preview",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "an asker under this rule can test guesses about any record; ε does not limit"
    )


UNDER_A_RULE = ("--rule", "groups", "--epsilon", "1")


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (
            [f"a{number}: {{type: flag}}" for number in range(7)],
            "attributes: are 7; groups are made of at most 6",
        ),
        (
            [f"a0: {{type: categories, values: {list(range(64))}}}"],
            "have 63 values besides the record's own; 62",
        ),
    ],
    ids=["seven attributes", "63 free values"],
)
def test_groups_of_too_many_values_are_refused_with_a_next_step(
    run: Run, folder: Path, columns: list[str], named: str
) -> None:
    manifest = folder / "patients.yaml"
    text = manifest.read_text().replace("rules:\n", "rules:\n  groups: {type: same_contexts}\n")
    manifest.write_text(text.replace("columns:\n", "columns:\n  " + "\n  ".join(columns) + "\n"))
    names = [column.partition(":")[0] for column in columns]
    value = "0" if len(names) == 1 else "true"
    given = [item for name in names for item in ("--record", f"{name}={value}", "--attributes", name)]
    done = run("explain", "patients.yaml", "--record", "age=30", "--metric", "age", *given, *UNDER_A_RULE)
    assert done.returncode == 2, done.stdout + done.stderr
    assert named in done.stderr
    assert "Use fewer attributes, or wider bins." in done.stderr
    assert "Traceback" not in done.stderr
