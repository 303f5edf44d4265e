# SPDX-License-Identifier: Apache-2.0
"""The program, run as a user runs it, but in this process: a hundred starts of Python take minutes."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

from anonymaly.cli.main import run as run_program

MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
  ward: {type: categories, values: [A, B, C]}
rules:
  adults: {type: policy, text: age >= 18}
budget: 1.0
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pandas.DataFrame({"age": [30, 17, 45], "ward": ["A", "B", "A"]}).to_csv(
        tmp_path / "patients.csv", index=False
    )
    (tmp_path / "patients.yaml").write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["anonymaly", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(input))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run_program()
        printed = capsys.readouterr()
        code = end.value.code
        return subprocess.CompletedProcess(arguments, int(code or 0), printed.out, printed.err)

    return run
