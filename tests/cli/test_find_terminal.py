# SPDX-License-Identifier: Apache-2.0
"""``anonymaly find`` typed into a pseudo-terminal: it asks whose records, and whether to go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here; a POSIX system has them")


def _typed(folder: Path, answers: list[tuple[str, str]], *arguments: str) -> tuple[int, str]:
    """Answer each prompt when it has appeared, and return the exit code and all that was shown."""
    screen, inside = pty.openpty()
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm", "NO_COLOR": "1"}
    program = subprocess.Popen(
        [sys.executable, "-m", "anonymaly", "find", "patients.yaml", *arguments],
        cwd=folder,
        env=environment,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    shown, looked, waiting = "", 0, list(answers)
    while True:
        try:
            read = os.read(screen, 65536)
        except OSError:  # how Linux says that the other side is closed
            read = b""
        if not read:
            break
        shown += read.decode("utf-8", "replace")
        if waiting and waiting[0][0] in shown[looked:]:
            looked = len(shown)
            os.write(screen, f"{waiting.pop(0)[1]}\n".encode())
    os.close(screen)
    assert not waiting, shown
    return program.wait(), shown


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
