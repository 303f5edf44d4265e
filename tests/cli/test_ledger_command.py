# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ledger``: stored answers, and a lost secret."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def count(run: Run, *further: str) -> subprocess.CompletedProcess[str]:
    return run("count", "patients.yaml", "--epsilon", "0.1", "--json", *further)


def test_verify_reports_a_stored_answer_that_was_changed(run: Run, folder: Path) -> None:
    count(run)
    assert "stored answers agree" in run("ledger", "patients.yaml", "--verify").stdout
    (path,) = (folder / "patients.ledger.answers").glob("*/*")
    path.write_text("999")
    done = run("ledger", "patients.yaml", "--verify")
    assert done.returncode != 0
    assert "NOT verified" in done.stdout
    assert "is altered in" in done.stdout


def test_a_lost_secret_is_refused_until_the_owner_begins_a_new_one(run: Run, folder: Path) -> None:
    first = json.loads(count(run).stdout)
    (folder / "patients.secret").rename(folder / "away")
    for attempt in (count(run), count(run, "--preview"), run("check", "patients.yaml")):
        assert attempt.returncode == 2
        assert "patients.secret is gone" in attempt.stdout + attempt.stderr
        assert "--new-secret" in attempt.stdout + attempt.stderr
    listed = json.loads(run("ledger", "patients.yaml", "--json").stdout)
    assert listed["statement"]["spent"] == "0.1", "what was spent is shown without the secret"
    assert run("ledger", "patients.yaml", "--new-secret").returncode == 0
    assert (folder / "patients.secret").stat().st_mode & 0o777 == 0o600
    again = json.loads(count(run).stdout)
    assert (again["charged"], again["remaining"]) == ("0.1", "0.8")
    assert again["number"] != first["number"]
    assert json.loads(count(run).stdout)["charged"] == "0"


def test_a_new_secret_is_not_begun_over_one_that_is_there(run: Run, folder: Path) -> None:
    count(run)
    before = (folder / "patients.secret").read_bytes()
    done = run("ledger", "patients.yaml", "--new-secret")
    assert done.returncode == 2
    assert "move it away first" in done.stderr
    assert (folder / "patients.secret").read_bytes() == before


def test_a_check_sees_a_secret_that_others_may_read(run: Run, folder: Path) -> None:
    count(run)
    assert run("check", "patients.yaml").returncode == 0
    (folder / "patients.secret").chmod(0o644)
    done = run("check", "patients.yaml")
    assert done.returncode == 2
    assert "chmod 600" in done.stderr
