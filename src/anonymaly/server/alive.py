# SPDX-License-Identifier: Apache-2.0
"""Which workers live, and whether every table that one of them is to answer for can be read just now.

A worker that ends says so, or its supervisor does. One whose machine is lost says nothing: for a day its
tables count as missing, unless another worker reads them.
"""

from __future__ import annotations

import json

import sqlalchemy as sa

from anonymaly.server.published import READY_SECONDS
from anonymaly.server.state import State, tables, workers

MISSED_SECONDS = 86_400.0


def arrive(state: State, name: str, held: list[str]) -> None:
    """Say that a worker begins, and which tables it is to answer for; forget those that were long missed."""
    with state.write() as connection:
        old = workers.c.seen_at < state.now - MISSED_SECONDS
        connection.execute(workers.delete().where(sa.or_(workers.c.name == name, old)))
        row = {"name": name, "tables": json.dumps(sorted(held)), "seen_at": state.now}
        connection.execute(workers.insert().values(row))


def stay(state: State, name: str) -> None:
    """Say that a worker lives."""
    with state.write() as connection:
        connection.execute(workers.update().where(workers.c.name == name).values(seen_at=state.now))


def leave(state: State, name: str) -> None:
    """Say that a worker has ended."""
    with state.write() as connection:
        connection.execute(workers.delete().where(workers.c.name == name))


def count_alive(state: State) -> int:
    """Return how many workers said just now that they live."""
    of = sa.select(sa.func.count()).select_from(workers)
    with state.read() as connection:
        return int(connection.execute(of.where(workers.c.seen_at > state.now - READY_SECONDS)).scalar_one())


def wanted_tables(state: State) -> set[str]:
    """Return the tables that workers are to answer for; none if there is no worker."""
    of = sa.select(workers.c.tables).where(workers.c.seen_at > state.now - MISSED_SECONDS)
    with state.read() as connection:
        return {name for text in connection.execute(of).scalars() for name in json.loads(text)}


def ready_tables(state: State) -> set[str]:
    """Return the tables that some worker could read just now."""
    fresh = sa.select(tables.c.name).where(tables.c.ready_at > state.now - READY_SECONDS)
    with state.read() as connection:
        return set(connection.execute(fresh).scalars())
