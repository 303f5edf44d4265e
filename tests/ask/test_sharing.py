# SPDX-License-Identifier: Apache-2.0
"""One curator in many threads and across a fork, and one account in many processes."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ibis
import pandas
import pytest
from numba.core.compiler_lock import global_compiler_lock

import anonymaly as am
from anonymaly.core import compiled
from anonymaly.engine.turns import one_at_a_time
from anonymaly.errors import BudgetExceeded, LedgerError
from anonymaly.ledger.anchor import Anchor
from tests.declare.tables import PLACES, arrow, fill_postgres

OpenCurator = Callable[..., am.Curator]
HANGS = 300  # seconds after which a child that waits for ever is killed
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_threads_that_ask_the_same_at_once_pay_once_and_get_the_same_bytes(
    open_curator: OpenCurator,
) -> None:
    curator = open_curator()
    together = threading.Barrier(8)

    def ask(_: int) -> am.Answer:
        together.wait()
        return curator.ask(am.Count(epsilon="0.001"))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert curator.spent == 0.001
    assert sum(answer.charged_nano for answer in answers) == 10**6
    assert len({answer.value for answer in answers}) == 1
    assert all(answer.receipt == answers[0].receipt for answer in answers)
    assert len(list(curator.accountant.store.folder.iterdir())) == 1
    assert curator.accountant.verify().ok


def test_64_threads_on_a_budget_for_10_are_answered_exactly_10_times(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=10)
    together = threading.Barrier(64)

    def ask(number: int) -> am.Answer | None:
        together.wait()
        try:
            return curator.ask(am.Count(epsilon=1), repeat=number)
        except BudgetExceeded:
            return None

    with ThreadPoolExecutor(64) as pool:
        answers = [answer for answer in pool.map(ask, range(64)) if answer is not None]
    assert len({answer.number for answer in answers}) == len(answers) == 10
    assert (curator.spent, curator.remaining) == (10, 0)
    assert curator.accountant.verify().ok


def test_a_curator_closed_while_threads_ask_answers_or_says_that_it_is_closed(
    open_curator: OpenCurator,
) -> None:
    curator = open_curator(budget=100)
    answered = threading.Semaphore(0)
    told: list[tuple[int, am.Answer]] = []

    def ask(thread: int) -> str:
        for number in range(thread * 1000, thread * 1000 + 1000):
            try:
                told.append((number, curator.ask(am.Count(epsilon="0.01"), repeat=number)))
            except LedgerError as problem:
                return str(problem)
            answered.release()
        return "never closed"

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, thread) for thread in range(4)]
        for _ in range(8):
            answered.acquire()
        curator.close()
        assert {item.result() for item in asking} == {"ledger: is closed. Open it again."}
    again = open_curator(budget=None)
    for number, answer in told:
        assert again.ask(am.Count(epsilon="0.01"), repeat=number).receipt == answer.receipt
    charges = again.accountant.ledger.reservations("patients")
    assert round(again.spent * 100) == len(charges) >= len(told)
    assert again.accountant.verify().ok


def in_child(work: Callable[[], Any]) -> Any:
    """Do something in a forked child, and return its result, which is plain data."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(HANGS)
        status = 1
        try:
            os.write(write, json.dumps(work()).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        content = file.read()
    assert os.waitpid(child, 0)[1] == 0, "the child failed, or was killed because it hung"
    return json.loads(content)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["pandas", "csv", "parquet", "duckdb file", "ibis", "postgresql"])
