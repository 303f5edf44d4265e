# SPDX-License-Identifier: Apache-2.0
"""How long a worker is at a question: nobody who waits behind it learns how long it took."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pytest

from anonymaly.ask.binding import Binding
from anonymaly.server.carrying_out import JobOutcome
from anonymaly.server.jobs import Job
from anonymaly.server.published import find_table
from anonymaly.server.worker import Worker
from tests.server.places import NANO, Place

SLOT = 0.4
CLOCK = 0.002  # SQLite's clock counts thousandths


def watched(worker: Worker) -> list[Job]:
    """Note each job as it was claimed."""
    claimed: list[Job] = []
    carry_out = worker._hands.carry_out

    def note(job: Job) -> JobOutcome:
        claimed.append(job)
        return carry_out(job)

    worker._hands.carry_out = note  # type: ignore[method-assign]
    return claimed


class Slow:
    """Draws that take as long as those of a large table."""

    def __init__(self, real: Any, seconds: float) -> None:
        self._real = real
        self._seconds = seconds

    def ready(self, bound: Binding) -> Callable[[BinaryIO], Any]:
        draw = self._real.ready(bound)

        def slowly(file: BinaryIO) -> Any:
            time.sleep(self._seconds)  # the work itself
            return draw(file)

        return slowly


def busy(place: Place, job: Job) -> float:
    ended, began = place.job(job.id).ended_at, job.claimed_at
    assert ended is not None
    assert began is not None
    return ended - began


def test_the_next_job_begins_at_a_public_moment_and_not_when_the_last_question_ended(here: Place) -> None:
    with here.worker(slots={"count": SLOT}) as worker:
        here.grant("ann")
        worker.work()
        claimed = watched(worker)
        here.ask("ann")
        query = {"query": {"question": "count", "epsilon": "0.1"}}
        here.submit("rehearse", "ann", query)
        worker.work()
        worker.work()
    first, second = claimed
    halves = math.log2(busy(here, first) / (SLOT / 2))
    assert halves >= 0
    assert halves == pytest.approx(round(halves), abs=1e-4)
    ended = here.job(first.id).ended_at
    assert ended is not None
    assert second.claimed_at is not None
    assert second.claimed_at >= ended - CLOCK


def test_what_another_asked_before_takes_as_long_as_it_took_them(here: Place) -> None:
    here.add_key("bob", "analyst")
    with here.worker(slots={"count": 0.1}) as worker:
        for person in ("ann", "bob"):
            here.grant(person, NANO)
            worker.work()
        curator = worker._tables["patients"].curator
        curator.__dict__["_source"] = Slow(curator._source, 0.7)
        claimed = watched(worker)
        for person in ("ann", "bob"):
            here.ask(person)
            worker.work()
    first, later = (busy(here, job) for job in claimed)
    assert first > 0.7
    assert later > 0.7


@contextmanager
def resting(place: Place) -> Iterator[Worker]:
    """A worker that has just answered a question, and takes no other for half a day."""
    worker = Worker(place.worker_settings(slots={"count": 86_400.0}), "one")
    working = threading.Thread(target=worker.run)
    place.grant("ann")
    asked = place.ask("ann")
    working.start()
    try:
        place.ended(asked)
        yield worker
    finally:
        worker.stop()
        working.join()


def test_a_table_stays_ready_while_its_worker_takes_no_other_question(here: Place) -> None:
    with resting(here) as worker:
        worker._publisher._checked = time.monotonic() - 3600  # and so it would be in half a day
        worker._publisher.withdraw("patients")
        until = time.monotonic() + 60
        while not (ready := _is_ready(here)) and time.monotonic() < until:
            time.sleep(0.1)
        assert ready


def test_what_an_owner_wants_done_does_not_wait_for_a_slot(here: Place) -> None:
    with resting(here):
        behind = here.ask("ann", "0.2")
        paused = here.submit("pause", "olga", {"reason": "a leak"})
        assert here.ended(paused)[0].state == "done"
        assert here.job(behind.id).state == "waiting"


def _is_ready(place: Place) -> bool:
    found = find_table(place.state, "patients")
    return found is not None and found.ready


def test_a_web_process_does_not_decide_how_long_a_worker_is_busy(here: Place) -> None:
    with here.worker(slots={"count": 0.1}) as worker:
        here.grant("ann")
        worker.work()
        claimed = watched(worker)
        query = {"query": {"question": "count", "epsilon": "0.1"}, "repeat": 0}
        here.submit("ask", "ann", query, slot=86_400.0)
        worker.work()
    assert busy(here, claimed[0]) < 3600
