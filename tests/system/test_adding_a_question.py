# SPDX-License-Identifier: Apache-2.0
"""The steps of docs/adding-a-question.md, carried out on a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Not this test itself, and no question's laws and audits: another question cannot change them.
COPIED = ("src", "studies", "docs", "tests/contract", "tests/system")
FILES = (
    "pyproject.toml",
    "mkdocs.yml",
    "CONTRIBUTING.md",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/warm.py",
)
USE = """\
from typing import Any, assert_type

import anonymaly as am

query: am.Query = am.Proportion(where="age >= 65", epsilon=0.1)


def values_have_types(curator: am.Curator, query: am.Query) -> None:
    assert_type(curator.ask(am.Count(epsilon=1)).value, int)
    assert_type(curator.ask(am.Count(where=["age < 60"], epsilon=1)).value, list[int])
    assert_type(curator.ask(am.Score(columns=["age"], epsilon=1)).value, am.Model)
    assert_type(curator.rehearse(am.ShareSample(policy="p", columns=["age"], epsilon=1)).value, am.Table)
    assert_type(curator.ask(query).value, Any)
    assert_type(curator.answers()[0].remaining, float | None)
"""


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path.name} should hold {old!r} once"
    path.write_text(text.replace(old, new), "utf-8")


def _copy(to: Path) -> None:
    for name in COPIED:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, to / name)
    (to / "tests" / "system" / Path(__file__).name).unlink()


def _add_proportion(to: Path) -> None:
    """Do by hand what the page asks for."""
    package = to / "src" / "anonymaly"
    folder = package / "questions" / "proportion"
    shutil.copytree(ROOT / "examples" / "question_template", folder)
    (folder / "page.md").rename(to / "docs" / "questions" / "proportion.md")
    (folder / "audit.py").unlink()
    page = "      - count: questions/count.md\n"
    _edit(to / "mkdocs.yml", page, f"{page}      - proportion: questions/proportion.md\n")
    line = '        "count": "anonymaly.questions.count.query:Count",\n'
    ours = '        "proportion": "anonymaly.questions.proportion.query:Proportion",\n'
    _edit(package / "ask" / "catalogue.py", line, line + ours)
    line = "from anonymaly.questions.score.query import Score as Score\n"
    ours = "from anonymaly.questions.proportion.query import Proportion as Proportion\n"
    _edit(package / "__init__.pyi", line, ours + line)


def _add_its_audit(to: Path) -> None:
    package = to / "src" / "anonymaly" / "audit"
    shutil.copy(ROOT / "examples" / "question_template" / "audit.py", package / "cases" / "proportion.py")
    line = "from anonymaly.audit.cases.score import SCORE_CASES, SCORE_MUTANTS\n"
    ours = "from anonymaly.audit.cases.proportion import PROPORTION_CASES, PROPORTION_MUTANTS\n"
    _edit(package / "questions.py", line, ours + line)
    line = '    "score": Audited(SCORE_CASES, SCORE_MUTANTS),\n'
    ours = '    "proportion": Audited(PROPORTION_CASES, PROPORTION_MUTANTS),\n'
    _edit(package / "questions.py", line, ours + line)


@pytest.mark.slow
def test_a_new_question_holds_to_everything_after_the_steps_of_the_page(tmp_path: Path) -> None:
    _copy(tmp_path)
    _add_proportion(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "200"}

    def run(program: str, *arguments: str, **variables: str) -> str:
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    # A question without an audit fails the contract suite, and by that alone.
    audit_test = ("tests/contract", "-k", "proportion and audit", "-q", "-p", "no:cacheprovider")
    without = subprocess.run(
        [Path(sys.executable).with_name("pytest"), *audit_test],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert without.returncode == 1, without.stdout
    assert "'proportion' has no audit" in without.stdout
    _add_its_audit(tmp_path)

    def run_tests(*arguments: str, **variables: str) -> int:
        """Return how many passed; one that fails fails this test."""
        said = run("pytest", "-q", "-p", "no:cacheprovider", *arguments, **variables)
        return int(said.rsplit(" passed", 1)[0].rsplit(None, 1)[-1])

    # `make tables`
    run("python", "docs/command_line.py")
    run("python", "docs/question_fields.py")
    run_tests("tests/system/test_question_folders.py", RENEW_TABLES="1")

    assert run_tests("tests/contract", "-k", "proportion") > 30
    assert run_tests("tests/system/test_architecture.py", "tests/system/test_question_folders.py") > 10
    assert run_tests("tests/system/test_light.py", "-k", "proportion") == 3
    run("python", "docs/command_line.py", "--check")
    run("python", "docs/question_fields.py", "--check")
    run("ruff", "check", "--no-cache", "src")
    run("ruff", "format", "--check", "--no-cache", "src")
    run("lint-imports", "--no-cache")
    (tmp_path / "use.py").write_text(USE, "utf-8")
    audited = "src/anonymaly/audit/cases/proportion.py"
    run("mypy", "--cache-dir", os.devnull, "src/anonymaly/questions/proportion", audited, "use.py")
    run("python", "-m", "anonymaly", "audit", "proportion", "--json")


def test_the_page_asks_for_what_is_done_here() -> None:
    page = (ROOT / "docs" / "adding-a-question.md").read_text("utf-8")
    for name in (
        "examples/question_template/",
        "src/anonymaly/questions/",
        "docs/questions/",
        "mkdocs.yml",
        "ask/catalogue.py",
        "__init__.pyi",
        "audit.py",
        "audit/cases/",
        "audit/questions.py",
        "make tables",
    ):
        assert name in page, f"docs/adding-a-question.md does not mention {name}"
