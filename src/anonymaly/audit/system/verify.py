# SPDX-License-Identifier: Apache-2.0
"""Does opening a ledger, or verifying it, see what was changed by hand?

A ledger is damaged in one way after another, each time by somebody who takes its triggers off and puts them
back. Opening trusts what it checked before and begins there, so of some changes it is enough that verifying
sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from anonymaly.ask.curator import Curator
from anonymaly.ask.store import Store
from anonymaly.audit.system.damages import REBUILT, SEEN_AT_OPENING, SEEN_BY_VERIFYING, Change
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.ledger import Ledger, compare, ledger, postgres_catalog, verify
from anonymaly.ledger.definitions import tables
from anonymaly.ledger.postgres import PostgresBackend
from anonymaly.ledger.recount import Recount
from anonymaly.ledger.session import Backend
from anonymaly.ledger.sqlite import SqliteBackend
from anonymaly.ledger.sums import AccountSums
from anonymaly.questions.count.query import Count

ACCOUNT = "patients"
LIMIT = 10**9
COST = 1000
OFTEN = 10  # entries after which opening writes down how far it checked; a thousand would take long to write


def verify_problems() -> Problems:
    """Yield every damage to a ledger in a file, or to stored answers, that is not seen.

    Examples
    --------
    >>> fault = VERIFY_FAULTS[0]
    >>> fault.name, fault.is_rejected(verify_problems)
    ("analysts' limits not compared", True)
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "patients.ledger")
        _fill(path)
        yield from _of_changes(SqliteBackend(path))
    yield from _of_answers()


def database_problems(location: str) -> Problems:
    """Yield every damage to a ledger in a PostgreSQL database that is not seen.

    Parameters
    ----------
    location : str
        The address of an empty PostgreSQL database that nobody else uses.
    """
    _fill(location)
    backend = PostgresBackend(location)
    yield from _of_changes(backend)
    for name, statements in REBUILT.items():
        with _undone(backend) as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
            if _is_well(connection, backend, everything=True):
                yield f"verifying does not see {name}"


def _fill(location: str | Path) -> None:
    """Make a ledger that was checked up to an entry, with some entries after it."""
    with replaced(verify, "EVERY", OFTEN):
        with Ledger.open(location) as opened:
            opened.open_account(ACCOUNT, {}, limit=LIMIT, rules={})
            opened.grant(ACCOUNT, "ann", limit=LIMIT, by="owner", reason="a study")
            _ask(opened, range(8))
        with Ledger.open(location) as opened:
            _ask(opened, range(8, 11))


def _ask(opened: Ledger, numbers: range) -> None:
    """Ask questions, each answered but every fourth."""
    for number in numbers:
        held = opened.reserve(
            ACCOUNT, analyst="ann", key=f"q{number}", cost=COST, record={}, counters={"rule:groups": 50}
        )
        if number % 4 != 3:
            opened.commit(held, digest="aa", media_type="text/plain", size=1)
        else:
            opened.consent(ACCOUNT, {"number": number}, by="owner", reason="a study")


def _of_changes(backend: Backend) -> Iterator[str]:
    every: Mapping[str, Sequence[Change]] = {"nothing": (), **SEEN_AT_OPENING, **SEEN_BY_VERIFYING}
    for name, changes in every.items():
        with _undone(backend) as connection:
            for table, change in changes:
                _forge(connection, f"ledger_{table}", f"UPDATE ledger_{table} {change}")
            opens, verifies = (_is_well(connection, backend, everything=all_) for all_ in (False, True))
        if verifies == bool(changes):
            yield f"verifying {'does not see' if changes else 'sees something where there is'} {name}"
        if opens == (name in SEEN_AT_OPENING):
            yield f"opening {'does not see' if opens else 'sees, against this list,'} {name}"


@contextmanager
def _undone(backend: Backend) -> Iterator[sa.Connection]:
    """Yield a connection; what is done by it is undone at the end."""
    engine = backend.engine()
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            yield connection
            transaction.rollback()
    finally:
        engine.dispose()


def _forge(connection: sa.Connection, table: str, statement: str) -> None:
    """Change rows with the triggers off, and put them back on as if nothing had been."""
    if connection.dialect.name == "postgresql":
        off, on = (f"ALTER TABLE {table} {verb} TRIGGER USER" for verb in ("DISABLE", "ENABLE"))
        before, after = [off], [on]
    else:
        found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        triggers = connection.exec_driver_sql(found, (table,)).all()
        before, after = [f"DROP TRIGGER {name}" for name, _ in triggers], [text for _, text in triggers]
    for text in (*before, statement, *after):
        connection.exec_driver_sql(text)


