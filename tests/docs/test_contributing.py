# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING.md names files, commands and tests that exist, and answers with three files at most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
QUOTED = re.findall(r"`([^`]+)`", TEXT)
LINKS = re.findall(r"\]\(([^)#]+)\)", TEXT)
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md|toml|yml)")
ANSWERS = ("Where is …?", "How do I add …?")


def _paths() -> set[str]:
    """Return every word that is a path: one with a slash, or a file's name alone."""
    words = [word for quoted in QUOTED for word in quoted.split()]
    return {word for word in [*words, *LINKS] if PATH.fullmatch(word) and not word.startswith(".venv/")}


def _lines(title: str) -> list[tuple[str, str]]:
    """Return what a section's table is asked and answers."""
    section = TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", section, re.MULTILINE)
    return [(first, second) for first, second in rows if first != "what"]


def _exists(path: str) -> bool:
    # A name alone stands for a role that files of several folders have.
    role = path.rstrip("/")
    return (ROOT / path).exists() or ("/" not in role and any((ROOT / "src").rglob(role)))


def test_every_path_exists() -> None:
    paths = _paths()
    assert {"summary.py", ".ci/run", "src/anonymaly/ask/curator.py"} <= paths
    made = {"benchmarks/results/"}  # by `make bench`
    assert {path for path in paths - made if not _exists(path)} == set()


def test_every_target_of_make_exists() -> None:
    targets = {words[1] for quoted in QUOTED if (words := quoted.split())[0] == "make"}
    assert {"quick", "test", "tables"} <= targets
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert {target for target in targets if f"\n{target}:" not in makefile} == set()


@pytest.mark.parametrize("title", ANSWERS)
def test_every_answer_names_one_to_three_files(title: str) -> None:
    lines = _lines(title)
    assert len(lines) > 3
    for what, answer in lines:
        files = [path for path in re.findall(r"`([^`]+)`", answer) if (ROOT / path).is_file()]
        assert 1 <= len(files) <= 3, f"{what}: {files}"


def test_what_is_said_to_be_in_a_file_is_in_it() -> None:
    named = re.findall(r"`([^`]+\.pyi?)` \(`([\w.]+)`", TEXT) + re.findall(r"`(\w+)` in `([^`]+\.py)`", TEXT)
    assert len(named) >= 4
    for first, second in named:
        path, name = (first, second) if (ROOT / first).is_file() else (second, first)
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", (ROOT / path).read_text("utf-8")), (path, name)
