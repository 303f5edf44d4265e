# SPDX-License-Identifier: Apache-2.0
"""Each handler on the way of a question, made to fail while it handles an error that quotes a row.

`tests/system/test_handlers.py` says which test is whose.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymaly as am
from anonymaly.ask import reader
from anonymaly.ask.binding import Binding
from anonymaly.ask.secret import SecretFile
from anonymaly.ask.store import KeptFile
from anonymaly.core import threads
from anonymaly.core.files import sweep_partial
from anonymaly.declare.dataset import Dataset
from anonymaly.engine import statements
from anonymaly.engine.statements import statement_template
from anonymaly.errors import AnswerFailed, LedgerError
from anonymaly.questions.identify import summary
from tests.ask.sabotage import (
    COLUMNS,
    NEIGHBOUR,
    ROW,
    RULES,
    chain,
    check,
    close_fails,
    neighbours,
    outcome,
    raising,
)

FULL = OSError(28, "No space left on device")


def _quoting(row: str) -> Any:
    """Return what answers by an error that quotes a row, as engines do."""
    return lambda *_: (_ for _ in ()).throw(ValueError(row))


def _stage_quotes(patch: pytest.MonkeyPatch, row: str) -> None:
    def answer(self: Binding, *_: Any) -> Any:
        try:
            raise ValueError(row)
        except ValueError as problem:
            raise reader.StageFailure("count") from problem

    patch.setattr(Binding, "answer", answer)


def test_a_failure_that_cannot_be_described_quotes_no_row(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        _stage_quotes(patch, row)
        patch.setattr(reader.Reader, "_failed", raising(MemoryError()))

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.states) == ("AnswerFailed", ("failed",))


def test_a_second_interrupt_while_the_first_is_handled_quotes_no_row(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        def interrupted(*_: Any) -> None:
            # From here on, whoever looks whether the table is public is interrupted once more.
            patch.setattr(Dataset, "public", property(raising(KeyboardInterrupt())))
            try:
                raise ValueError(row)
            except ValueError:
                raise KeyboardInterrupt  # noqa: B904  (a signal knows nothing of the error)

        patch.setattr(Binding, "answer", interrupted)

    assert neighbours(tmp_path, sabotage).kind == "KeyboardInterrupt"


@pytest.mark.parametrize("stage", ["engine", "interrupt"])
def test_a_partial_file_that_cannot_be_removed_hides_nothing(tmp_path: Path, stage: str) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        def answer(self: Binding, *_: Any) -> Any:
            patch.setattr(Path, "unlink", raising(FULL))  # only now: the try before the charge went well
            if stage == "interrupt":
                raise KeyboardInterrupt
            raise reader.StageFailure("count") from ValueError(row)

        patch.setattr(Binding, "answer", answer)

    found = neighbours(tmp_path, sabotage)
    assert found.kind == {"engine": "AnswerFailed", "interrupt": "KeyboardInterrupt"}[stage]
    assert found.states == ({"engine": "failed", "interrupt": "reserved"}[stage],)


def test_a_partial_file_that_can_neither_be_locked_nor_removed_costs_no_answer(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        patch.setattr("anonymaly.core.files.lock", raising(MemoryError()))
        patch.setattr("os.unlink", raising(FULL))
        close_fails(patch, "anonymaly.core.files")

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.states) == ("MemoryError", ())  # tried before the charge


def test_a_stored_answer_that_can_neither_be_read_nor_closed_says_that_it_is_free_to_ask_again(
    tmp_path: Path,
) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        patch.setattr("hashlib.file_digest", raising(OSError(5, "Input/output error")))
        patch.setattr(KeptFile, "close", raising(OSError(5, "Input/output error")))

    found = outcome(tmp_path / "a", ROW, sabotage)  # alone: the message names the answer, which is noisy
    assert (found.kind, found.states) == ("LedgerDamaged", ("committed",))


def test_a_folder_that_is_not_synced_keeps_no_answer_nobody_was_given(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        folder = curator.accountant.store.folder.stat().st_ino
        fsync, close = os.fsync, os.close

        def syncing(descriptor: int) -> None:
            if os.fstat(descriptor).st_ino == folder:
                raise FULL
            fsync(descriptor)

        def closing(descriptor: int) -> None:
            is_folder = os.fstat(descriptor).st_ino == folder
            close(descriptor)
            if is_folder:
                raise OSError(5, "Input/output error")

        patch.setattr("os.fsync", syncing)
        patch.setattr("os.close", closing)

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.states) == ("AnswerFailed", ("failed",))


def test_a_sweep_that_fails_at_every_step_lets_the_account_open(tmp_path: Path) -> None:
    (tmp_path / "partial.left").write_bytes(b"half a draw")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", raising(FULL))
        patch.setattr("anonymaly.core.files.unlock", raising(FULL))
        close_fails(patch, "anonymaly.core.files")
        sweep_partial(tmp_path, "partial.")
    assert (tmp_path / "partial.left").exists()
    sweep_partial(tmp_path, "partial.")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["a path too long to look at", "a link"])
def test_a_secret_that_cannot_be_opened_nor_looked_at_is_a_refusal(tmp_path: Path, what: str) -> None:
    path = tmp_path / ("x" * 300 if what.startswith("a path") else "link")
    if what == "a link":
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="nothing was charged"):
        SecretFile(path).read()


def test_a_secret_that_was_read_is_used_though_its_file_does_not_close(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        close_fails(patch, "anonymaly.ask.secret")

    assert neighbours(tmp_path, sabotage).kind == "NoneType"


def test_a_secret_that_is_neither_written_nor_removed_is_a_refusal_and_costs_nothing(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        patch.setattr("anonymaly.ask.secret.os.link", raising(FULL))
        unlink = Path.unlink

        def unlinking(path: Path, missing_ok: bool = False) -> None:
            if "secret" in path.name:
                raise FULL
            unlink(path, missing_ok=missing_ok)

        patch.setattr(Path, "unlink", unlinking)

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.spent, found.states) == ("LedgerError", 0, ())
    assert "nothing was charged" in found.text


def test_threads_that_fail_and_do_not_end_quote_no_row(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        patch.setattr(threads, "worker_threads", lambda: 2)
        shutdown = ThreadPoolExecutor.shutdown

        def ending(self: Any, *arguments: Any, **options: Any) -> None:
            shutdown(self, *arguments, **options)
            raise RuntimeError("cannot end a thread")

        patch.setattr(ThreadPoolExecutor, "shutdown", ending)
        patch.setattr(
            "anonymaly.questions.count.summary.collect",
            lambda *_: threads.in_threads(_quoting(row), [1, 2]),
        )

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.states) == ("AnswerFailed", ("failed",))


def _failing_view(folder: Path, row: str) -> am.Curator:
    """Return a curator of a view that fails on one row, in the engine's own words."""
    folder.mkdir()
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{row}' AS x")
        connection.execute("CREATE VIEW v AS SELECT CAST(x AS DOUBLE) AS x FROM t")
    dataset = am.Dataset(folder / "t.duckdb", table="v", name="t", columns=COLUMNS, rules=RULES)
    return am.Curator(dataset, budget=10, ledger=folder / "t.ledger")


