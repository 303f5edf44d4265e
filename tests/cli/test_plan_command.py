# SPDX-License-Identifier: Apache-2.0
"""``anonymaly plan`` and ``--rehearse``: what they print, and that neither needs the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymaly import Curator
from tests.cli.conftest import Run


def test_the_planned_epsilon_can_be_asked_with(run: Run, folder: Path) -> None:
    done = run("plan", "patients.yaml", "count", "--where", "age >= 18", "--for-error", "40", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["error"]["number"] == 40
    asked = run(
        "count", "patients.yaml", "--where", "age >= 18", "--epsilon", plan["epsilon"], "--preview", "--json"
    )
    assert json.loads(asked.stdout)["expected"]["half_width_95"] == 40
    assert Curator.open(folder / "patients.yaml").spent == 0


def test_a_plan_and_a_rehearsal_need_no_table(run: Run, folder: Path) -> None:
    (folder / "patients.csv").unlink()
    assert "→" in run("plan", "patients.yaml", "count", "--for-error", "20").stdout
    done = run("count", "patients.yaml", "--epsilon", "0.1", "--rehearse")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("INVENTED ROWS")
    assert json.loads(run("count", "patients.yaml", "--epsilon", "0.1", "--rehearse", "--json").stdout)[
        "invented"
    ]


def test_a_question_as_json_is_rehearsed_too(run: Run) -> None:
    done = run("ask", "patients.yaml", "-", "--rehearse", input='{"question": "count", "epsilon": "0.1"}')
    assert done.stdout.startswith("INVENTED ROWS")


def test_a_model_is_planned_and_rehearsed_with_all_columns_that_can_be_compared(run: Run) -> None:
    done = run("plan", "patients.yaml", "score", "--bins", "10", "--pair-bins", "0", "--for-error", "20")
    assert "a model of age, ward that" in done.stdout
    rehearsed = json.loads(run("score", "patients.yaml", "--epsilon", "1", "--rehearse", "--json").stdout)
    assert rehearsed["invented"]
    assert rehearsed["value"]["space"]["columns"] == ["age", "ward"]
    numbers = run("plan", "patients.yaml", "score", "--columns", "age", "--bins", "10", "--pair-bins", "0")
    assert "a model of age that" in numbers.stdout


def test_a_rehearsal_writes_no_file(run: Run, folder: Path) -> None:
    sample = ["share-sample", "patients.yaml", "--policy", "adults", "--columns", "age", "--epsilon", "1"]
    done = run(*sample, "--rehearse", "-o", "sample.csv")
    assert done.returncode == 2
    assert "output: would be a file of invented rows" in done.stderr
    done = run("score", "patients.yaml", "--epsilon", "1", "--rehearse", "--model", "model.zip")
    assert "model: would be a file of invented rows" in done.stderr
    assert not (folder / "sample.csv").exists()
    assert not (folder / "model.zip").exists()
    assert "preview" in run("count", "patients.yaml", "--epsilon", "1", "--rehearse", "--preview").stderr


def test_a_stand_in_of_the_manifest_is_rehearsed_on(run: Run, folder: Path) -> None:
    (folder / "public.csv").write_text("age,ward\n30,A\n31,A\n32,B\n33,\n")
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text() + "stand_in: public.csv\n")
    (folder / "patients.csv").unlink()
    found = json.loads(run("count", "patients.yaml", "--epsilon", "50", "--rehearse", "--json").stdout)
    assert (found["value"], found["rehearsed_on"]) == (4, "stand-in")


def test_a_budget_is_said_in_odds_with_and_without_a_manifest(run: Run) -> None:
    assert "at most 2.72 : 1" in run("plan", "--budget", "1").stdout
    words = json.loads(run("plan", "patients.yaml", "--json").stdout)
    assert (words["budget"]["epsilon"], words["budget"]["odds_at_most"]) == ("1", 2.72)


def test_the_picture_is_an_svg(run: Run, folder: Path) -> None:
    done = run("plan", "patients.yaml", "count", "--for-error", "20", "--picture", "error.svg")
    assert done.returncode == 0, done.stderr
    assert (folder / "error.svg").read_text("utf-8").startswith("<svg")
    assert "picture" in run("plan", "patients.yaml", "count", "--picture", "error.png").stderr


def test_help_is_that_of_the_question_named(run: Run) -> None:
    assert "--where" in run("plan", "patients.yaml", "count", "--help").stdout
    overview = run("plan", "--help").stdout
    assert "--budget" in overview
    assert "--where" not in overview


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "manifest: or --budget is needed"),
        (["--budget", "0"], "budget: must be positive"),
        (["patients.yaml", "--budget", "1"], "budget: is given beside a manifest"),
        (["patients.yaml", "count", "--budget", "1"], "budget: is given beside a manifest"),
        (["patients.yaml", "--for-error", "3"], "for_error: is about a question"),
        (["patients.yaml", "cuont"], "question: there is no question 'cuont'"),
        (["--where", "age > 3"], "belongs to a question"),
        (["patients.yaml", "count", "--for-error", "few"], "for_error: must be a number"),
        (["missing.yaml", "count", "--for-error", "3"], "there is no file missing.yaml"),
        (["patients.yaml", "identify", "--model", "rare", "--for-error", "0.1"], "there is no rule 'rare'"),
    ],
    ids=str,
)
def test_bad_input_names_the_field(arguments: list[str], says: str, run: Run) -> None:
    done = run("plan", *arguments)
    assert done.returncode in (1, 2)
    assert says in done.stderr
