# SPDX-License-Identifier: Apache-2.0
"""What is shown once: the text of a new key.

It is sealed for the key that it was made with, or for the process that began a login, so that other web
processes, which read jobs, read nothing. A web process may not change jobs. It notes that a key's text was
fetched where it notes the uses of keys; whoever notes it first shows it, and a worker removes what is sealed.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.server.state import State, jobs, uses

SEALED = "sealed"
_PREFIX = "job:"


def take(state: State, job: str) -> bool:
    """Note that a job's key is shown; False if it was shown before."""
    try:
        with state.write() as connection:
            connection.execute(uses.insert().values(id=_PREFIX + job, used_at=state.now))
    except sa.exc.IntegrityError:
        return False
    return True


def forget_taken(state: State) -> int:
    """Remove keys that were shown; for workers."""
    number = sa.func.substr(uses.c.id, len(_PREFIX) + 1)
    of = sa.select(jobs.c.id, jobs.c.result).select_from(jobs.join(uses, number == jobs.c.id))
    return _forget(state, of.where(uses.c.id.startswith(_PREFIX)))


def forget_old(state: State, seconds: float) -> int:
    """Remove keys that nobody fetched for so long; for workers."""
    old = jobs.c.ended_at < state.now - seconds
    return _forget(state, sa.select(jobs.c.id, jobs.c.result).where(jobs.c.state == "done", old))


def _forget(state: State, of: sa.Select[Any]) -> int:
    with state.read() as connection:
        found = connection.execute(
            of.where(jobs.c.kind.in_(("key", "login")), jobs.c.result.like(f'%"{SEALED}":%'))
        ).all()
    for job, result in found:
        rest = {name: item for name, item in json.loads(result).items() if name != SEALED}
        with state.write() as connection:
            connection.execute(jobs.update().where(jobs.c.id == job).values(result=canonical_json(rest)))
    return len(found)
