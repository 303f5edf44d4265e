# SPDX-License-Identifier: Apache-2.0
"""The program, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

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
    pandas.DataFrame({"age": [30, 17, 45], "ward": ["A", "B", "A"]}).to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "patients.yaml").write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    def run(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).with_name("anonymaly")
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        return subprocess.run(
            [program, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            input=options.get("input", ""),
        )

    return run
