# SPDX-License-Identifier: Apache-2.0
"""Jobs: a web process adds one, a worker claims and ends it, and nothing about it is ever taken back.

waiting → running → done, refused or failed. A job whose worker has gone is claimed again, once; whoever
claims it after that fails it (``Job.given_up``). What is asked is removed when a job ends.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.server.keys import sign
from anonymaly.server.slots import SHORTEST
from anonymaly.server.state import LOOKED_AT, State, jobs

Kind = Literal[
    "ask",
    "rehearse",
    "grant",
    "revoke",
    "raise",
    "pause",
    "resume",
    "amend",
    "key",
    "revoke-key",
    "login",
    "log-out",
]
Ended = Literal["done", "refused", "failed"]
# What others than owners may have done; when one of these is claimed tells nothing of a question before it.
ANYBODYS: tuple[Kind, ...] = ("ask", "rehearse", "login", "log-out")
ENDED: tuple[Ended, ...] = ("done", "refused", "failed")
MOST_ATTEMPTS = 2
LOST_AFTER_SECONDS = 10.0  # without a word from the worker that claimed it; workers say one every 2 s
_ID = re.compile(r"[0-9a-f]{32}")
# After which any worker takes a job that waits for a table whose workers have gone, to fail it.
ABANDONED_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands."""

    id: str
    kind: str
    table_name: str | None
    person: str
    key_id: str
    idempotency: str | None
    request: str | None
    asks: str
    slot: float
    state: str
    attempts: int
    claimed_by: str | None
    claimed_at: float | None
    created_at: float
    ended_at: float | None
    result: str | None = None
    payload: str | None = None  # what it asks, until it ends; like the proof, for workers alone
    proof: str = ""

    @property
    def signed(self) -> dict[str, Any]:
        """What the holder of the key signed."""
        return signed(self.id, self.kind, self.table_name, self.person, self.idempotency, self.payload)

    @property
    def name(self) -> str:
        """The id as it may be the name of a file, or in a log: a web process may have written anything."""
        return self.id if _ID.fullmatch(self.id) else ""

    @property
    def given_up(self) -> bool:
        """Whether so many workers were lost with it that it is only to be failed."""
        return self.attempts > MOST_ATTEMPTS

    @property
    def asked(self) -> dict[str, Any]:
        """The payload, while there is one."""
        content: dict[str, Any] = json.loads(self.payload or "{}")
        return content


def signed(
    number: str, kind: str, table: str | None, person: str, idempotency: str | None, payload: str | None
) -> dict[str, Any]:
    """Return what is signed of a job."""
    return {
        "id": number,
        "kind": kind,
        "table": table,
        "person": person,
        "idempotency": idempotency,
        "payload": payload,
    }


def submit(
    state: State,
    kind: Kind,
    *,
    table: str | None,
    person: str,
    key_id: str,
    signing: bytes,
    payload: Mapping[str, Any],
    asks: str = "",
    slot: float = SHORTEST,
    idempotency: str | None = None,
    request: str | None = None,
) -> Job:
    """Add a job, or return the one that the same person added under the same idempotency key.

    Whether that one is for the same request is for the caller to compare (``request``).
    """
    number, text = uuid.uuid4().hex, canonical_json(payload)
    proof = sign(signing, signed(number, kind, table, person, idempotency, text))
    row = {
        "id": number,
        "kind": kind,
        "table_name": table,
        "person": person,
        "key_id": key_id,
        "idempotency": idempotency,
        "request": request,
        "payload": text,
        "proof": proof,
        "asks": asks,
        "slot": slot,
        "created_at": state.now,
    }
    try:
        with state.write() as connection:
            connection.execute(jobs.insert().values(row))
    except sa.exc.IntegrityError:
        found = find_same(state, person, idempotency)
        if found is None:
            raise
        return found
    with state.read() as connection:
        return Job(**connection.execute(sa.select(*LOOKED_AT).where(jobs.c.id == number)).one()._mapping)


def find(state: State, number: str) -> Job | None:
    """Return a job by its id, with what it asks; for workers."""
    with state.read() as connection:
        row = connection.execute(sa.select(jobs).where(jobs.c.id == number)).first()
    return None if row is None else Job(**row._mapping)


