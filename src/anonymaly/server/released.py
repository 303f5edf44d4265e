# SPDX-License-Identifier: Apache-2.0
"""What may be seen of jobs: until its slot, what a job ended in, or that it did, is nobody's business.

Nothing here depends on a job's end before its release: neither lists and their pages nor how many jobs
count as under way, or whoever adds one more could learn when the last one ended.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool

from anonymaly.server.jobs import Job
from anonymaly.server.slots import is_released, next_release
from anonymaly.server.state import LOOKED_AT, State, jobs

LONGEST_SECONDS = 3600.0  # between a job's end and its release, as far as jobs under way are counted
_SOON = 0.002  # after the moment itself, so that one look is enough


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as it stood at a moment of the database's clock."""

    job: Job
    now: float

    @property
    def released(self) -> bool:
        """Whether what it ended in may be seen."""
        return is_released(self.job.created_at, self.job.ended_at, self.job.slot, self.now)

    @property
    def result(self) -> dict[str, Any]:
        """What it ended in; only of a released one."""
        if not self.released:
            raise AssertionError("a job was looked into before its release")
        found: dict[str, Any] = json.loads(self.job.result or "{}")
        return found

    @property
    def until_next(self) -> float:
        """The seconds until the next moment of release."""
        return next_release(self.job.created_at, self.job.slot, self.now) - self.now


def look(state: State, number: str) -> Seen | None:
    """Look at a job."""
    with state.read() as connection:
        of = sa.select(*LOOKED_AT, state.now.label("now")).where(jobs.c.id == number)
        row = connection.execute(of).first()
    return None if row is None else _with_results(state, [_seen(row)])[0]


async def wait(state: State, seen: Seen, seconds: float) -> Seen:
    """Look at a job again at each moment of its release, and at no other, for so many seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not seen.released and (left := deadline - loop.time()) > 0:
        await asyncio.sleep(min(left, seen.until_next + _SOON))
        found = await run_in_threadpool(look, state, seen.job.id)
        if found is None:
            break
        seen = found
    return seen


def list_answers(
    state: State, table: str, person: str | None, after: str | None, limit: int
) -> tuple[list[Seen], str | None]:
    """Return released answers of a table, oldest first, of a person or of all; and where to go on."""
    found: list[Seen] = []
    for seen in _answers(state, table, person, after):
        if seen.released:
            found.append(seen)
        if len(found) > limit:
            break
    more = found[limit - 1].job.id if len(found) > limit else None
    return _with_results(state, found[:limit]), more


def under_way(state: State, person: str | None = None) -> int:
    """Return how many jobs, of a person or of all, have not been released."""
    # Found by indexes: the release is at most as long after the end as the end is after the beginning.
    recent = sa.or_(jobs.c.state.in_(("waiting", "running")), jobs.c.ended_at >= state.now - LONGEST_SECONDS)
    of = sa.select(jobs.c.created_at, jobs.c.ended_at, jobs.c.slot, state.now.label("now")).where(recent)
    with state.read() as connection:
        rows = connection.execute(of if person is None else of.where(jobs.c.person == person)).all()
    return sum(not is_released(row.created_at, row.ended_at, row.slot, float(row.now)) for row in rows)


def count_jobs(state: State) -> dict[str, int]:
    """Return how many jobs there are by what may be seen of them: under way, done, refused or failed."""
    over = jobs.c.ended_at < state.now - LONGEST_SECONDS
    of = sa.select(jobs.c.state, sa.func.count()).where(over).group_by(jobs.c.state)
    recent = sa.select(
        jobs.c.created_at, jobs.c.ended_at, jobs.c.slot, jobs.c.state, state.now.label("now")
    ).where(sa.or_(jobs.c.ended_at.is_(None), sa.not_(over)))
    with state.read() as connection:
        found = Counter({name: int(number) for name, number in connection.execute(of)})
        for row in connection.execute(recent):
            released = is_released(row.created_at, row.ended_at, row.slot, float(row.now))
            found[row.state if released else "under way"] += 1
    return dict(found)


def asked_before(state: State, table: str, person: str, asks: str) -> bool:
    """Say whether a person asked something in the same words before."""
    of = sa.select(jobs.c.id).where(
        jobs.c.person == person, jobs.c.table_name == table, jobs.c.kind == "ask", jobs.c.asks == asks
    )
    with state.read() as connection:
        return connection.execute(of.limit(1)).first() is not None


def _answers(state: State, table: str, person: str | None, after: str | None) -> Iterator[Seen]:
    of = sa.select(*LOOKED_AT, state.now.label("now")).where(
        jobs.c.table_name == table, jobs.c.kind == "ask", jobs.c.state == "done"
    )
    if person is not None:
        of = of.where(jobs.c.person == person)
    if after is not None:
        place = sa.select(jobs.c.created_at).where(jobs.c.id == after).scalar_subquery()
        later = sa.and_(jobs.c.created_at == place, jobs.c.id > after)
        of = of.where(sa.or_(jobs.c.created_at > place, later))
    with state.read() as connection:
        for row in connection.execution_options(yield_per=100).execute(
            of.order_by(jobs.c.created_at, jobs.c.id)
        ):
            yield _seen(row)


def _with_results(state: State, found: list[Seen]) -> list[Seen]:
    """Read what released jobs ended in, and of no other."""
    released = [seen.job.id for seen in found if seen.released]
    if not released:
        return found
    with state.read() as connection:
        rows = connection.execute(sa.select(jobs.c.id, jobs.c.result).where(jobs.c.id.in_(released))).all()
    results = {row.id: row.result for row in rows}
    return [replace(seen, job=replace(seen.job, result=results.get(seen.job.id))) for seen in found]


def _seen(row: Any) -> Seen:
    fields = dict(row._mapping)
    now = fields.pop("now")
    return Seen(Job(**fields), float(now))
