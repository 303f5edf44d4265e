# SPDX-License-Identifier: Apache-2.0
"""What shells complete, told as they ask for it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Complete = Callable[..., list[str]]


@pytest.fixture
def complete(run: Run, monkeypatch: pytest.MonkeyPatch) -> Complete:
    def complete(*words: str) -> list[str]:
        monkeypatch.setenv("_ANONYMALY_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["anonymaly", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        done: subprocess.CompletedProcess[str] = run()
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return complete


def test_commands_are_completed_without_importing_them(complete: Complete) -> None:
    assert complete("sco") == ["score"]
    assert {"check", "inspect", "count"} <= set(complete(""))
    assert "--install-completion" in complete("--inst")


def test_columns_rules_and_values_are_completed_from_the_manifest(complete: Complete, folder: Path) -> None:
    assert complete("share-sample", "patients.yaml", "--columns", "") == ["age", "ward"]
    assert complete("share-sample", "patients.yaml", "--policy", "a") == ["adults"]
    assert complete("identify", "patients.yaml", "--model", "") == []
    assert complete("identify", "patients.yaml", "--record", "w") == ["ward="]
    assert complete("identify", "patients.yaml", "--record", "ward=") == ["ward=A", "ward=B", "ward=C"]
    assert complete("identify", "patients.yaml", "--guarantee", "d") == ["differential"]


def test_a_half_written_line_completes_nothing_and_never_fails(complete: Complete, folder: Path) -> None:
    assert complete("share-sample", "--columns", "") == []
    assert complete("share-sample", "missing.yaml", "--columns", "") == []
    (folder / "patients.yaml").write_text("columns: [")
    assert complete("share-sample", "patients.yaml", "--columns", "") == []
    (folder / "patients.yaml").write_text("columns: {ward: 3}\nrules: any\n")
    assert complete("share-sample", "patients.yaml", "--columns", "") == ["ward"]
    assert complete("share-sample", "patients.yaml", "--policy", "") == []
    assert complete("identify", "patients.yaml", "--record", "ward=") == []


def test_a_shells_script_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = run("--show-completion", "bash")
    assert done.returncode == 0, done.stderr
    assert "_ANONYMALY_COMPLETE" in done.stdout