@pytest.mark.parametrize("how", ["template", "import", "interrupt"])
@pytest.mark.parametrize("question", ["one result", "batches"])
def test_a_statement_that_fails_and_cannot_be_described_quotes_no_row(
    tmp_path: Path, question: str, how: str
) -> None:
    asked = {
        "one result": am.Count(where="x > 3", epsilon=1),
        "batches": am.ShareSample(policy="high", columns=["x"], epsilon=1),
    }[question]
    seen = []
    for name, row in (("a", ROW), ("b", NEIGHBOUR)):
        curator = _failing_view(tmp_path / name, row)
        curator.dataset.ready()  # whatever is imported once is imported
        with pytest.MonkeyPatch.context() as patch:
            if how == "template":
                patch.setattr(statements, "statement_template", raising(MemoryError()))
            elif how == "import":
                patch.setattr(statements, "statement_template", _without_sqlglot)
            else:
                patch.setattr(statements, "statement_template", raising(KeyboardInterrupt()))
            with pytest.raises((AnswerFailed, KeyboardInterrupt)) as caught:
                curator.ask(asked)
        assert row not in chain(caught.value)
        seen.append((type(caught.value), str(caught.value)))
        check(curator, "no file is looked through: the table itself lies beside the ledger")
        assert curator.spent == 1
        curator.close()
    assert seen[0] == seen[1]


def _without_sqlglot(expression: Any) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "sqlglot", None)
        return statement_template(expression)


def test_counting_in_another_way_that_fails_too_quotes_no_row(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        def fail(*_: Any) -> Any:
            raise statements.EngineFailure("Error", "SELECT ?") from ValueError(row)

        patch.setattr(summary, "choose_way", lambda *_, **__: "grid")
        patch.setattr(summary, "_by_grid", fail)
        patch.setattr(summary, "_by_stream", fail)

    found = neighbours(tmp_path, sabotage, am.Identify(record={"x": 2.0}, model="rare", epsilon=1))
    assert (found.kind, found.states) == ("AnswerFailed", ("failed",))


def test_a_failure_that_the_ledger_cannot_record_quotes_no_row(tmp_path: Path) -> None:
    def sabotage(patch: pytest.MonkeyPatch, curator: am.Curator, row: str) -> None:
        _stage_quotes(patch, row)
        patch.setattr(curator.accountant.ledger, "fail", raising(LedgerError("is closed")))
        patch.setattr("anonymaly.ask.accountant.logger.error", raising(FULL))

    found = neighbours(tmp_path, sabotage)
    assert (found.kind, found.states) == ("LedgerError", ("reserved",))
