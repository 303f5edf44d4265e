# SPDX-License-Identifier: Apache-2.0
"""Each handler of the ledger that does work, made to fail while it handles something else."""

from __future__ import annotations

import fcntl
import gc
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from anonymaly.errors import (
    AnonymalyError,
    BudgetExceeded,
    LedgerBehindAnchor,
    LedgerDamaged,
    LedgerError,
    LedgerMissing,
)
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.session import open_sessions
from anonymaly.ledger.sqlite import SqliteBackend
from tests.ask.sabotage import close_fails, raising
from tests.children import born_while_another_opens

BROKEN = OSError(5, "Input/output error")


def nothing_closes(patch: pytest.MonkeyPatch, *, but: int = 0) -> None:
    """Let every engine close its connections and then report an error, after so many went well."""
    dispose = sa.Engine.dispose
    calls = itertools.count()

    def disposing(self: sa.Engine, close: bool = True) -> None:
        dispose(self, close=close)
        if next(calls) >= but:
            raise OperationalError("", None, BROKEN)

    patch.setattr(sa.Engine, "dispose", disposing)


def test_a_damaged_ledger_is_said_to_be_so_though_it_does_not_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "l").write_bytes(b"")
    nothing_closes(monkeypatch)
    with pytest.raises(LedgerDamaged):
        Ledger.open(tmp_path / "l")


def test_a_ledger_behind_its_anchor_is_said_to_be_so_though_it_does_not_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "l", anchor=tmp_path / "a") as ledger:
        ledger.open_account("patients", {}, limit=1, rules={})
    (tmp_path / "a").unlink()
    monkeypatch.setattr(SqliteBackend, "close", raising(BROKEN))
    with pytest.raises(LedgerBehindAnchor):
        Ledger.audit(tmp_path / "l", anchor=tmp_path / "a")
    with pytest.raises(LedgerBehindAnchor):
        Ledger.open(tmp_path / "l", anchor=tmp_path / "a")


def test_a_ledger_that_can_neither_be_made_nor_cleared_away_says_that_it_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_closes(monkeypatch, but=1)  # the journal is folded into the file
    monkeypatch.setattr("anonymaly.ledger.sqlite.os.link", raising(BROKEN))
    monkeypatch.setattr(Path, "unlink", raising(BROKEN))
    with pytest.raises(LedgerError, match="cannot be created"):
        Ledger.open(tmp_path / "l")


