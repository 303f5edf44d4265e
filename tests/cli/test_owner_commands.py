# SPDX-License-Identifier: Apache-2.0
"""`anonymaly owner` against `anonymaly serve`: keys, grants, budgets and pauses, as an owner types them."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.terminal import terminal_of
from tests.server.running import Running, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(autouse=True)
def _as_owner(server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANONYMALY_KEY", server.owner)


def done(run: Run, *arguments: str) -> str:
    found = run("owner", *arguments)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def told(run: Run, *arguments: str) -> Any:
    return json.loads(done(run, *arguments, "--json"))


def test_an_owner_lets_somebody_ask_and_sees_what_they_spent(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url
    said = done(run, "key", url, "ann", "--label", "laptop", "--days", "30", "--output", "ann.key")
    assert "The key of ann (analyst) is in ann.key, which only you can read." in said
    assert f"ann may ask nothing yet: anonymaly owner grant {url} ann" in said
    assert stat.S_IMODE((folder / "ann.key").stat().st_mode) == 0o600
    text = (folder / "ann.key").read_text().strip()
    assert text.startswith("anm_")
    granted = ("grant", url, "ann", "--epsilon", "2", "--each-question", "0.5", "--question", "count")
    said = done(run, *granted, "--until", "2999-01-31", "--reason", "study 12")
    assert said.splitlines() == [
        "ann may ask patients:",
        "  up to ε = 2 in all",
        "  up to ε = 0.5 for one question",
        "  until 2999-01-31T00:00:00+00:00",
        "  questions: count",
        "  no question that needs a rule",
    ]
    monkeypatch.setenv("ANONYMALY_KEY", text)
    asked = run("count", url, "--epsilon", "0.5")
    assert asked.returncode == 0, asked.stderr
    monkeypatch.setenv("ANONYMALY_KEY", server.owner)
    line = next(line for line in done(run, "grants", url).splitlines() if line.startswith("ann "))
    assert re.search(r"0\.5 +2 +granted +up to ε = 2 in all; .* study 12", line)
    (found,) = [item for item in told(run, "grants", url)["grants"] if item["analyst"] == "ann"]
    assert (found["spent"], found["remaining"]) == ("0.5", "1.5")
    keys = done(run, "keys", url)
    assert re.search(r"ann +analyst +laptop .* valid", keys)
    assert text not in keys
    assert "may ask nothing yet" not in done(run, "key", url, "ann", "--output", "second.key")


def test_periods_and_rules_are_granted_as_they_are_typed(run: Run, server: Running) -> None:
    granted = ("grant", server.url, "bea", "--epsilon", "3", "--every", "month", "--each-period", "0.5")
    made = told(run, *granted, "--from", "2026-01-31", "--rule", "adults=3", "--reason", "each month")
    assert made["terms"]["rules"] == {"adults": 3}
    period = made["terms"]["period"]
    assert (period["epsilon"], period["every"], period["from"]) == ("0.5", "month", "2026-01-31")
    made = told(run, "grant", server.url, "bea", "--epsilon", "3", "--rule", "any", "--reason", "all rules")
    assert made["terms"]["rules"] == {"any": True}
    made = told(run, "grant", server.url, "bea", "--epsilon", "3", "--rule", "adults", "--reason", "one rule")
    assert made["terms"]["rules"] == {"adults": None}


def test_what_cannot_be_undone_is_said_before_it_is_done(run: Run, folder: Path, server: Running) -> None:
    url = server.url
    done(run, "grant", url, "cem", "--epsilon", "1", "--reason", "a study")
    made = told(run, "key", url, "cem", "--output", "cem.key")
    assert (made["output"], "text" in made) == ("cem.key", False)
    ended = run("owner", "revoke-key", url, made["id"])
    assert f"Revokes the analyst's key {made['id']} of cem: for good." in ended.stderr
    assert ended.stdout == f"The key {made['id']} is revoked.\n"
    assert told(run, "revoke-key", url, made["id"]) == {"id": made["id"], "revoked": True}
    raised = run("owner", "budget", url, "--to", "1001", "--reason", "a second year")
    assert "Raises the budget of patients from ε = 1000 to 1001: a budget is never lowered" in raised.stderr
    assert "of 1001 spent" in raised.stdout
    lower = run("owner", "budget", url, "--to", "5", "--reason", "less")
    assert (lower.returncode, lower.stderr.startswith("Refused: to: ")) == (1, True), lower.stderr
    said = done(run, "revoke", url, "cem", "--reason", "the study has ended")
    assert said == "cem may ask patients nothing more; the ε = 0 that they spent stand\n"


def test_a_table_is_paused_and_resumed(run: Run, server: Running) -> None:
    said = done(run, "pause", server.url, "--reason", "holidays")
    assert "it is paused, and nothing is charged until it is resumed" in said
    assert told(run, "resume", server.url, "--reason", "back")["paused"] is False


def test_a_key_is_written_over_nothing_and_into_no_log(run: Run, folder: Path, server: Running) -> None:
    before = len(told(run, "keys", server.url)["keys"])
    (folder / "dan.key").write_text("another key")
    (folder / "link").symlink_to("elsewhere")
    for place, words in (("dan.key", "already"), ("link", "already"), ("nowhere/dan.key", "cannot write")):
        refused = run("owner", "key", server.url, "dan", "--output", place)
        assert (refused.returncode, words in refused.stderr) == (2, True), refused.stderr
        assert "no key was made" in refused.stderr
    for more in ([], ["--json"]):
        refused = run("owner", "key", server.url, "dan", *more)
        assert (refused.returncode, "--output dan.key" in refused.stderr + refused.stdout) == (2, True)
    assert (folder / "dan.key").read_text() == "another key"
    assert not (folder / "elsewhere").exists()
    assert len(told(run, "keys", server.url)["keys"]) == before
    refused = run("owner", "key", server.url, "x" * 101, "--output", "x.key")
    assert (refused.returncode, (folder / "x.key").exists()) == (2, False)


@pytest.mark.slow
def test_a_key_that_cannot_be_written_down_is_revoked(run: Run, folder: Path, server: Running) -> None:
    # No file may grow in this process, as on a disk that is full.
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-W", "ignore", "-m", "anonymaly"]
    typed = ["owner", "key", server.url, "eva", "--output", str(folder / "eva.key")]
    refused = subprocess.run([*limited, *typed], capture_output=True, text=True, check=False, env=os.environ)
    assert (refused.returncode, "and the key was revoked" in refused.stderr) == (2, True), refused.stderr
    assert not (folder / "eva.key").exists()
    found = told(run, "keys", server.url)["keys"]
    assert [item["revoked_at"] is None for item in found if item["person"] == "eva"] == [False]


@pytest.mark.slow
def test_a_key_is_shown_on_a_terminal(server: Running, tmp_path: Path) -> None:
    with terminal_of(["owner", "key", server.url, "fay", "--role", "auditor"], tmp_path) as terminal:
        list(terminal.reads())
    assert terminal.program.returncode == 0
    assert re.search(r"A key of fay \(auditor\), shown only now:\s+anm_\S+\s", terminal.transcript)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["grant", "URL", "gus", "--epsilon", "-1"], "InputError: epsilon: must be positive, got -1"),
        (
            ["grant", "URL", "gus", "--epsilon", "1", "--each-question", "x"],
            "each-question: must be a number",
        ),
        (
            ["grant", "URL", "gus", "--epsilon", "1", "--every", "month"],
            "each-period: needs both --every and --each-period",
        ),
        (
            ["grant", "URL", "gus", "--epsilon", "1", "--every", "day", "--each-period", "0"],
            "each-period: must be positive",
        ),
        (["grant", "URL", "gus", "--epsilon", "1", "--until", "soon"], "until: must be a day or a moment"),
        (["grant", "URL", "gus", "--epsilon", "1", "--until", "2001-01-01"], "until: 2001-01-01T00:00:00"),
        (["grant", "URL", "gus", "--epsilon", "1", "--question", "cuont"], "question: there is no question"),
        (["grant", "URL", "gus", "--epsilon", "1", "--rule", "adults=x"], "rule: must be a whole number"),
        (["grant", "URL", "gus", "--epsilon", "1", "--rule", "kids=1"], "rule: there is no rule 'kids'"),
        (["grant", "URL", "gus", "--epsilon", "99999"], "Refused: epsilon: what is granted is ε="),
        (["revoke", "URL", "nobody"], "Refused: analyst: analyst 'nobody' has no grant"),
        (["budget", "URL", "--to", "much"], "to: must be a number"),
        (["pause", "URL/x"], "url: must be the address of a table"),
    ],
)
def test_errors_name_what_was_typed(run: Run, server: Running, typed: list[str], words: str) -> None:
    filled = [item.replace("URL/x", f"{server.base}").replace("URL", server.url) for item in typed]
    refused = run("owner", *filled, "--reason", "a study")
    assert refused.returncode in (1, 2)
    assert words in refused.stderr
    assert "gus" not in done(run, "grants", server.url)


def test_unknown_keys_and_tables_are_named(run: Run, server: Running) -> None:
    refused = run("owner", "revoke-key", server.url, "0123456789abcdef")
    assert (refused.returncode, "id: there is no such key" in refused.stderr) == (2, True)
    refused = run("owner", "grants", f"{server.base}/others")
    assert (refused.returncode, "has no table 'others'. Its tables: patients." in refused.stderr) == (2, True)


def test_another_role_and_a_revoked_key_are_told_so(
    run: Run, folder: Path, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = told(run, "key", server.url, "hal", "--output", "hal.key")
    monkeypatch.setenv("ANONYMALY_KEY", (folder / "hal.key").read_text().strip())
    for typed in (["keys"], ["grants"], ["grant", "hal", "--epsilon", "9", "--reason", "more"]):
        refused = run("owner", typed[0], server.url, *typed[1:])
        assert refused.returncode == 2
        assert "key: is the key of an analyst, hal, and this is for an owner" in refused.stderr
    refused = run("owner", "key", server.url, "hal", "--role", "owner", "--output", "more.key", "--json")
    assert json.loads(refused.stdout)["field"] == "key"
    assert not (folder / "more.key").exists()
    monkeypatch.setenv("ANONYMALY_KEY", server.owner)
    done(run, "revoke-key", server.url, made["id"])
    monkeypatch.setenv("ANONYMALY_KEY", (folder / "hal.key").read_text().strip())
    refused = run("owner", "grants", server.url)
    assert (refused.returncode, "key: " in refused.stderr, "revoked" in refused.stderr) == (2, True, True)


@pytest.mark.slow
def test_the_first_grant_says_that_it_shuts_out_who_has_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    with running(tmp_path / "new") as server:
        monkeypatch.setenv("ANONYMALY_KEY", server.owner)
        assert "Nobody has a grant" in done(run, "grants", server.url)
        first = run("owner", "grant", server.url, "ann", "--epsilon", "1", "--reason", "a study")
        assert "The first grant: from now on whoever has none is refused, owners too." in first.stderr
        second = run("owner", "grant", server.url, "bea", "--epsilon", "1", "--reason", "a study")
        assert (second.returncode, "first grant" in second.stderr) == (0, False)
    assert "Nobody called bea has a key: anonymaly owner key" in second.stderr
