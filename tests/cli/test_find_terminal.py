# SPDX-License-Identifier: Apache-2.0
"""``anonymaly find`` typed into a pseudo-terminal: it asks whose records, and whether to go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import terminal_of


def _typed(folder: Path, answers: list[tuple[str, str]], *arguments: str) -> tuple[int, str]:
    """Answer each prompt when it has appeared, and return the exit code and all that was shown."""
    with terminal_of(["find", "patients.yaml", *arguments], folder) as terminal:
        looked, waiting = 0, list(answers)
        for _ in terminal.reads():
            if waiting and waiting[0][0] in terminal.transcript[looked:]:
                looked = len(terminal.transcript)
                terminal.type(waiting.pop(0)[1])
        assert not waiting, terminal.transcript
        return terminal.program.wait(), terminal.transcript


@pytest.mark.slow
def test_it_asks_whose_records_and_what_they_may_cost_and_whether_to_go_on(folder: Path) -> None:
    (folder / "new.csv").write_text("age,ward\n97,C\n30,A\n")
    answers = [
        ("1 or 2: ", "3"),
        ("1 or 2: ", "1"),
        ("File of records (.csv or .parquet): ", "new.csv"),
        ("such as 1: ", "0.5"),
        ("Go on? [y/N]: ", "n"),
    ]
    code, shown = _typed(folder, answers, "--explain", "1")
    assert code == 1
    assert "would cost at most ε = 0.5 of 1 remaining" in shown
    assert "charged ε" not in shown
    told = subprocess.run(
        [sys.executable, "-m", "anonymaly", "ledger", "patients.ledger", "--verify"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "spent" not in told.stdout, "no account was opened"


@pytest.mark.slow
def test_the_owner_may_say_that_the_tables_own_rows_are_meant(folder: Path) -> None:
    code, shown = _typed(folder, [("1 or 2: ", "2")], "--top", "1")
    assert code == 0, shown
    assert "for the owner alone" in shown
    assert "The oddest of the 3 rows of patients" in shown
    assert not list(folder.glob("*.ledger"))
