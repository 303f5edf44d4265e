# SPDX-License-Identifier: Apache-2.0
"""The guided path through the messy tables of ``examples/messy``, typed into a pseudo-terminal."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from anonymaly import inspect as owner
from anonymaly.cli.guide.asking import flat_answers
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.manifest import Manifest
from tests.cli.terminal import Terminal, terminal_of

MESSY = Path(__file__).parents[3] / "examples" / "messy"
ROWS = 600
PROMPT = re.compile(r"(?:^|\n)(?P<key>[^\n]+?) \[(?P<suggestion>[^\n]*)\]: $")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messy_tables", MESSY / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its data classes look it up
    spec.loader.exec_module(module)
    return module


TABLES = _tables().TABLES


def _prompts(terminal: Terminal) -> Iterator[re.Match[str]]:
    """Return each prompt as it appears, until the program ends."""
    shown = ""
    for read in terminal.reads():
        shown += read
        found = PROMPT.search(CODES.sub("", shown).replace("\r\n", "\n"))
        if found:
            shown = ""
            yield found


def _answers(name: str) -> dict[str, str]:
    return flat_answers(yaml.safe_load((MESSY / "answers" / f"{name}.yaml").read_text("utf-8")))


def _walk(terminal: Terminal, name: str) -> list[str]:
    """Answer as the file of answers does, Enter for the rest, and return the keys that were asked."""
    answers, columns = _answers(name), list(TABLES[name].columns)
    lines = [place for place, column in enumerate(columns, start=1) if f"columns.{column}" in answers]
    answers["change"] = " ".join(map(str, lines))
    asked = []
    for prompt in _prompts(terminal):
        asked.append(prompt["key"])
        terminal.type(answers.get(prompt["key"], ""))
    return asked


def _rows(dataset: Dataset, columns: list[str]) -> list[tuple[Any, ...]]:
    """Return the rows as questions see them."""
    table = dataset.table.select(*columns).to_pyarrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture
def messy(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        TABLES[name].write(tmp_path, ROWS)
        return tmp_path

    return make


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_the_guided_path_reads_every_column_as_a_person_would(
    name: str, messy: Callable[[str], Path]
) -> None:
    folder, table = messy(name), TABLES[name]
    with terminal_of(["init", "--guided", table.file], folder) as terminal:
        asked = _walk(terminal, name)
        transcript = terminal.transcript
    assert terminal.program.returncode == 0, transcript
    assert len(asked) < 45, "sixty columns must not need sixty questions"
    assert "Nothing is open" in transcript
    # What ε means is rounded up, and said of whom it is true.
    assert "knows every other row" in transcript
    assert "ε = 1: 73.2%" in transcript
    manifest = Manifest.load(folder / f"{name}.yaml")
    dataset, columns = manifest.dataset(folder), list(manifest.columns)
    assert [line for line in dataset.check() if line.problem] == []
    rows = _rows(dataset, columns)
    places = [list(table.columns).index(column) for column in columns]
    truth = [tuple(row[place][1] for place in places) for row in table.cells(ROWS)]
    for place, column in enumerate(columns):
        assert Counter(row[place] for row in rows) == Counter(row[place] for row in truth), column
    assert Counter(rows) == Counter(truth)
    # The owner's look says the same, and nothing was charged for it.
    looked = owner.columns(dataset)
    for look in looked.columns:
        known = sum(row[columns.index(look.column)] is not None for row in truth)
        assert (look.unreadable, look.outside) == (0, 0), look.column
        # What is declared as other is undeclared, and nothing else is.
        assert look.within + (look.undeclared if look.other else 0) == known, look.column
    assert looked.persons is not None
    assert looked.persons.rows_cut == 0
    assert not list(folder.glob("*.ledger*"))
    # Every column that holds something to ask about is declared.
    assert set(table.columns) - set(columns) == {name for name in table.columns if name in LEFT_OUT}


LEFT_OUT = {
    "Patient ID", "Fall-Nr.", "Name", "E-Mail", "Telefon", "Straße", "Ort", "notes", "Bemerkung", "Mandant",
    "household", "comment", "transaction_id", "customer_id", "card", "Händler",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_file_of_answers_writes_what_the_terminal_does(name: str, messy: Callable[[str], Path]) -> None:
    folder, table = messy(name), TABLES[name]
    with terminal_of(["init", "--guided", table.file, "-o", "typed.yaml"], folder) as terminal:
        _walk(terminal, name)
    answers = str(MESSY / "answers" / f"{name}.yaml")
    with terminal_of(["init", table.file, "--answers", answers, "-o", "answered.yaml"], folder) as terminal:
        assert list(_prompts(terminal)) == [], "answers are not asked for"
    assert (folder / "answered.yaml").read_text("utf-8") == (folder / "typed.yaml").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("last", ["file", "person", "write"])
def test_an_interrupted_dialogue_leaves_no_file(last: str, messy: Callable[[str], Path]) -> None:
    folder = messy("transactions")
    with terminal_of(["init", "--guided", "transactions.csv"], folder) as terminal:
        for prompt in _prompts(terminal):
            if prompt["key"] == last:
                terminal.interrupt()
            else:
                terminal.type("")
    assert terminal.program.returncode == 130
    assert "nothing was written" in terminal.transcript
    assert [path.name for path in folder.iterdir()] == ["transactions.csv"]


@pytest.mark.slow
def test_a_wrong_answer_is_explained_and_asked_for_again(messy: Callable[[str], Path]) -> None:
    folder = messy("transactions")
    wrong = {
        "person": "nobody",
        "columns.category": "1 to",
        "dates": "yesterday",
        "budget": "a lot",
        "zone": "Berlin",
    }
    asked = []
    with terminal_of(["init", "--guided", "transactions.csv"], folder) as terminal:
        for prompt in _prompts(terminal):
            key = prompt["key"]
            terminal.type(wrong.get(key, "") if asked.count(key) == 0 else "")
            asked.append(key)
    assert terminal.program.returncode == 0
    for key in ("person", "dates", "budget"):
        assert asked.count(key) == 2
    assert "there is no column 'nobody'" in terminal.transcript
