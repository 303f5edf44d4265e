# SPDX-License-Identifier: Apache-2.0
"""A ledger that is looked at while others write to it: each read sees what is there by then."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from anonymaly.ledger.ledger import Ledger
from anonymaly.ledger.opening import choose_backend
from anonymaly.ledger.session import PATIENCE_SECONDS, Session
from anonymaly.ledger.sqlite import SqliteBackend


class SqliteFollower(SqliteBackend):
    """Reads the file as SQLite does among writers: with its locks and its journal, and never a copy."""

    def engine(self) -> sa.Engine:
        """Return an engine that cannot write."""

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(
                f"file:{quote(os.fsencode(self._path))}?mode=ro",
                uri=True,
                timeout=PATIENCE_SECONDS,
                isolation_level=None,
                check_same_thread=False,  # the session lets one thread in at a time
            )

        engine = sa.create_engine(
            "sqlite+pysqlite://", creator=connect, poolclass=sa.QueuePool, pool_size=1, max_overflow=0
        )
        sa.event.listen(engine, "connect", lambda link, _: link.execute("PRAGMA trusted_schema=OFF"))
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine


def follow(location: str | Path) -> Ledger:
    """Open a ledger to read it as it grows; whatever would write is refused.

    `Ledger.audit` looks at a ledger as it was when it was opened. This is for a process that goes on.
    """
    backend = choose_backend(location)
    if isinstance(backend, SqliteBackend):
        backend = SqliteFollower(Path(location))
    backend.install(create=False)
    return Ledger(Session(backend, read_only=True))
