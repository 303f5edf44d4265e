# SPDX-License-Identifier: Apache-2.0
"""A ledger in a PostgreSQL database."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from anonymaly.core.extras import require
from anonymaly.errors import AnonymalyError, LedgerDamaged, LedgerError, LedgerMissing
from anonymaly.ledger.postgres_catalog import catalog_problems, creating, present_tables
from anonymaly.ledger.schema import FORMAT, HEAD, HeadQuery, heads
from anonymaly.ledger.session import PATIENCE_SECONDS, READ_ONLY
from anonymaly.ledger.transaction import RESTORE, first_head

SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
CONNECT_SECONDS = 10
INSTALL_LOCK = 0x616E6F6E796D616C  # "anonymal": held while the tables are made
LOCK_NOT_AVAILABLE = "55P03"
INSUFFICIENT_PRIVILEGE = "42501"

# "local" reports a commit before a standby has it: after a failover, charges would be forgotten.
_FORGETFUL = {"fsync": ("off",), "synchronous_commit": ("off", "local")}


class PostgresBackend:
    """Conditional updates under READ COMMITTED behind a locked head row, on a server that loses no commit."""

    def __init__(self, location: str) -> None:
        try:
            url = sa.make_url(location)
        except (ArgumentError, ValueError):
            raise LedgerError(
                "is not a PostgreSQL URL",
                field="ledger",
                next_step="Write postgresql://user@host:5432/database.",
            ) from None
        self._url = url.set(drivername="postgresql+psycopg")
        # Without the query part, where a password may stand too.
        self._shown = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)

    def describe(self) -> str:
        """Return the URL with its password hidden."""
        return self._shown

    def engine(self) -> sa.Engine:
        """Return an engine that checks every new connection for durability."""
        require("postgres", "A ledger in PostgreSQL")
        engine = sa.create_engine(
            self._url,
            poolclass=sa.QueuePool,
            pool_size=1,
            max_overflow=0,
            isolation_level="READ COMMITTED",
            hide_parameters=True,
            connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": "anonymaly"},
        )
        sa.event.listen(engine, "connect", self._set_up)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def _set_up(self, connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
            settings = dict(zip(_FORGETFUL, cursor.fetchone(), strict=True))
            lost = [name for name, value in settings.items() if value in _FORGETFUL[name]]
            if lost:
                connection.rollback()
                found = " and ".join(f"{name} is {settings[name]}" for name in lost)
                raise LedgerError(
                    f"the server at {self._shown} may forget charges: {found}",
                    field="ledger",
                    next_step=f"Set {' and '.join(lost)} to on, for the server, the database and the role.",
                )
            # Kept for this session, so that a reload of the server's configuration cannot switch it off.
            cursor.execute(
                "SELECT set_config('synchronous_commit', %s, false), set_config('lock_timeout', %s, false),"
                # A frozen client must not hold the head row for ever.
                " set_config('idle_in_transaction_session_timeout', %s, false)",
                (settings["synchronous_commit"], f"{PATIENCE_SECONDS}s", f"{PATIENCE_SECONDS}s"),
            )
        connection.commit()

    def install(self, *, create: bool) -> None:
        """Create the tables in one transaction, behind an advisory lock."""
        engine = self.engine()
        try:
            with engine.begin() as connection:
                if present_tables(connection):
                    return
                if not create:
                    raise LedgerMissing(
                        f"there is no ledger at {self._shown}",
                        field="ledger",
                        next_step="Check the URL; the first question opens it.",
                    )
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(INSTALL_LOCK)))
                if present_tables(connection):
                    return
                for statement in creating():
                    connection.exec_driver_sql(statement)
                connection.execute(heads.insert().values(id=1, format=FORMAT, **first_head().to_dict()))
        except DBAPIError as error:
            raise self.translate(error) from None
        finally:
            with suppress(Exception):  # the tables are there or not, whether the connection closes or not
                engine.dispose()

    def head_query(self) -> HeadQuery:
        """Lock the head row: entries are chained one after another."""
        return HEAD.with_for_update()

    def creating(self, after: int) -> list[str]:
        """Return the statements that create what is new since a format."""
        return creating(after=after)

    def confirm(self) -> None:
        """Nothing to do: a server's tables are not replaced under a connection."""

    def structure_problems(self, connection: sa.Connection) -> list[str]:
        """Check tables, columns, constraints and triggers against what was created."""
        return catalog_problems(connection)

    def page_problems(self, connection: sa.Connection, *, thorough: bool) -> list[str]:
        """Return nothing: the pages are the server's to check."""
        return []

    def close(self) -> None:
        """Nothing to do: a server is held by its connections alone."""

    def busy(self, error: DBAPIError) -> bool:
        """Return False: the server itself waits for the lock, as long as lock_timeout allows."""
        return False

    def translate(self, error: DBAPIError) -> AnonymalyError:
        """Turn PostgreSQL's error codes into our errors."""
        code = getattr(error.orig, "sqlstate", None)
        if code == LOCK_NOT_AVAILABLE:
            return LedgerError(
                f"was busy for {PATIENCE_SECONDS} seconds: {self._shown}",
                field="ledger",
                next_step="Ask again: no question is charged twice."
                " If it stays busy, look for a session that hangs.",
            )
        if code == INSUFFICIENT_PRIVILEGE:
            return LedgerError(
                f"the role may not create or change the ledger's tables: {self._shown}",
                field="ledger",
                next_step="Grant the role CREATE on the schema, or SELECT, INSERT and UPDATE on the tables.",
            )
        kind = type(error.orig).__name__
        if code is None or code[:2] in {"08", "28", "3D", "53", "57"}:
            return LedgerError(
                f"cannot be reached, or refuses this login: {self._shown} ({kind})",
                field="ledger",
                next_step="Check host, database, user and password; then ask again:"
                " no question is charged twice.",
            )
        return LedgerDamaged(f"does not verify: {self._shown} ({kind})", field="ledger", next_step=RESTORE)


def _begin(connection: sa.Connection) -> None:
    if connection.get_execution_options().get(READ_ONLY, False):
        # One snapshot for the whole check, however many statements it takes.
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
