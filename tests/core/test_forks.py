# SPDX-License-Identifier: Apache-2.0
"""A fork takes what it waits for in one order, and lets go exactly what it took."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import ibis
import pytest

from anonymaly.core import compiled, forks
from anonymaly.core.forks import ORDER, Place, at_fork
from anonymaly.engine.turns import one_at_a_time, take_turn
from anonymaly.ledger import anchor
from anonymaly.ledger.session import open_sessions
from anonymaly.stream import Sensor
from tests.children import in_child
from tests.stream.protocol.parties import ROOM

HANGS = 60  # seconds after which a child that waits for ever is killed


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was called, of hooks that were registered in the opposite order."""
    monkeypatch.setattr(forks, "_hooks", {})
    found: list[str] = []
    for place in reversed(ORDER):
        _register(place, found)
    return found


def _register(place: Place, found: list[str]) -> None:
    at_fork(
        place,
        before=lambda: found.append(f"before {place}"),
        in_parent=lambda: found.append(f"parent {place}"),
        in_child=lambda: found.append(f"child {place}"),
    )


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_order_is_the_same_whoever_was_imported_first(called: list[str]) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, ",".join(called).encode())
        os._exit(0)
    os.waitpid(child, 0)
    before = [f"before {place}" for place in ORDER]
    assert os.read(read, 10_000).decode().split(",") == before + [f"child {place}" for place in ORDER[::-1]]
    assert called == before + [f"parent {place}" for place in ORDER[::-1]]


def test_what_is_registered_in_the_middle_of_a_fork_is_not_let_go(called: list[str]) -> None:
    del forks._hooks["journal"]
    forks._before()
    _register("journal", called)
    forks._in_parent()
    assert "parent journal" not in called


def test_two_threads_that_fork_wait_for_each_other(called: list[str]) -> None:
    forks._before()
    other = threading.Thread(target=lambda: (forks._before(), forks._in_parent()))
    other.start()
    forks._in_parent()
    other.join()
    once = [f"before {place}" for place in ORDER] + [f"parent {place}" for place in ORDER[::-1]]
    assert called == once * 2


@contextmanager
def a_thread_in(*blocks: Any) -> Iterator[threading.Event]:
    """Let a thread be in some blocks until it is told to leave them."""
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            held.set()
            leave.wait(HANGS)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        yield leave
    finally:
        leave.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_an_interrupt_while_a_fork_waits_is_raised_when_it_is_over_and_the_child_is_free() -> None:
    noted = len(forks._signals._noted)
    with a_thread_in(one_at_a_time()) as leave:
        forking = threading.current_thread()

        def interrupt() -> None:
            while sys._current_frames()[forking.ident or 0].f_code.co_name != "one_at_a_time":
                pass
            os.kill(os.getpid(), signal.SIGINT)
            while len(forks._signals._noted) == noted:
                pass
            leave.set()

        threading.Thread(target=interrupt, daemon=True).start()
        born: list[int] = []

        def fork() -> None:
            born.append(os.fork())
            if born == [0]:
                os._exit(0 if not take_turn()[0].locked() else 1)  # type: ignore[attr-defined]
            threading.Event().wait(HANGS)  # until it is interrupted

        with pytest.raises(KeyboardInterrupt):
            fork()
    assert os.waitpid(born[0], 0)[1] == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupt_is_heard_after_two_threads_forked_at_once() -> None:
    # Not by os.fork: where concurrent.futures came later, the second thread would wait for its lock instead.
    def fork() -> None:
        forks._before()
        forks._in_parent()

    def is_waiting(thread: threading.Thread, function: str) -> bool:
        return sys._current_frames()[thread.ident or 0].f_code.co_name == function

    with a_thread_in(one_at_a_time()) as leave:
        other = threading.Thread(target=fork, daemon=True)
        other.start()
        while not is_waiting(other, "one_at_a_time"):
            pass
        main = threading.current_thread()

        def let_go() -> None:
            while not is_waiting(main, "_before"):
                pass
            leave.set()

        threading.Thread(target=let_go, daemon=True).start()
        fork()
        other.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert forks._taken == []


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_all_locks_of_a_child_are_free_though_nothing_was_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(forks._hooks, "table", forks._hooks["table"]._replace(before=_no_memory))
    paths = {"journal": tmp_path / "j", "ledger": tmp_path / "l"}
    with Sensor("room-1", ROOM, budget=10, **paths) as sensor:  # type: ignore[arg-type]
        journal, session = sensor._journal, sensor._ledger._session
        compiler = compiled._LOCK
        blocks = (one_at_a_time(), compiler._lock, session._gate, anchor._one_writer, journal._lock)
        with a_thread_in(*blocks):
            child = os.fork()
            if child == 0:
                locks = [compiler._lock, session._gate, anchor._one_writer, journal._lock, take_turn()[0]]
                locks += [known._gate for known in open_sessions() if known is not session]
                os._exit(sum(not lock.acquire(timeout=1) for lock in locks))
            assert os.waitpid(child, 0)[1] == 0
        assert sensor.accepted == 0  # the parent goes on


def _no_memory() -> None:
    raise MemoryError


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_does_not_close_the_engine_that_its_parent_left_to_the_collector() -> None:
    connection = ibis.duckdb.connect(threads=4)
    connection.raw_sql("CREATE TABLE t AS SELECT range AS i FROM range(1000000)")
    connection.raw_sql("SELECT sum(i % 7) FROM t").fetchall()  # starts its threads
    gc.disable()
    try:
        ring: list[Any] = [connection]
        ring.append(ring)
        del ring, connection
        assert in_child(gc.collect)
    finally:
        gc.enable()
