# SPDX-License-Identifier: Apache-2.0
"""Commands with a table's address on a server in place of a YAML file, against `anonymaly serve`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

from tests.cli.conftest import Run
from tests.server.lying import Told, between
from tests.server.running import Running, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANONYMALY_KEY", raising=False)


def as_person(server: Running, monkeypatch: pytest.MonkeyPatch, person: str) -> str:
    monkeypatch.setenv("ANONYMALY_KEY", server.add(person))
    return server.url


def told(run: Run, *arguments: str, **how: Any) -> Any:
    done = run(*arguments, "--json", **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_question_is_previewed_rehearsed_planned_and_asked_at_an_address(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "ann")
    question = ("count", url, "--where", "age < 40", "--epsilon", "0.5")
    preview = told(run, *question, "--preview")
    assert (preview["cost"], preview["remaining"], preview["questions_left"]) == ("0.5", "10", 20)
    assert told(run, *question, "--rehearse")["invented"] is True
    assert told(run, "plan", url, "count", "--for-error", "20")["epsilon"] == "0.146003416"
    assert "10" in run("plan", url).stdout
    asked = told(run, *question)
    assert (asked["charged"], asked["number"], asked["remaining"]) == ("0.5", 1, "9.5")
    assert "nothing: answer 1, released before" in run(*question).stdout
    (folder / "query.json").write_text('{"question": "count", "where": "age < 40", "epsilon": "0.5"}')
    assert told(run, "ask", url, "query.json")["value"] == asked["value"]
    refused = run("count", url, "--epsilon", "10")
    assert (refused.returncode, "BudgetExceeded" in refused.stderr) == (1, True)


def test_an_analyst_is_not_named_on_a_server(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "bea")
    (folder / "new.csv").write_text("age,ward\n30,A\n")
    for command in (["count", url], ["score", url], ["find", url, "new.csv"]):
        done = run(*command, "--epsilon", "0.1", "--analyst", "ann")
        assert (done.returncode, "the key says who asks" in done.stderr) == (2, True), done.stderr


def test_without_a_key_and_without_tls_nothing_is_sent(run: Run, server: Running) -> None:
    done = run("count", server.url, "--epsilon", "0.1")
    assert (done.returncode, "ANONYMALY_KEY" in done.stderr) == (2, True)
    done = run("count", "http://curator.example/patients", "--epsilon", "0.1")
    assert (done.returncode, "Use https" in done.stderr) == (2, True)


def test_a_released_table_is_written_to_a_file(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "cem")
    asked = ("share-sample", url, "--policy", "adults", "--columns", "age", "--epsilon", "1")
    rows = told(run, *asked, "--output", "released.csv")["value"]["rows"]
    assert len(pandas.read_csv(folder / "released.csv")) == rows


def test_records_are_scored_by_a_model_that_is_asked_for_once_and_kept(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "dan")
    (folder / "new.csv").write_text("age,ward\n30,A\n119,C\n")
    scored = ("score", url, "new.csv", "-o", "scores.csv", "--model", "model.anm")
    assert told(run, *scored, "--epsilon", "1")["charged"] == "1"
    scores = pandas.read_csv(folder / "scores.csv")["score"]
    assert scores[1] > scores[0]
    (folder / "scores.csv").unlink()
    monkeypatch.delenv("ANONYMALY_KEY")
    assert "charged" not in told(run, *scored)
    assert (pandas.read_csv(folder / "scores.csv")["score"] == scores).all()


def test_odd_records_are_found_and_the_owners_look_at_rows_is_refused(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "eva")
    (folder / "new.csv").write_text("age,ward\n30,A\n119,C\n")
    asked = ("find", url, "new.csv", "--epsilon", "3", "--explain", "1", "--top", "1")
    assert told(run, *asked, "--preview")["cost"] == "3"
    found = told(run, *asked)
    assert (found["charged"], found["remaining"]) == ("3", "7")
    assert found["records"][0]["row"] == 2
    assert told(run, *asked)["charged"] == "0"
    done = run("find", url, "--owner")
    assert (done.returncode, "never shows its rows" in done.stderr) == (2, True)


def test_the_ledger_of_a_server_is_ones_own_statement_and_receipts(
    run: Run, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "fay")
    asked = told(run, "count", url, "--epsilon", "0.25")
    shown = told(run, "ledger", url, "--verify")
    assert shown["statement"]["spent"] == "0.25"
    assert shown["receipts"] == [asked["receipt"]]
    assert (shown["verification"]["ok"], shown["verification"]["receipts"]) == (True, 1)
    text = run("ledger", url, "--verify").stdout
    assert "fay on patients: ε = 0.25 of 10 spent by 1 question" in text
    assert "verified: 1 receipt stands in the server's ledger" in text
    done = run("ledger", url, "--raise-budget", "20")
    assert (done.returncode, "for the owner" in done.stderr) == (2, True)

    def deny(answer: Told) -> None:
        answer.change("ok", to=False)

    with between(server.base, deny) as liar:
        done = run("ledger", liar.url, "--verify")
    assert (done.returncode, "NOT verified" in done.stdout) == (2, True)
    monkeypatch.setenv("ANONYMALY_KEY", server.key("carl", "auditor"))
    assert told(run, "ledger", url, "--verify")["verification"]["ledger"]["ok"] is True


def test_another_version_is_a_note_beside_the_answer(
    run: Run, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_person(server, monkeypatch, "gus")

    def older(answer: Told) -> None:
        if answer.path == "/v1":
            answer.change("version", to="0.0.1")

    with between(server.base, older) as liar:
        done = run("count", liar.url, "--epsilon", "0.1", "--json")
    assert "note: " in done.stderr
    assert "0.0.1" in done.stderr
    assert json.loads(done.stdout)["charged"] == "0.1"


@pytest.mark.slow
def test_an_interrupted_question_is_finished_by_asking_again_and_charged_once(
    run: Run, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = as_person(server, monkeypatch, "hal")
    arrived, go_on = threading.Event(), threading.Event()

    def hold(answer: Told) -> None:
        if answer.path.endswith("/ask"):
            arrived.set()
            go_on.wait()

    command = [sys.executable, "-W", "ignore", "-m", "anonymaly", "count"]
    with between(server.base, hold) as liar:
        process = subprocess.Popen(
            [*command, liar.url, "--epsilon", "0.5"], stderr=subprocess.PIPE, text=True, env=os.environ
        )
        arrived.wait()
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate()
        go_on.set()
    assert (process.returncode, "interrupted" in printed) == (130, True)
    assert told(run, "count", url, "--epsilon", "0.5")["remaining"] == "9.5"
    assert told(run, "ledger", url)["statement"]["questions"] == 1