def test_a_forked_child_asks_with_its_parents_curator_and_both_go_on(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if place == "postgresql":
        ledger: Any = request.getfixturevalue("postgres")
        fill_postgres(ledger, arrow())
        source = {"source": ledger, "table": "records"}
    else:
        ledger, source = tmp_path / "t.ledger", dict(PLACES[place](arrow(), tmp_path))
    dataset = am.Dataset(source.pop("source"), name="t", columns={"age": am.Interval(0, 120)}, **source)
    curator = am.Curator(
        dataset, budget=10, ledger=ledger, store=tmp_path / "answers", secret=tmp_path / "t.secret"
    )
    first = curator.ask(am.Count(epsilon=1))

    def ask() -> list[Any]:
        again, new = curator.ask(am.Count(epsilon=1)), curator.ask(am.Count(where="age > 1", epsilon=1))
        return [again.value, again.charged, new.value, new.charged]

    again, charged, new, paid = in_child(ask)
    assert (again, charged, paid) == (first.value, 0, 1)
    stored = curator.ask(am.Count(where="age > 1", epsilon=1))
    assert (stored.value, stored.charged) == (new, 0)
    assert curator.ask(am.Count(where="age > 2", epsilon=1)).charged
    assert curator.spent == 3
    assert curator.accountant.verify().ok


def test_forked_children_and_their_parent_draw_noise_of_their_own(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=100)
    curator.ask(am.Count(epsilon=1))  # whatever is made once is made before the fork
    many = am.Count(where=[f"age > {age}" for age in range(8)], epsilon="0.001")
    drawn = [in_child(lambda repeat=repeat: curator.ask(many, repeat=repeat).value) for repeat in (1, 2)]
    drawn.append(curator.ask(many, repeat=3).value)
    # Eight counts, each equal in two draws by a chance of less than 1 in 4,000: 1e-28 for all eight.
    assert len({json.dumps(list(values)) for values in drawn}) == 3


def _ask_elsewhere(ledger: str) -> tuple[int, int]:
    frame = pandas.DataFrame({"age": [1, 2, 3]})
    dataset = am.Dataset(frame, name="t", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1, ledger=ledger)
    try:
        answer = curator.ask(am.Count(epsilon=1))
        return answer.value, answer.charged
    finally:
        curator.close()


@pytest.mark.slow
def test_spawned_processes_share_an_account(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = pool.map(_ask_elsewhere, [str(tmp_path / "t.ledger")] * 4)
    assert len({value for value, _ in answers}) == 1
    assert sum(charged for _, charged in answers) == 1


def test_a_curator_is_not_pickled_and_says_what_to_do(open_curator: OpenCurator) -> None:
    curator = open_curator()
    with pytest.raises(TypeError, match=r"cannot be pickled. Open the account again .* in each process"):
        pickle.dumps(curator)
    assert copy.copy(curator) is curator
    assert copy.deepcopy(curator) is curator


_forked: list[threading.Event] = []
os.register_at_fork(after_in_parent=lambda: [event.set() for event in _forked])


def _forked_while_a_thread(holds: Any, work: Callable[[], Any]) -> Any:
    """Fork while a thread holds something that it lets go once the fork waits for it, or was made."""
    held, forked, ended = threading.Event(), threading.Event(), threading.Event()
    forking = threading.get_ident()

    def hold() -> None:
        with holds:
            held.set()
            while not forked.is_set():
                waits_at = sys._current_frames()[forking].f_code.co_name
                if waits_at in ("_before_fork", "acquire", "one_at_a_time"):
                    break
            ended.set()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    _forked.append(forked)
    try:
        return in_child(lambda: [ended.is_set(), work()])
    finally:
        _forked.clear()
        forked.set()
        thread.join()


def test_a_fork_waits_for_a_statement_under_way_in_another_thread(open_curator: OpenCurator) -> None:
    curator = open_curator()
    curator.ask(am.Count(epsilon=1))
    waited, charged = _forked_while_a_thread(
        one_at_a_time(), lambda: curator.ask(am.Count(where="age > 3", epsilon=1)).charged
    )
    assert waited
    assert charged == 1


def test_a_fork_waits_for_a_compilation_under_way_in_another_thread() -> None:
    assert compiled.compiled is not None  # imported, as by every question that draws
    lock = global_compiler_lock._lock
    waited, free = _forked_while_a_thread(lock, lambda: lock.acquire(timeout=1))
    assert waited
    assert free


def test_a_fork_waits_for_an_anchor_that_another_thread_writes(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "t.anchor")

    def write() -> bool:
        with anchor._locked():
            return True

    waited, written = _forked_while_a_thread(anchor._locked(), write)
    assert waited
    assert written


@pytest.mark.slow
def test_children_born_while_threads_ask_never_hang(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"age": [number % 100 for number in range(100_000)]})
    table = ibis.duckdb.connect().create_table("t", frame)  # a connection that the children inherit
    dataset = am.Dataset(table, name="t", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1000, ledger=tmp_path / "t.ledger")
    curator.ask(am.Count(epsilon=1))
    stop = threading.Event()

    def keep_asking(thread: int) -> int:
        number = 0
        while not stop.is_set():
            number += 1
            curator.ask(am.Count(where="age > 3", epsilon="0.001"), repeat=1000 * thread + number)
        return number

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(keep_asking, thread) for thread in (1, 2)]
        try:
            for child in range(4):
                ask = am.Count(where=f"age > {child + 10}", epsilon=1)
                assert in_child(lambda ask=ask: curator.ask(ask).charged) == 1
        finally:
            stop.set()
        asked = sum(item.result() for item in asking)
    assert round(curator.spent * 1000) == 1000 + 4000 + asked
    assert curator.accountant.verify().ok
