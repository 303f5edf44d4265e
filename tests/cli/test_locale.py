# SPDX-License-Identifier: Apache-2.0
"""Whatever letters the locale has, an answer that was paid for is printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MANIFEST = """
name: t
source: t.csv
budget: 10
columns:
  ward: {type: categories, values: [A, Ä]}
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "anonymaly", *arguments]
    return subprocess.run(command, env=kept | plain, cwd=folder, capture_output=True, check=False)


@pytest.mark.slow
def test_an_answer_is_printed_and_its_ledger_found_where_the_locale_has_only_ascii(tmp_path: Path) -> None:
    folder = tmp_path / "Bücher"
    folder.mkdir()
    (folder / "t.yaml").write_text(MANIFEST, "utf-8")
    (folder / "t.csv").write_text("ward\nA\nÄ\n", "utf-8")
    asked = _run(tmp_path, "count", "Bücher/t.yaml", "--where", "ward == 'A'", "--epsilon", "1")
    assert asked.returncode == 0, asked.stderr
    assert asked.stderr == b""
    assert rb"\u03b5 = 1" in asked.stdout  # ε, spelled out
    again = _run(tmp_path, "count", "Bücher/t.yaml", "--where", "ward == 'A'", "--epsilon", "1", "--json")
    answer = json.loads(again.stdout.decode("ascii"))
    assert "±" in answer["expected"]["error"]
    verified = _run(tmp_path, "ledger", "Bücher/t.yaml", "--verify")
    assert verified.returncode == 0, verified.stderr
    refused = _run(tmp_path, "count", "Bücher/t.yaml", "--epsilon", "100")
    assert refused.returncode == 1
    assert b"Traceback" not in refused.stderr
