# SPDX-License-Identifier: Apache-2.0
"""One thread at a time uses the engine, and whoever ends a statement ends its turn."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import ibis
import ibis.expr.types as ir
import pytest

from anonymaly.engine.statements import EngineFailure, collect, collect_batches
from anonymaly.engine.turns import one_at_a_time, take_turn

HANGS = 20  # seconds after which a thread that waits is taken to wait for ever


@pytest.fixture
def table() -> ir.Table:
    return ibis.duckdb.connect().sql("SELECT range AS x FROM range(100000)")


def in_thread(work: Callable[[], object]) -> bool:
    """Do something in another thread; say whether it came to its end."""
    done = threading.Event()
    threading.Thread(target=lambda: (work(), done.set()), daemon=True).start()
    return done.wait(HANGS)


def a_turn() -> None:
    with one_at_a_time():
        pass


def others_would_wait() -> bool:
    """Say whether another thread would have to wait for its turn."""
    found: list[bool] = []
    in_thread(lambda: found.append(take_turn()[0].locked()))  # type: ignore[attr-defined]
    return found == [True]


@pytest.mark.parametrize("cyclic", [False, True], ids=["dropped", "found to be garbage"])
def test_a_statement_half_read_that_another_thread_drops_lets_others_use_the_engine(
    table: ir.Table, cyclic: bool
) -> None:
    batches = collect_batches(table, 1000)
    next(batches)
    holder: list[Any] = [batches]
    if cyclic:
        holder.append(holder)
    owner = [holder]
    del batches, holder

    def drop() -> None:
        owner.clear()
        gc.collect()

    assert in_thread(drop)
    assert in_thread(lambda: collect(table.count()))


def test_a_thread_that_reads_a_statement_may_begin_another_and_others_wait(table: ir.Table) -> None:
    batches = collect_batches(table, 1000)
    next(batches)
    assert collect(table.count())[0][0].as_py() == 100_000
    with one_at_a_time(), one_at_a_time():
        pass
    assert others_would_wait()  # the ends of the inner ones did not end the outer turn
    batches.close()
    assert not others_would_wait()
    assert in_thread(a_turn)


def test_a_statement_that_failed_ends_its_turn(table: ir.Table) -> None:
    failing = table.mutate(x=ibis.literal("no number").cast("int64") + table.x)
    for run in (collect, lambda expression: list(collect_batches(expression, 10))):
        with pytest.raises(EngineFailure):
            run(failing)
        taken, done = threading.Event(), threading.Event()

        def hold(taken: threading.Event = taken, done: threading.Event = done) -> None:
            with one_at_a_time():
                taken.set()
                done.wait(HANGS)

        thread = threading.Thread(target=hold)
        thread.start()
        assert taken.wait(HANGS)
        assert take_turn()[0].locked()  # type: ignore[attr-defined]  # this thread would wait for that one
        done.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_thread_forks_in_the_middle_of_its_own_statement_and_both_go_on(table: ir.Table) -> None:
    batches = collect_batches(table, 1000)
    next(batches)
    child = os.fork()
    if child == 0:
        signal.alarm(HANGS)
        with one_at_a_time():
            del batches  # which was begun in the parent's turn, and not in the child's
            os._exit(0 if others_would_wait() else 1)
    assert os.waitpid(child, 0)[1] == 0
    batches.close()
    assert in_thread(a_turn)
