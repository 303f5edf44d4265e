# SPDX-License-Identifier: Apache-2.0
"""``anonymaly amend``: what it shows, when it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anonymaly.ledger import Ledger

Run = Callable[..., "subprocess.CompletedProcess[str]"]
WHY = ("--reason", "wards are written in capital letters")


@pytest.fixture
def change(run: Run, folder: Path) -> Callable[[str, str], None]:
    """Ask once with wards in small letters, then change the manifest."""
    path = folder / "patients.yaml"
    path.write_text(path.read_text().replace("[A, B, C]", "[a, b, c]"))
    assert count(run, "ward == 'a'").returncode == 0

    def change(old: str, new: str) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def count(run: Run, where: str, *further: str) -> subprocess.CompletedProcess[str]:
    return run("count", "patients.yaml", "--where", where, "--epsilon", "0.1", "--json", *further)


def kinds(folder: Path) -> list[str]:
    with Ledger.open(folder / "patients.ledger") as ledger:
        return [entry.kind for entry in ledger.entries("patients")]


def test_a_corrected_manifest_is_refused_with_the_command_that_records_it(
    run: Run, change: Callable[[str, str], None]
) -> None:
    change("[a, b, c]", "[A, B, C]")
    for refused in (count(run, "ward == 'A'"), run("check", "patients.yaml")):
        assert refused.returncode == 1
        assert "anonymaly amend MANIFEST --reason" in refused.stdout + refused.stderr


def test_an_amendment_is_shown_recorded_and_listed(
    run: Run, folder: Path, change: Callable[[str, str], None]
) -> None:
    unrelated = json.loads(count(run, "age < 18").stdout)
    change("[a, b, c]", "[A, B, C]")
    done = run("amend", "patients.yaml", *WHY, "--yes")
    assert done.returncode == 0, done.stderr
    assert 'columns.ward.values: declared ["a","b","c"], now ["A","B","C"]' in done.stdout
    assert "budget and charges stay" in done.stdout
    assert "not learned from rows, as you say" in done.stdout
    assert "amended: the declaration of entry 6 is in force" in done.stdout
    assert kinds(folder).count("amendment") == 1
    assert json.loads(count(run, "ward == 'A'").stdout)["charged"] == "0.1"
    again = json.loads(count(run, "age < 18").stdout)
    assert (again["charged"], again["value"]) == ("0", unrelated["value"])
    listed = run("ledger", "patients.yaml", "--verify").stdout
    assert "by owner: wards are written in capital letters" in listed
    assert "  columns.ward.values: declared" in listed
    assert "Asked under the declaration of entry 1 (" in listed
    assert "verified" in listed
    told = json.loads(run("ledger", "patients.yaml", "--json").stdout)
    assert [item["number"] for item in told["amendments"]] == [6]
    assert [item["declaration"] for item in told["entries"]] == [1, 1, 6]
    assert [item["questions"] for item in told["statement"]["declarations"]] == [2, 1]


def test_what_was_learned_from_rows_is_said_where_it_is_recorded_and_ever_after(
    run: Run, change: Callable[[str, str], None]
) -> None:
    change("[a, b, c]", "[A, B, C]")
    done = run("amend", "patients.yaml", *WHY, "--yes", "--learned-from-rows", "--by", "Ann")
    assert "learned from rows: what it shows of them is outside of every promise" in done.stdout
    outside = "The declaration in force since entry 4 was learned from rows"
    assert outside in run("ledger", "patients.yaml").stdout
    assert "by Ann, learned from rows" in run("ledger", "patients.yaml").stdout
    preview = run("count", "patients.yaml", "--where", "ward == 'A'", "--epsilon", "0.1", "--preview")
    assert outside in preview.stdout


def test_where_nobody_can_be_asked_nothing_is_written_without_yes(
    run: Run, folder: Path, change: Callable[[str, str], None]
) -> None:
    change("text: age >= 18", "text: age >= 16")
    done = run("amend", "patients.yaml", *WHY)
    assert done.returncode == 2
    assert "rule adults loosened: from now on" in done.stdout, "it shows what it would write"
    assert "--yes" in done.stderr
    assert run("amend", "patients.yaml", *WHY, "--json").returncode == 2
    assert "amendment" not in kinds(folder)
    done = run("amend", "patients.yaml", *WHY, "--json", "--yes")
    told = json.loads(done.stdout)
    assert (told["entry"], told["replaces"], told["learned_from_rows"]) == (4, 1, False)
    assert told["rules"][0].startswith("rule adults loosened")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1)])
def test_at_a_terminal_the_owner_is_asked(
    folder: Path, change: Callable[[str, str], None], typed: str, code: int
) -> None:
    change("[a, b, c]", "[A, B, C]")
    owner, terminal = os.openpty()
    program = [sys.executable, "-c", "from anonymaly.cli.main import run; run()", "amend", "patients.yaml"]
    os.write(owner, typed.encode())
    done = subprocess.run(
        [*program, *WHY], cwd=folder, stdin=terminal, capture_output=True, text=True, check=False
    )
    os.close(terminal)
    os.close(owner)
    assert done.returncode == code, done.stderr
    assert "Record this amendment?" in done.stdout
    assert ("nothing was written" in done.stdout) == (code == 1)
    assert ("amendment" in kinds(folder)) == (code == 0)


def test_nothing_to_amend_says_so(run: Run, folder: Path, change: Callable[[str, str], None]) -> None:
    done = run("amend", "patients.yaml", *WHY)
    assert done.returncode == 0
    assert done.stdout == "nothing to amend: patients is declared so since entry 1\n"
    assert json.loads(run("amend", "patients.yaml", *WHY, "--json").stdout)["entry"] is None


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("budget: 1.0", "budget: 1.0\nadjacency: replace", "adjacency: declared add_remove, now replace"),
        ("budget: 1.0", "budget: 1.0\npublic: true", "public: declared false, now true"),
        ("budget: 1.0", "budget: 1.0\nperson: ward\nmax_rows: 2", "unit.person: declared null, now ward"),
        ("budget: 1.0", "budget: 2.0", "raise_budget"),
        ("[a, b, c]}", "[a, b, c]}\n  height: {type: flag}", "height"),
    ],
)
def test_what_cannot_be_amended_is_refused_with_why(
    run: Run, folder: Path, change: Callable[[str, str], None], old: str, new: str, named: str
) -> None:
    change(old, new)
    done = run("amend", "patients.yaml", *WHY, "--yes")
    assert done.returncode in (1, 2)
    assert named in done.stderr
    assert "amendment" not in kinds(folder)


def test_an_account_that_is_not_opened_needs_no_amendment(run: Run, folder: Path) -> None:
    done = run("amend", "patients.yaml", *WHY, "--yes")
    assert done.returncode == 2
    assert "not opened yet" in done.stderr
    assert not (folder / "patients.ledger").exists()
