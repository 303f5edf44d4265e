# SPDX-License-Identifier: Apache-2.0
"""Errors made to happen on the way of one question, and what must hold whatever happens."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.errors import AnswerFailed

ROW, NEIGHBOUR = "Alice-HIV-positive", "Bob-in-good-health"
COLUMNS = {"x": am.Interval(0, 120)}
RULES = {"rare": am.AnomalyModel(["x"], radius=3, beta=2), "high": am.Policy("x > 3")}
Sabotage = Callable[[pytest.MonkeyPatch, am.Curator, str], object]


def chain(problem: BaseException | None) -> str:
    """Return all that any printer of exceptions could show, suppressed contexts too."""
    texts, seen = [], set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        texts += [*traceback.format_exception(problem), repr(problem)]
        problem = problem.__cause__ or problem.__context__
    return "".join(texts)


@dataclass(frozen=True)
class Outcome:
    """What an asker sees of a question, and what it cost."""

    kind: str
    text: str
    spent: float
    states: tuple[str, ...]


def outcome(folder: Path, row: str, sabotage: Sabotage, query: am.Query | None = None) -> Outcome:
    """Ask once while something is broken, once more when it is whole, and check what must always hold."""
    frame = pandas.DataFrame({"x": [1.0, 2.0, 3.0], "name": [row, "x", "y"]})
    dataset = am.Dataset(frame, name="t", columns={**COLUMNS, "name": am.Categories(["x", "y"])}, rules=RULES)
    folder.mkdir()
    curator = am.Curator(dataset, budget=10, ledger=folder / "t.ledger", anchor=folder / "t.anchor")
    asked = query or am.Count(where="x > 1", epsilon=1)
    problem: BaseException | None = None
    with pytest.MonkeyPatch.context() as patch:
        sabotage(patch, curator, row)
        try:
            curator.ask(asked)
        except BaseException as caught:
            problem = caught
    assert row not in chain(problem)
    ledger = curator.accountant.ledger
    states = tuple(item.state for item in ledger.reservations("t")) if "t" in ledger.accounts() else ()
    spent = curator.spent
    check(curator, row)
    ask_again(curator, asked)
    check(curator, row)
    curator.close()
    return Outcome(type(problem).__name__, str(problem).replace(str(folder), "FOLDER"), spent, states)


def ask_again(curator: am.Curator, asked: am.Query) -> None:
    """Ask again when nothing is broken: the same answer twice, or none under that charge ever again."""
    try:
        first = curator.ask(asked)
    except AnswerFailed:
        with pytest.raises(AnswerFailed):
            curator.ask(asked)
        return
    again = curator.ask(asked)
    assert (again.receipt, again.charged) == (first.receipt, 0)


def check(curator: am.Curator, row: str) -> None:
    """No answer without its charge, one answer to a charge, a ledger that verifies, no row anywhere."""
    accountant = curator.accountant
    verified = accountant.verify()
    assert verified.ok, verified
    assert not verified.problems
    charges = accountant.ledger.reservations("t") if "t" in accountant.ledger.accounts() else []
    assert round(curator.spent * 10**9) == sum(item.cost for item in charges)
    released = {f"{item.key}-{item.digest}" for item in charges if item.state == "committed"}
    open_keys = {item.key for item in charges if item.state == "reserved"}
    present = {
        path.name for path in accountant.store.folder.iterdir() if not path.name.startswith("partial.")
    }
    assert released <= present
    assert {name.partition("-")[0] for name in present - released} <= open_keys
    for place in accountant.store.folder.parents[1].rglob("*"):
        assert not place.is_file() or row.encode() not in place.read_bytes()


def neighbours(folder: Path, sabotage: Sabotage, query: am.Query | None = None) -> Outcome:
    """Return what is seen, which must be the same on two tables that differ in a row."""
    first, second = (
        outcome(folder / name, row, sabotage, query) for name, row in (("a", ROW), ("b", NEIGHBOUR))
    )
    assert first == second
    return first


def close_fails(patch: pytest.MonkeyPatch, module: str) -> None:
    """Let `os.close`, called from one module, close and then report an error, as a network disk may."""
    close = os.close

    def closing(descriptor: int) -> None:
        close(descriptor)
        if sys._getframe(1).f_globals["__name__"] == module:
            raise OSError(5, "Input/output error")

    patch.setattr("os.close", closing)


def raising(problem: BaseException) -> Callable[..., Any]:
    """Return a function that raises an error, whatever it is called with."""

    def fail(*_: Any, **__: Any) -> Any:
        raise problem

    return fail
