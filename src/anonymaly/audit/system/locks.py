# SPDX-License-Identifier: Apache-2.0
"""Does the second writer of a PostgreSQL ledger wait for the first?

Every entry holds the hash of the one before, so two writers that begin at the same head would both continue
the same link; and both would find that a counter has room for one. Here the first writer is stopped after it
has read the head, until it is known what the second one does. Nothing is left to chance: it waits for a lock,
or it comes to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.errors import AnonymalyError, Refused
from anonymaly.ledger import Ledger, Reservation, book, own_part
from anonymaly.ledger.counters import count as count_really
from anonymaly.ledger.postgres import PostgresBackend
from anonymaly.ledger.schema import HEAD
from anonymaly.ledger.schema import counters as counters_table
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
    with Ledger.open(location) as first, Ledger.open(location) as second, ThreadPoolExecutor(1) as pool:
        first.open_account(ACCOUNT, {}, limit=10 * COST, rules={})
        yield from _race(first, second, pool, location, {})
        charged = first.account(ACCOUNT).spent
        if charged != 2 * COST:
            yield f"two questions at {COST} each were charged {charged} in all"
        yield from _race(first, second, pool, location, {"rule:groups": 1})
        if first.account(ACCOUNT).spent - charged != COST:
            yield "two questions were charged where a counter allows one"


def _race(
    first: Ledger, second: Ledger, pool: ThreadPoolExecutor, location: str, counters: Mapping[str, int]
) -> Iterator[str]:
    """Have the first writer wait, after it has read the head, until it is known what the second one does."""
    found: list[str] = []
    writers: list[Future[Reservation]] = []
    one, other = (_question(name, counters) for name in ("first", "second"))

    def stopped(transaction: Transaction) -> Reservation:
        writers.append(pool.submit(second.reserve, ACCOUNT, **other))
        if not _waits(location, writers[-1]):
            found.append("a second writer did not wait for the first to end")
        return book.reserve(transaction, ACCOUNT, **one)

    try:
        first._session.write(stopped)
        writers[-1].result()
    except Refused as problem:
        found += [] if counters else [str(problem)]  # one of the two must be, where a counter allows one
    except AnonymalyError as problem:
        found.append(str(problem))
    yield from found
    yield from first.verify().problems


def _question(analyst: str, counters: Mapping[str, int]) -> dict[str, Any]:
    key = " ".join([analyst, *counters])
    return {"analyst": analyst, "key": key, "cost": COST, "record": {}, "counters": counters}


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


@contextmanager
def _counted_before() -> Iterator[None]:
    """Read a counter before the writing begins, and write what that makes."""
    known: dict[str, int] = {}

    def reserve(writer: Ledger, account: str, *, counters: Mapping[str, int], **named: Any) -> Reservation:
        known.update(dict.fromkeys(counters, 0) | {item.name: item.used for item in writer.counters(account)})
        return _RESERVE(writer, account, counters=counters, **named)

    def count(
        transaction: Transaction, account: str, limits: dict[str, int], once: dict[str, str]
    ) -> dict[str, list[int]]:
        for name, limit in limits.items():
            if transaction.counter(account, name) is None or known.get(name, limit) >= limit:
                return count_really(transaction, account, limits, once)
            values = {"used": known[name] + 1}
            transaction.connection.execute(
                counters_table.update().where(counters_table.c.name == name).values(values)
            )
        return {name: [limit, 1] for name, limit in limits.items()}

    with replaced(Ledger, "reserve", reserve), replaced(own_part, "count", count):
        yield


_RESERVE = Ledger.reserve

LOCK_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "PostgreSQL's head not locked",
        "locks",
        lambda: replaced(PostgresBackend, "head_query", lambda backend: HEAD),
    ),
    SystemFault("a counter read before the writing begins", "locks", _counted_before),
)