def _is_well(connection: sa.Connection, backend: Backend, *, everything: bool) -> bool:
    """Say whether verifying, or else opening, finds nothing wrong."""
    if everything:
        return bool(_LEDGER.check(connection, backend).verification.ok)
    return verify.check(connection, backend, everything=False).verification.ok


_LEDGER: Any = ledger  # whose check is the one that verifying calls


def _of_answers() -> Iterator[str]:
    """Ask a question, and change what is stored of its answer."""
    for name in ("an altered answer", "a lost answer", "an answer that nobody asked for"):
        with TemporaryDirectory() as folder:
            dataset = Count.example().dataset(name=ACCOUNT)
            with closing(Curator(dataset, budget=1, ledger=Path(folder, "patients.ledger"))) as curator:
                curator.ask(Count(epsilon="0.1"))
                (stored,) = curator.accountant.store.folder.iterdir()
                match name:
                    case "an altered answer":
                        stored.write_bytes(stored.read_bytes() + b" ")
                    case "a lost answer":
                        stored.unlink()
                    case _:
                        stored.with_name(f"{'ab' * 32}-{'cd' * 32}").write_bytes(b"7")
                if curator.accountant.verify().ok:
                    yield f"verifying does not see {name}"


def _without_limits(
    what: str, connection: sa.Connection, table: sa.Table, expected: Mapping[tuple[str, str], Any]
) -> list[str]:
    """Compare what analysts spent, and take their limits from the table itself."""
    if what == "analyst":
        held = {tuple(row[:2]): row[2] for row in connection.execute(sa.select(table))}
        expected = {name: (held.get(name, limit), spent) for name, (limit, spent) in expected.items()}
    return _SAME_PAIRS(what, connection, table, expected)


def _from_the_start_only(
    connection: sa.Connection, recount: Recount, found_format: int, *, since: int
) -> list[str]:
    return [] if since else _COMPARE(connection, recount, found_format, since=since)


def _by_name(query: sa.TextClause, expected: Callable[[int], set[tuple[str, str]]]) -> Any:
    """Return a check of a catalog that looks at names and not at what they stand for."""

    def check(connection: sa.Connection, up_to: int) -> list[str]:
        found = {tuple(row[:2]) for row in connection.execute(query, {"tables": list(tables(up_to))})}
        return [f"{name} is missing or too many" for name in found ^ expected(up_to)]

    return check


def _constraints(up_to: int) -> set[tuple[str, str]]:
    return {(table, name) for table in tables(up_to) for name in postgres_catalog.CONSTRAINTS[table]}


def _triggers(up_to: int) -> set[tuple[str, str]]:
    return {(guard.name, guard.table) for guard in postgres_catalog._all_guards(0, up_to)}


_SAME_PAIRS, _COMPARE, _CHECK = compare._same_pairs, compare.compare, verify.check

VERIFY_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "analysts' limits not compared", "verify", lambda: replaced(compare, "_same_pairs", _without_limits)
    ),
    SystemFault(
        "a checkpoint trusted without its sums",
        "verify",
        lambda: replaced(verify, "compare", _from_the_start_only),
    ),
    SystemFault(
        "what was spent not compared with charges",
        "verify",
        lambda: replaced(AccountSums, "charged", lambda sums: 0),
    ),
    SystemFault(
        "verifying begins where opening does",
        "verify",
        lambda: replaced(
            ledger, "check", lambda connection, backend: _CHECK(connection, backend, everything=False)
        ),
    ),
    SystemFault(
        "stored answers not looked at",
        "verify",
        lambda: replaced(Store, "damaged", lambda store, key, digest: None),
    ),
)
DATABASE_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "PostgreSQL's constraints known by name only",
        "verify",
        lambda: replaced(
            postgres_catalog,
            "_constraint_problems",
            _by_name(postgres_catalog._CONSTRAINTS, _constraints),
        ),
    ),
    SystemFault(
        "PostgreSQL's triggers known by name only",
        "verify",
        lambda: replaced(
            postgres_catalog, "_trigger_problems", _by_name(postgres_catalog._TRIGGERS, _triggers)
        ),
    ),
    SystemFault(
        "PostgreSQL's rules and unlogged tables not looked at",
        "verify",
        lambda: replaced(postgres_catalog, "_table_problems", lambda connection, up_to: []),
    ),
)
