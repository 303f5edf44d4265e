# SPDX-License-Identifier: Apache-2.0
"""Does the second writer of a PostgreSQL ledger wait for the first?

Every entry holds the hash of the one before, so two writers that begin at the same head would both continue
the same link. Here the first writer is stopped after it has read the head, until it is known what the second
one does. Nothing is left to chance: it waits for a lock, or it comes to its end.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.errors import AnonymalyError
from anonymaly.ledger import Ledger, Reservation, book
from anonymaly.ledger.postgres import PostgresBackend
from anonymaly.ledger.schema import HEAD
from anonymaly.ledger.transaction import Transaction

ACCOUNT = "patients"
COST = 10**6
_WAITING = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = 'anonymaly' AND wait_event_type = 'Lock'"
)


def lock_problems(location: str) -> Problems:
    """Let two writers charge one account at the same time, and yield what must not be.

    Parameters
    ----------
    location : str
        The address of an empty PostgreSQL database that nobody else uses.
    """
    found: list[str] = []
    writers: list[Future[Reservation]] = []
    with Ledger.open(location) as first, Ledger.open(location) as second, ThreadPoolExecutor(1) as pool:
        first.open_account(ACCOUNT, {}, limit=10 * COST, rules={})

        def stopped(transaction: Transaction) -> Reservation:
            writers.append(pool.submit(second.reserve, ACCOUNT, **_question("second")))
            if not _waits(location, writers[-1]):
                found.append("a second writer did not wait for the first to end")
            return book.reserve(transaction, ACCOUNT, **_question("first"))

        try:
            first._session.write(stopped)
            writers[-1].result()
        except AnonymalyError as problem:
            found.append(str(problem))
        yield from found
        yield from first.verify().problems
        spent = first.account(ACCOUNT).spent
        if spent != 2 * COST:
            yield f"two questions at {COST} each were charged {spent} in all"


def _question(key: str) -> dict[str, Any]:
    return {"analyst": key, "key": key, "cost": COST, "record": {}}


def _waits(location: str, later: Future[Reservation]) -> bool:
    """Say whether a writer comes to wait for a lock, rather than to its end."""
    engine = PostgresBackend(location).engine().execution_options(isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            while not later.done():
                if connection.execute(_WAITING).scalar_one():
                    return True
        return False
    finally:
        engine.dispose()


LOCK_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "PostgreSQL's head not locked",
        "locks",
        lambda: replaced(PostgresBackend, "head_query", lambda backend: HEAD),
    ),
)
