# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ledger``: stored answers, a lost secret, and a ledger's file alone, as an auditor has it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_before_the_first_charge_it_says_that_none_was_charged(run: Run) -> None:
    assert count(run, "--preview").returncode == 0  # makes the ledger, and no account in it
    done = run("ledger", "patients.yaml")
    assert done.returncode == 2
    assert "has no account 'patients' yet: no question was charged to it" in done.stderr


def test_a_check_names_the_accounts_that_another_name_would_stand_beside(run: Run, folder: Path) -> None:
    count(run)
    assert "already" not in run("check", "patients.yaml").stdout
    declared = (folder / "patients.yaml").read_text().replace("name: patients", "name: people")
    (folder / "people.yaml").write_text(f"{declared}ledger: patients.ledger\n")
    checked = run("check", "people.yaml").stdout
    assert "the ledger holds patients already" in checked
    assert "another name opens another budget" in checked


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


@pytest.fixture
def copy(run: Run, folder: Path) -> Path:
    run("count", "patients.yaml", "--epsilon", "0.1")
    shutil.copy(folder / "patients.ledger", folder / "copy.ledger")
    (folder / "copy.ledger").chmod(0o400)
    return folder / "copy.ledger"


def test_an_auditor_verifies_a_copy_of_the_ledger_alone(run: Run, copy: Path) -> None:
    before = copy.read_bytes()
    done = run("ledger", "copy.ledger", "--verify")
    assert done.returncode == 0, done.stderr
    assert "patients: ε = 0.1 of 1 spent, 0.9 remaining" in done.stdout
    assert "verified: 3 entries" in done.stdout
    shown = json.loads(run("ledger", str(copy), "--verify", "--json").stdout)
    assert shown["accounts"] == [{"account": "patients", "budget": "1", "spent": "0.1", "remaining": "0.9"}]
    assert shown["verification"]["ok"]
    assert copy.read_bytes() == before
    assert not [path.name for path in copy.parent.iterdir() if path.name.startswith("copy.ledger-")]


def test_a_damaged_copy_is_said_to_be_so(run: Run, copy: Path, folder: Path) -> None:
    changed = folder / "changed.db"
    shutil.copy(copy, changed)
    changed.chmod(0o600)
    with sqlite3.connect(changed) as connection:
        connection.execute('UPDATE ledger_accounts SET "limit" = 9000000000')
    connection.close()
    done = run("ledger", "changed.db", "--verify")
    assert done.returncode == 2
    assert "limit is ε=9, its entries say ε=1" in done.stdout
    (folder / "broken.ledger").write_text("nothing of the kind")
    done = run("ledger", "broken.ledger", "--verify")
    assert done.returncode == 2
    assert "NOT verified" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--raise-budget", "3", "--verify"], ["--new-epoch", "--verify"]])
def test_a_ledgers_file_alone_is_only_verified(run: Run, copy: Path, options: list[str]) -> None:
    done = run("ledger", "copy.ledger", *options)
    assert done.returncode == 2
    assert "is a ledger, not a manifest" in done.stderr
    assert "--verify" in done.stderr
