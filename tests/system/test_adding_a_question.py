# SPDX-License-Identifier: Apache-2.0
"""The five steps of docs/adding-a-question.md, carried out on a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path.name} should hold {old!r} once"
    path.write_text(text.replace(old, new), "utf-8")


def test_a_new_question_passes_the_contract_after_five_steps(tmp_path: Path) -> None:
    for name in ("src", "docs", "tests/contract"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "mkdocs.yml", "tests/__init__.py", "tests/conftest.py", "tests/warm.py"):
        shutil.copy(ROOT / name, tmp_path / name)

    package = tmp_path / "src" / "anonymaly"
    folder = package / "questions" / "proportion"
    shutil.copytree(ROOT / "examples" / "question_template", folder)
    (folder / "page.md").rename(tmp_path / "docs" / "questions" / "proportion.md")
    _edit(
        tmp_path / "mkdocs.yml",
        "      - count: questions/count.md\n",
        "      - count: questions/count.md\n      - proportion: questions/proportion.md\n",
    )
    _edit(
        package / "ask" / "catalogue.py",
        '    "count": "anonymaly.questions.count.query:Count",\n',
        '    "count": "anonymaly.questions.count.query:Count",\n'
        '    "proportion": "anonymaly.questions.proportion.query:Proportion",\n',
    )
    _edit(
        package / "__init__.pyi",
        "from anonymaly.questions.score.value import Model as Model\n",
        "from anonymaly.questions.proportion.query import Proportion as Proportion\n"
        "from anonymaly.questions.score.value import Model as Model\n",
    )

    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "200"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/contract",
        "-q",
        "-k",
        "proportion",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
    assert int(done.stdout.rsplit(" passed", 1)[0].rsplit(None, 1)[-1]) > 30

    linter = Path(sys.executable).with_name("lint-imports")
    contract = subprocess.run(
        [linter, "--no-cache"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert contract.returncode == 0, contract.stdout
