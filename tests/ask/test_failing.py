# SPDX-License-Identifier: Apache-2.0
"""When the way to a failure fails itself: no row value is seen, no budget is spent twice."""

from __future__ import annotations

import logging
import os
import stat
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

import anonymaly as am
from anonymaly.ask.binding import Binding
from anonymaly.errors import AnswerFailed, LedgerDamaged, LedgerError

ROW = "Alice-HIV-positive"


@pytest.fixture
def failing(tmp_path: Path) -> Callable[..., am.Curator]:
    """A curator of a view that fails on one row, with an engine's message that quotes the row."""
    path = tmp_path / "table.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{ROW}' AS x")
        connection.execute("CREATE VIEW v AS SELECT CAST(x AS DOUBLE) AS x FROM t")
    dataset = am.Dataset(path, table="v", name="v", columns={"x": am.Interval(0, 120)})

    def failing(**options: Any) -> am.Curator:
        return am.Curator(dataset, budget=10, ledger=tmp_path / "v.ledger", **options)

    return failing


def _everything_in(problem: BaseException | None) -> str:
    texts = []
    while problem is not None:
        texts += [*traceback.format_exception(problem), repr(problem)]
        problem = problem.__cause__ or problem.__context__
    return "".join(texts)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("what", ["nothing", "ledger closed", "ledger renamed", "anchor gone", "interrupt"])
def test_no_row_is_quoted_when_recording_a_failure_fails(
    failing: Callable[..., am.Curator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    curator = failing(anchor=tmp_path / "v.anchor")
    happens: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "ledger closed": curator.close,
        "ledger renamed": lambda: (tmp_path / "v.ledger").rename(tmp_path / "gone"),
        "anchor gone": (tmp_path / "v.anchor").unlink,
        "interrupt": _interrupt,
    }
    fail = curator.accountant.ledger.fail

    def disturbed(*arguments: Any, **named: Any) -> Any:
        happens[what]()
        return fail(*arguments, **named)

    monkeypatch.setattr(curator.accountant.ledger, "fail", disturbed)
    with pytest.raises((AnswerFailed, LedgerError, KeyboardInterrupt)) as caught:
        curator.ask(am.Count(where="x > 3", epsilon=1))
    assert ROW not in _everything_in(caught.value)
    assert "Nothing was spent" not in str(caught.value)


def test_an_interrupt_while_an_engine_fails_quotes_no_row(
    failing: Callable[..., am.Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = failing()

    def interrupted(*_: Any) -> None:
        try:
            raise ValueError(ROW)
        except ValueError:
            raise KeyboardInterrupt  # noqa: B904  (a signal arrives here and knows nothing of the other)

    monkeypatch.setattr(Binding, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        curator.ask(am.Count(epsilon=1))
    assert ROW not in _everything_in(caught.value)


def test_a_log_that_cannot_be_written_changes_nothing(
    failing: Callable[..., am.Curator], capsys: pytest.CaptureFixture[str]
) -> None:
    curator = failing()
    handler = logging.FileHandler("/dev/full")
    logging.getLogger("anonymaly").addHandler(handler)
    try:
        with pytest.raises(AnswerFailed):
            curator.ask(am.Count(where="x > 3", epsilon=1))
    finally:
        logging.getLogger("anonymaly").removeHandler(handler)
    assert ROW not in capsys.readouterr().err


def test_parts_are_charged_to_the_same_ledger_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pandas.DataFrame({"age": range(100)})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    dataset = am.Dataset(frame, name="p", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1, adjacency="replace", anchor="p.anchor")
    monkeypatch.chdir(tmp_path / "elsewhere")
    curator.about(frame).ask(am.Count(epsilon=0.9))
    assert curator.remaining == 0.1
    assert curator.ask(am.Count(epsilon=0.1)).charged
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_part_is_not_charged_to_another_ledger_in_the_same_place(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"age": range(100)})
    dataset = am.Dataset(frame, name="p", columns={"age": am.Interval(0, 120)})
    path = tmp_path / "p.ledger"
    curator = am.Curator(dataset, budget=1, adjacency="replace", ledger=path)
    os.rename(path, tmp_path / "kept.ledger")
    for journal in tmp_path.glob("p.ledger-*"):
        journal.unlink()
    am.Curator(dataset, budget=1, adjacency="replace", ledger=path).close()
    with pytest.raises(LedgerDamaged, match="another ledger"):
        curator.about(frame)


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_ledger_anchor_and_answers_are_their_owners_alone(
    open_curator: Callable[..., am.Curator], tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        curator = open_curator(anchor=tmp_path / "an.anchor")
        curator.ask(am.Count(epsilon=0.1))
        modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_file()]
        curator.close()
    finally:
        os.umask(before)
    assert len(modes) >= 5  # ledger, its journal, anchor, its lock, an answer
    assert set(modes) == {0o600}


def _full(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


def test_an_answer_that_does_not_fit_the_store_is_never_drawn_again(
    open_curator: Callable[..., am.Curator], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    curator = open_curator()
    monkeypatch.setattr("anonymaly.core.files.os.replace", _full)
    with pytest.raises(AnswerFailed, match="charge stands"):
        curator.ask(am.Count(epsilon=0.1))
    assert "failed in stage store" in caplog.text
    monkeypatch.undo()
    assert not list(curator.accountant.store.folder.iterdir())
    with pytest.raises(AnswerFailed):
        curator.ask(am.Count(epsilon=0.1))
    assert curator.spent == 0.1
    assert curator.ask(am.Count(epsilon=0.1), repeat=1).charged


def test_a_store_that_cannot_be_written_is_told_before_the_charge(
    open_curator: Callable[..., am.Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = open_curator()
    monkeypatch.setattr("anonymaly.core.files.tempfile.mkstemp", _full)
    with pytest.raises(LedgerError, match="nothing was charged"):
        curator.ask(am.Count(epsilon=0.1))
    assert curator.spent == 0


def test_an_error_that_comes_back_to_itself_ends(
    failing: Callable[..., am.Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        kept, interrupt = ValueError(ROW), KeyboardInterrupt()
        interrupt.__cause__ = kept
        kept.__context__ = interrupt  # as of an error that a library keeps and raises again
        raise interrupt

    monkeypatch.setattr(Binding, "answer", fail)
    with pytest.raises(KeyboardInterrupt) as caught:
        failing().ask(am.Count(epsilon=1))
    assert ROW not in _everything_in(caught.value)
