# SPDX-License-Identifier: Apache-2.0
"""A ledger file that is only looked at: nothing is written, and it need not be writable."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from anonymaly.errors import LedgerError
from anonymaly.ledger.session import open_sessions
from anonymaly.ledger.sqlite import SqliteBackend, writing_engine

TRIES = 5  # to copy a file and its journal while nobody writes to either


class SqliteCopy(SqliteBackend):
    """A file without a journal is read in place; one with a journal from a private copy of both.

    SQLite needs to write beside a file whose journal holds something, even to read it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        # Whoever closes a file of which this process holds SQLite's locks drops them.
        for session in open_sessions():
            backend = session.backend
            if isinstance(backend, SqliteBackend) and backend.same_file(self._path):
                raise LedgerError(
                    f"is open in this process: {self._path}",
                    field="ledger",
                    next_step="Call verify() of the ledger that is open, or close it first.",
                )

    def engine(self) -> sa.Engine:
        """Return an engine that reads the file, or a copy of the file and its journal."""
        try:
            journal = self.beside("-wal")
            if journal.exists() and journal.stat().st_size:
                return writing_engine(self._copy())
            if not os.access(self._path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
                raise PermissionError
        except OSError as error:
            raise LedgerError(
                f"cannot be read: {self._path} ({type(error).__name__})",
                field="ledger",
                next_step="Check that you may read the file and what lies beside it.",
            ) from None
        return _reading_engine(self._path)

    def _copy(self) -> Path:
        """Copy the file and its journal, both as they were at one moment."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="anonymaly-")
        copy = Path(self._folder.name, "copy.ledger")
        for _ in range(TRIES):
            before = self._state()
            shutil.copyfile(self._path, copy)
            shutil.copyfile(self.beside("-wal"), f"{copy}-wal")
            if before == self._state():
                os.chmod(copy, 0o600)
                return copy
        raise LedgerError(
            f"is written to all the time: {self._path}",
            field="ledger",
            next_step="Verify it where it is used, or ask for a copy made while nobody asks.",
        )

    def _state(self) -> tuple[int, ...]:
        found = (os.stat(self._path), os.stat(self.beside("-wal")))
        return tuple(number for item in found for number in (item.st_size, item.st_mtime_ns, item.st_ino))

    def close(self) -> None:
        """Remove the copy."""
        if self._folder is not None:
            self._folder.cleanup()


def _reading_engine(path: Path) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        # immutable: neither locked nor looked for a journal, which only a writable folder would allow.
        address = f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)

    engine = sa.create_engine(
        "sqlite+pysqlite://", creator=connect, poolclass=sa.QueuePool, pool_size=1, max_overflow=0
    )
    sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA trusted_schema=OFF"))
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine
