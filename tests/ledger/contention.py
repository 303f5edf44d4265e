# SPDX-License-Identifier: Apache-2.0
"""Many processes that ask at the same instant; used by the tests to try the ledger and a faulty imitation."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa

from anonymaly import Curator
from anonymaly.core.epsilon import to_nano
from anonymaly.errors import BudgetExceeded
from anonymaly.ledger import Ledger
from anonymaly.questions.count.query import Count
from tests.ledger.intruder import raw_engine

COST = 1
AFFORDABLE = 10
BARRIER_SECONDS = 120


class Contender(Protocol):
    """Something that charges budgets; each process has its own."""

    def __init__(self, location: str, barrier: Barrier) -> None: ...

    def ask(self, run: int, process: int) -> bool:
        """Ask one question of run ``run`` and say whether it was charged."""


class WithCurator:
    """The real thing: a curator for each run, and a question that nobody else asks."""

    def __init__(self, location: str, barrier: Barrier) -> None:
        self._location = location
        self._store = Path(tempfile.gettempdir() if "://" in location else location).with_name("answers")
        self._barrier = barrier

    def ask(self, run: int, process: int) -> bool:
        example = Count.example()
        dataset = example.dataset(name=f"run{run}")
        self._barrier.wait(
            BARRIER_SECONDS
        )  # so that in the first run all open a ledger that is not there yet
        curator = Curator(
            dataset,
            budget=AFFORDABLE * COST,
            ledger=self._location,
            store=self._store,
            secret=self._store / "secret",
        )
        self._barrier.wait(BARRIER_SECONDS)
        try:
            answer = curator.ask(Count(epsilon=COST), analyst=f"analyst{process}", repeat=process)
        except BudgetExceeded:
            return False
        finally:
            curator.close()
        return answer.charged_nano == to_nano(COST)


class CheckThenCharge:
    """The mutant: reads what remains, then charges unconditionally, on a table without constraints."""

    def __init__(self, location: str, barrier: Barrier) -> None:
        self._engine = raw_engine(location)
        self._barrier = barrier

    def ask(self, run: int, process: int) -> bool:
        with self._engine.connect() as connection:
            remaining = connection.execute(sa.text("SELECT budget - spent FROM mutant")).scalar_one()
        # The interleaving that chance brings sooner or later.
        self._barrier.wait(BARRIER_SECONDS)
        if remaining < COST:
            return False
        with self._engine.begin() as connection:
            connection.execute(sa.text(f"UPDATE mutant SET spent = spent + {COST}"))
        return True


CONTENDERS: dict[str, type[Contender]] = {"curator": WithCurator, "mutant": CheckThenCharge}


def _work(
    kind: str, location: str, barrier: Barrier, *, process: int, runs: int, results: Connection
) -> None:
    contender = CONTENDERS[kind](location, barrier)
    results.send([contender.ask(run, process) for run in range(runs)])
    results.close()


def charged_per_run(kind: str, location: str, *, processes: int, runs: int) -> list[int]:
    """Start the processes once, let them ask together in every run, and count who was charged."""
    counts: Counter[int] = Counter()
    for charged in _all(_work, (kind, location), processes, {"runs": runs}):
        counts.update(run for run, was in enumerate(charged) if was)
    return [counts[run] for run in range(runs)]


def at_once(work: Callable[[Ledger, int], bool], location: str, *, processes: int) -> list[bool]:
    """Let each process do something once with a ledger that it opened, all at the same instant."""
    return _all(_work_with_ledger, (work, location), processes, {})


def _work_with_ledger(
    work: Callable[[Ledger, int], bool],
    location: str,
    barrier: Barrier,
    *,
    process: int,
    results: Connection,
) -> None:
    with Ledger.open(location) as ledger:
        barrier.wait(BARRIER_SECONDS)
        results.send(work(ledger, process))
    results.close()


def _all(
    target: Callable[..., None], given: tuple[Any, ...], processes: int, named: dict[str, Any]
) -> list[Any]:
    """Start processes that share a barrier, and return what each of them sent."""
    context = multiprocessing.get_context("forkserver")
    # Imported once in the server, inherited by every process it forks.
    context.set_forkserver_preload(["tests.warm"])
    barrier = context.Barrier(processes)
    children = []
    for process in range(processes):
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(
            target=target, args=(*given, barrier), kwargs={**named, "process": process, "results": sending}
        )
        child.start()
        sending.close()
        children.append((child, receiving))
    found = []
    for child, receiving in children:
        found.append(receiving.recv())
        child.join()
    return found
