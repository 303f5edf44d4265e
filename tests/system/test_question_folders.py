# SPDX-License-Identifier: Apache-2.0
"""Question folders are alike, and CONTRIBUTING.md says what is in each of them; `make tables` renews it."""

from __future__ import annotations

import os
from pathlib import Path

from anonymaly.ask.catalogue import QUESTIONS

ROOT = Path(__file__).parents[2]
FOLDERS = ROOT / "src" / "anonymaly" / "questions"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- question folders, by `make tables` -->\n", "<!-- end of question folders -->"

NEEDED = ("query.py", "binding.py", "summary.py", "mechanism.py", "value.py", "GUARANTEE.md")
OPTIONAL = ("inspect.py", "picture.py", "kernels/")
VARIANTS = {"methods/", "searches/"}  # where the asker chooses by name, one file each
FORMS = {"everyone/"}  # another form of the question, with the same files but for the query


def _contents(folder: Path) -> set[str]:
    """Return the names in a folder; those of folders end in a slash."""
    left_out = ("__init__.py", "__pycache__")
    return {
        f"{path.name}/" if path.is_dir() else path.name
        for path in folder.iterdir()
        if path.name not in left_out
    }


def _table() -> str:
    """Return one line a question, one column a role, and all that has no role in the last."""
    roles = (*NEEDED, *OPTIONAL)
    lines = [["question", *(role.removesuffix(".py") for role in roles), "variants", "and"]]
    lines.append(["---"] * len(lines[0]))
    for question in QUESTIONS:
        names = _contents(FOLDERS / question.replace("-", "_"))
        variants = sorted(names & (VARIANTS | FORMS))
        others = sorted(names - VARIANTS - FORMS - set(roles))
        marks = ["✓" if role in names else "" for role in roles]
        lines.append([f"`{question}`", *marks, " ".join(variants), " ".join(others)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def test_every_folder_is_a_question_and_every_question_has_a_folder() -> None:
    folders = {path.name for path in FOLDERS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {question.replace("-", "_") for question in QUESTIONS}
    for question, home in QUESTIONS.items():
        assert home.startswith(f"anonymaly.questions.{question.replace('-', '_')}.query:")


def test_the_same_files_have_the_same_roles_in_every_folder() -> None:
    for question in QUESTIONS:
        names = _contents(FOLDERS / question.replace("-", "_"))
        assert set(NEEDED) <= names, f"{question} has no {set(NEEDED) - names}"
        folders = {name for name in names if name.endswith("/")}
        assert folders <= VARIANTS | FORMS | set(OPTIONAL), f"{question}: which room is {folders}?"
        for form in names & FORMS:
            held = _contents(FOLDERS / question.replace("-", "_") / form)
            assert set(NEEDED) - {"query.py"} <= held, f"{question}: {form}"
        assert all(name.endswith((".py", ".md", "/")) for name in names), question


def test_the_page_shows_the_folders_as_they_are() -> None:
    text = PAGE.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    table, end, after = rest.partition(END)
    assert begin, "CONTRIBUTING.md has lost the comment before the table"
    assert end, "CONTRIBUTING.md has lost the comment after the table"
    if os.environ.get("RENEW_TABLES"):
        PAGE.write_text(before + begin + _table() + end + after, "utf-8")
    else:
        assert table == _table(), "CONTRIBUTING.md is not current; run: make tables"