def test_a_missing_ledger_in_a_database_is_said_to_be_so_though_nothing_closes(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_closes(monkeypatch)
    with pytest.raises(LedgerMissing):
        Ledger.open(postgres, create=False)


def test_what_is_held_beside_a_connection_is_let_go_though_the_connection_does_not_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    ledger = Ledger.open(tmp_path / "l")
    nothing_closes(monkeypatch)
    monkeypatch.setattr(SqliteBackend, "close", lambda self: closed.append("closed"))
    with pytest.raises(OperationalError):
        ledger.close()
    assert len(closed) == 1
    with pytest.raises(LedgerError, match="is closed"):
        ledger.head()


def test_a_refusal_inside_a_block_is_not_hidden_by_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(tmp_path / "l")
    account = ledger.open_account("patients", {}, limit=1, rules={})
    nothing_closes(monkeypatch)
    with pytest.raises(BudgetExceeded), ledger:
        ledger.reserve(account, analyst="owner", key="q", cost=2, record={})
    assert ledger._session.closed


@pytest.mark.parametrize("problem", [BROKEN, KeyboardInterrupt()])
def test_a_garbage_ledger_that_does_not_close_leaves_its_gate_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    session = Ledger.open(tmp_path / "l")._session  # the ledger itself is garbage at once
    session._closed = False
    nothing_closes(monkeypatch)
    monkeypatch.setattr(SqliteBackend, "close", raising(problem))
    with suppress(KeyboardInterrupt):
        session.drop()
    assert session.closed
    assert not session._gate.locked()


@pytest.mark.parametrize("times", [1, 3])
def test_a_transaction_that_cannot_be_rolled_back_leaves_nothing_of_it(
    ledger: Ledger, account: Account, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.reserve(account, analyst="owner", key="before", cost=1, record={})
    dialect = ledger._session._engine.dialect
    rollback: Callable[[Any], None] = dialect.do_rollback
    failures = [OperationalError("ROLLBACK", None, BROKEN)] * times

    def rolling_back(connection: Any) -> None:
        if failures:
            raise failures.pop()
        rollback(connection)

    monkeypatch.setattr(dialect, "do_rollback", rolling_back)
    with pytest.raises(AnonymalyError) as caught:
        ledger.reserve(account, analyst="owner", key="dear", cost=2 * account.limit, record={})
    assert isinstance(caught.value, BudgetExceeded | LedgerError)
    monkeypatch.undo()
    assert ledger.find(account, "dear") is None
    assert ledger.reserve(account, analyst="owner", key="after", cost=1, record={}).charged
    assert ledger.account("patients").spent == 2
    assert ledger.verify().ok


def test_an_anchor_whose_lock_does_not_close_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "l", anchor=tmp_path / "a") as ledger:
        account = ledger.open_account("patients", {}, limit=10, rules={})
        with monkeypatch.context() as patch:
            close_fails(patch, "anonymaly.ledger.anchor")
            ledger.reserve(account, analyst="owner", key="q", cost=1, record={})
        (tmp_path / "a").write_text("no anchor")
        with monkeypatch.context() as patch:
            close_fails(patch, "anonymaly.ledger.anchor")
            with pytest.raises(LedgerBehindAnchor):  # and not that the anchor cannot be written
                ledger._session.anchor.advance(_later(ledger))  # type: ignore[union-attr]


def test_an_anchor_whose_lock_is_not_let_go_is_written_and_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def fails(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_UN:
            raise OSError(5, "Input/output error")
        lock(descriptor, operation)

    with Ledger.open(tmp_path / "l", anchor=tmp_path / "a") as ledger:
        account = ledger.open_account("patients", {}, limit=10, rules={})
        with monkeypatch.context() as patch:
            patch.setattr("fcntl.flock", fails)
            ledger.reserve(account, analyst="owner", key="q", cost=1, record={})
        with open(tmp_path / "a.lock", "rb") as other:
            lock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _later(ledger: Ledger) -> Any:
    from dataclasses import replace

    from anonymaly.ledger.anchor import Anchored

    head = ledger.head()
    return Anchored(replace(head, seq=head.seq + 1))


def test_garbage_found_inside_a_transaction_does_not_wait_for_a_fork(tmp_path: Path) -> None:
    """Another ledger is found to be garbage in the middle of a transaction, while a fork holds its gate."""
    ledger, garbage = Ledger.open(tmp_path / "a"), Ledger.open(tmp_path / "b")
    held = garbage._session
    held.before_fork()  # as a fork does, before it waits for the other ledger's transaction to end
    holder: list[Any] = [garbage]
    del garbage
    done = threading.Event()

    def work(_: Any) -> None:
        holder.clear()
        gc.collect()
        done.set()

    thread = threading.Thread(target=lambda: ledger._session.read(work), daemon=True)
    thread.start()
    waited = done.wait(60)
    held.after_fork()
    thread.join()
    ledger.close()
    assert waited, "the transaction waits for the fork, which waits for the transaction"
    assert held.closed


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_ledger_opened_while_a_fork_waits_for_another_is_not_inherited_shut(tmp_path: Path) -> None:
    @contextmanager
    def in_transaction(ledger: Ledger) -> Iterator[None]:
        with ledger, ledger._session._gate:
            yield

    def free() -> bool:
        return all(known._gate.acquire(timeout=1) for known in open_sessions())

    ledger = Ledger.open(tmp_path / "a")
    assert born_while_another_opens(
        in_transaction(ledger), lambda: in_transaction(Ledger.open(tmp_path / "b")), free
    )