def find_same(state: State, person: str, idempotency: str | None) -> Job | None:
    """Return the job that a person added under an idempotency key."""
    if idempotency is None:
        return None
    with state.read() as connection:
        of = sa.select(*LOOKED_AT).where(jobs.c.person == person, jobs.c.idempotency == idempotency)
        row = connection.execute(of).first()
    return None if row is None else Job(**row._mapping)


def unended(state: State, person: str | None = None) -> int:
    """Return how many jobs, of a person or of all, have not ended."""
    of = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.state.in_(("waiting", "running")))
    with state.read() as connection:
        query = of if person is None else of.where(jobs.c.person == person)
        return int(connection.execute(query).scalar_one())


def claim(state: State, worker: str, tables: list[str], *, owners: bool = False) -> Job | None:
    """Claim the oldest job of these tables, or of none, that waits or whose worker has gone.

    ``owners`` leaves out what analysts may have done.
    """
    since = jobs.c.claimed_at < state.now - LOST_AFTER_SECONDS
    free = sa.or_(jobs.c.state == "waiting", sa.and_(jobs.c.state == "running", since))
    nobodys = jobs.c.created_at < state.now - ABANDONED_SECONDS
    ours = sa.or_(jobs.c.table_name.is_(None), jobs.c.table_name.in_(tables), nobodys)
    which = (ours, free, jobs.c.kind.not_in(ANYBODYS)) if owners else (ours, free)
    oldest = sa.select(jobs.c.id).where(*which).order_by(jobs.c.created_at).limit(1)
    with state.read() as connection:
        # First without a lock: most of the time there is nothing to do.
        if connection.execute(oldest).first() is None:
            return None
    with state.write() as connection:
        number = connection.execute(oldest.with_for_update(skip_locked=True)).scalar()
        if number is None:
            return None
        mine = {"state": "running", "claimed_by": worker, "claimed_at": state.now}
        connection.execute(
            jobs.update().where(jobs.c.id == number).values(attempts=jobs.c.attempts + 1, **mine)
        )
        row = connection.execute(sa.select(jobs).where(jobs.c.id == number)).one()
    return Job(**row._mapping)


def keep_claim(state: State, number: str, worker: str) -> bool:
    """Say that a worker is still at it; False if the job was taken from it."""
    with state.write() as connection:
        return connection.execute(_mine(number, worker).values(claimed_at=state.now)).rowcount == 1


def let_go(state: State, worker: str) -> int:
    """Let others claim at once what a worker that has ended was at; return how many jobs that were."""
    of = jobs.update().where(jobs.c.state == "running", jobs.c.claimed_by == worker)
    with state.write() as connection:
        return connection.execute(of.values(claimed_at=0.0)).rowcount


def give_up(state: State, number: str, worker: str) -> bool:
    """Have the next claim fail a job instead of doing it again; by a worker that ends itself."""
    with state.write() as connection:
        of = _mine(number, worker).values(attempts=MOST_ATTEMPTS, claimed_at=0.0)
        return connection.execute(of).rowcount == 1


Result = Mapping[str, Any] | Callable[[sa.Connection], Mapping[str, Any]]


def end(
    state: State, job: Job, worker: str, ended: Ended, result: Result, *, at: float | None = None
) -> bool:
    """End a job, now or at a moment to come; False if another worker has it, or ended it, by now.

    A result that is a function is called in the transaction that ends the job: what it writes is written
    once, however many workers believe that the job is theirs.
    """
    # Without the proof: whoever has what keys sign with could try questions against it.
    done = {"state": ended, "payload": None, "proof": "", "ended_at": state.now if at is None else at}
    with state.write() as connection:
        if connection.execute(_mine(job.id, worker).values(claimed_at=state.now)).rowcount != 1:
            return False
        found = result(connection) if callable(result) else result
        of = _mine(job.id, worker).values(**done, result=canonical_json(found))
        return connection.execute(of).rowcount == 1


def _mine(number: str, worker: str) -> sa.Update:
    return jobs.update().where(jobs.c.id == number, jobs.c.state == "running", jobs.c.claimed_by == worker)
