# SPDX-License-Identifier: Apache-2.0
"""A worker: claims one job after the other, checks its proof, carries it out, and ends it.

It alone holds rows, secrets, stores and ledgers that can be written. Beside the job a second thread says
every two seconds that the worker is still at it, and ends the process when the job takes too long.
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
import time
from fractions import Fraction
from pathlib import Path

import sqlalchemy as sa

from anonymaly.ask import catalogue
from anonymaly.errors import AnonymalyError
from anonymaly.noise import Noise
from anonymaly.server import jobs
from anonymaly.server.carrying_out import FAILED, Hands, JobOutcome, refused
from anonymaly.server.held import HeldTable, find_manifests
from anonymaly.server.jobs import Job
from anonymaly.server.once import forget_old, forget_taken
from anonymaly.server.outbox import AnswerOutbox
from anonymaly.server.publish import Publisher
from anonymaly.server.settings import WorkerSettings
from anonymaly.server.slots import busy_seconds
from anonymaly.server.state import State

POLL_SECONDS = 0.025
BEAT_SECONDS = 2.0
KEY_SHOWN_SECONDS = 60.0
TOO_LONG = 75  # the exit code of a worker that ended itself
logger = logging.getLogger(__name__)


class Worker:
    """One process's work; ``stop`` lets it end after the job that it is at."""

    def __init__(self, settings: WorkerSettings, name: str) -> None:
        self.name = name
        self._seconds = float(settings.seconds)
        self._state = State.open(settings.state)
        self._tables = {
            manifest.name: HeldTable(
                path, manifest, {**settings.slots, **settings.slots_of.get(manifest.name, {})}
            )
            for path, manifest in find_manifests(Path(settings.folder)).items()
        }
        outbox = AnswerOutbox(Path(settings.outbox))
        self._hands = Hands(self._state, self._tables, outbox, confirm=settings.confirm)
        self._publisher = Publisher(self._state, self._tables)
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._at: tuple[str, float] | None = None  # the job's id, and when it began
        self._resting = False
        warm_up()
        limit_memory(settings.memory)

    def stop(self) -> None:
        """Let the worker end after the job that it is at."""
        self._stopping.set()

    def run(self) -> None:
        """Work until stopped."""
        beat = threading.Thread(target=self._beat, name="beat", daemon=True)
        beat.start()
        try:
            while not self._stopping.is_set():
                try:
                    self._publisher.check_if_due()
                    worked = self.work()
                except sa.exc.OperationalError as problem:  # the shared database is away for a while
                    logger.error("the shared tables cannot be used: %s", type(problem.orig).__name__)
                    worked = False
                    self._stopping.wait(1.0)
                if not worked:
                    self._stopping.wait(POLL_SECONDS)
        finally:
            self._over.set()
            beat.join()
            self.close()

    def check(self) -> None:
        """See which tables can be read, and publish them, now."""
        self._publisher.check_if_due(now=True)

    def close(self) -> None:
        """Close all accounts and the shared tables."""
        for table in self._tables.values():
            table.close()
        self._state.forget()
        self._state.close()

    def work(self) -> bool:
        """Carry out one job; False if there was none."""
        return self._work()

    def _work(self, *, owners: bool = False) -> bool:
        job = jobs.claim(self._state, self.name, list(self._tables), owners=owners)
        if job is None:
            return False
        began = time.monotonic()
        self._at = (job.id, began)
        try:
            outcome = self._hands.carry_out(job)
            busy = self._busy(job, outcome, time.monotonic() - began)
            # Not when it ended, and not by this machine's clock: at the end of the time that it is given.
            self._end(job, outcome, None if busy is None else (job.claimed_at or 0.0) + busy)
        finally:
            self._at = None
        if busy is not None:
            self._rest(began + busy - time.monotonic())
        if job.kind in ("pause", "resume"):
            self.check()
        return True

    def _rest(self, seconds: float) -> None:
        """Take no job of an analyst for so long; the tables are as ready as while one is carried out."""
        until = time.monotonic() + seconds
        self._resting = True
        try:
            while (left := until - time.monotonic()) > 0 and not self._stopping.is_set():
                # A pause or a revocation does not wait: owners may know how long questions take.
                if not self._work(owners=True):
                    self._stopping.wait(min(left, POLL_SECONDS))
        finally:
            self._resting = False

    def _busy(self, job: Job, outcome: JobOutcome, took: float) -> float | None:
        """Return how long the worker is at a question; None if how long it took depends on no row."""
        if job.kind != "ask" or outcome.ended == "refused":
            return None
        return busy_seconds(self._hands.slot(job), min(took + outcome.recalled, self._seconds))

    def _end(self, job: Job, outcome: JobOutcome, at: float | None) -> None:
        try:
            ended = jobs.end(self._state, job, self.name, outcome.ended, outcome.result, at=at)
        except AnonymalyError as problem:  # of what was to be written with the end
            outcome = refused(problem)
            ended = jobs.end(self._state, job, self.name, outcome.ended, outcome.result)
        except sa.exc.IntegrityError:
            outcome = FAILED
            ended = jobs.end(self._state, job, self.name, outcome.ended, outcome.result, at=at)
        # Never a value, a field of a question, or what a web process that was broken into wrote.
        said = outcome.ended if ended else "taken over by another worker"
        entry = "" if outcome.entry is None else f", entry {outcome.entry}"
        logger.info("job %s: %s%s", job.name, said, entry)

    def _beat(self) -> None:
        """Say that the worker is at it, until the job takes too long."""
        forgot = time.monotonic()
        while not self._over.wait(self._until_next()):
            at = self._at
            if at is not None and time.monotonic() - at[1] >= self._seconds:
                self._end_myself(at[0])
            try:
                if at is not None:
                    jobs.keep_claim(self._state, at[0], self.name)
                self._publisher.renew(busy=at is not None or self._resting)
                forget_taken(self._state)
                if time.monotonic() - forgot > KEY_SHOWN_SECONDS / 2:
                    forget_old(self._state, KEY_SHOWN_SECONDS)
                    self._state.forget()
                    forgot = time.monotonic()
            except Exception as problem:  # also want of memory: the next beat may come through
                logger.error("the shared tables cannot be used: %s", type(problem).__name__)

    def _until_next(self) -> float:
        at = self._at
        left = BEAT_SECONDS if at is None else at[1] + self._seconds - time.monotonic()
        return max(0.0, min(BEAT_SECONDS, left))

    def _end_myself(self, job: str) -> None:
        """End a process whose job takes too long: nothing else stops an engine or compiled code."""
        logger.error("job %s took more than %g seconds", job, self._seconds)
        try:
            jobs.give_up(self._state, job, self.name)
        finally:
            # Not by an exception: it would wait for the engine, and for threads.
            os._exit(TOO_LONG)


def warm_up() -> None:
    """Load what answers need, so that the first one takes no longer than the others."""
    Noise.system().two_sided_geometric(Fraction(1, 2))  # compiled code
    for home in catalogue.QUESTIONS.values():
        folder = home.partition(":")[0].rpartition(".")[0]
        for part in ("query", "binding", "summary", "mechanism", "value"):
            importlib.import_module(f"{folder}.{part}")


def limit_memory(most: int | None) -> None:
    """Have the system refuse this process more memory than that: whatever asked for it fails."""
    try:
        import resource  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return
    if most is not None:
        # Of what the process may write to; addresses that it only reserves cost nothing.
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
