# SPDX-License-Identifier: Apache-2.0
"""The file behind a journal: one SQLite file, one program, and nothing left behind in it.

Only the process that opened it uses it, also after a fork. What is deleted is overwritten: ``TIDY_AFTER``
windows later it is gone from the disk.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from anonymaly.core.shut_for_fork import ShutForFork
from anonymaly.errors import InputError, LedgerError

FORMAT = 3  # earlier ones lack tables of `_ADDED`: 1 all of them, 2 those for readings that are asked for
TIDY_AFTER = 64  # finished windows, behind which nothing of them is left in SQLite's log
ROOM_BESIDE = 2**18  # bytes that SQLite may need beside what it is given

_TABLES = """
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sensor TEXT NOT NULL, window INTEGER NOT NULL, code INTEGER NOT NULL, sequence INTEGER NOT NULL,
    body BLOB NOT NULL, UNIQUE (sensor, window, code, sequence)) STRICT;
CREATE TABLE parts (
    sensor TEXT NOT NULL, window INTEGER NOT NULL, code INTEGER NOT NULL, sequence INTEGER NOT NULL,
    rows INTEGER NOT NULL, last INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (sensor, window, code, sequence)) STRICT;
CREATE TABLE finished (sensor TEXT NOT NULL, window INTEGER NOT NULL, PRIMARY KEY (sensor, window)) STRICT;
CREATE TABLE floors (sensor TEXT PRIMARY KEY, window INTEGER NOT NULL) STRICT;
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sensor TEXT NOT NULL, window INTEGER NOT NULL, body BLOB NOT NULL,
    UNIQUE (sensor, window)) STRICT;
"""
_ADDED = """
CREATE TABLE IF NOT EXISTS inputs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, head TEXT NOT NULL,
    started INTEGER NOT NULL, sent INTEGER) STRICT;
CREATE TABLE IF NOT EXISTS spool (
    number INTEGER PRIMARY KEY, line INTEGER NOT NULL, time TEXT, body BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS origins (
    number INTEGER PRIMARY KEY, window INTEGER NOT NULL, place INTEGER NOT NULL, input TEXT NOT NULL,
    body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS versions (
    sensor TEXT NOT NULL, window INTEGER NOT NULL, code INTEGER NOT NULL, sequence INTEGER NOT NULL,
    digest BLOB NOT NULL, PRIMARY KEY (sensor, window, code, sequence)) STRICT;
CREATE TABLE IF NOT EXISTS alarms (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sensor TEXT NOT NULL, window INTEGER NOT NULL,
    reporter TEXT NOT NULL, reason INTEGER NOT NULL, UNIQUE (sensor, window, reporter, reason)) STRICT;
CREATE TABLE IF NOT EXISTS decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sensor TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    reason TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS kept (
    window INTEGER NOT NULL, place INTEGER NOT NULL, time TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (window, place)) STRICT;
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, state INTEGER, body BLOB NOT NULL,
    window INTEGER NOT NULL, sequence INTEGER NOT NULL, UNIQUE (window, sequence)) STRICT;
CREATE TABLE IF NOT EXISTS fetches (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sensor TEXT NOT NULL, window INTEGER NOT NULL,
    sequence INTEGER NOT NULL, body BLOB NOT NULL, withdrawn INTEGER NOT NULL, answer BLOB,
    answered INTEGER UNIQUE, UNIQUE (sensor, window, sequence)) STRICT;
"""

_EARLIER = [str(number) for number in range(1, FORMAT)]

_journals: ShutForFork[JournalFile] = ShutForFork("journal")


class JournalFile:
    """What all journals do with their file.

    Parameters
    ----------
    path : path
        The file; it is made if it is not there.
    address : str
        Whose journal it is; another party's is refused.
    """

    def __init__(self, path: str | Path, address: str) -> None:
        self._lock = threading.RLock()
        self._path = Path(path).absolute()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._finished = 0  # windows since SQLite's log was emptied
        try:
            with self._lock:
                _journals.add(self)
                # For its owner alone, whatever the umask and whoever made it before. SQLite gives the files
                # beside it the same mode.
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                with suppress(PermissionError):  # another user's file, which we may write
                    os.fchmod(descriptor, 0o600)
                os.close(descriptor)
                self._open(address)
        except (sqlite3.Error, OSError, LedgerError) as error:
            self._let_go()
            raise InputError(
                f"cannot be used ({type(error).__name__})",
                field="journal",
                next_step="Give a file on a local disk, and one program only.",
            ) from None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=1, isolation_level=None, check_same_thread=False)
        # Held from here on: two programs on one journal would send two versions of a batch.
        for setting in (
            "locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL", "fullfsync=ON",
            "secure_delete=ON",
        ):  # fmt: skip
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _open(self, address: str) -> None:
        with self.transaction():
            if self.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone() is None:
                for statement in _TABLES.split(";\n"):
                    self.execute(statement)
                self.note("address", address)
                self.note("format", "1")
            if self.read_note("address") == address and self.read_note("format") in _EARLIER:
                for statement in _ADDED.split(";\n"):
                    self.execute(statement)
                self.note("format", str(FORMAT))
            found = self.read_note("address"), self.read_note("format")
        if found != (address, str(FORMAT)):
            self.close()
            raise InputError(
                f"belongs to {found[0]} in format {found[1]}, not to {address} in format {FORMAT}",
                field="journal",
                next_step="Give each party a journal of its own.",
            )

    def refuse_in_child(self) -> None:
        """Raise in a forked child, which would send a second version of what its parent sends."""
        if self._process != os.getpid():
            raise LedgerError(
                "belongs to the process that opened it, and this is a child of that one",
                field="journal",
                next_step="Open the party in one process only, after the fork.",
            )

    @property
    def _file(self) -> sqlite3.Connection:
        """The connection of this process."""
        self.refuse_in_child()
        if self._closed:
            raise LedgerError("is closed", field="journal", next_step="Open the party again.")
        if self._connection is None:  # closed for a fork
            self._connection = self._connect()
        return self._connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement; what SQLite has to complain of becomes an error that says what to do."""
        try:
            with self._lock:
                return self._file.execute(statement, values)
        except sqlite3.Error as error:
            raise _unusable(error) from None

    @property
    def lock(self) -> threading.RLock:
        """Held for a transaction; for reading more than one row, too."""
        return self._lock

    def tidy(self) -> None:
        """Move what SQLite's log holds into the file, and empty the log: it has all that was deleted."""
        with self._lock:
            self._finished = 0
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def count_erased(self, windows: int, *, at_once: bool = False) -> None:
        """Note that readings of windows were deleted, so that the log is emptied in time, or at once."""
        self._finished += TIDY_AFTER if at_once else windows

    def reserve_room(self, size: int) -> Path:
        """Take as much of the disk as writing so many bytes may need, or say that there is none.

        What takes it is a file beside the journal: the caller removes it right before it writes.
        """
        ballast = self._path.with_name(f"{self._path.name}-room")
        try:
            with self.transaction():  # a file that cannot be written shows here, before anything is charged
                self.note("written", "yes")
            descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # Once into SQLite's log and once into the file, both in whole pages.
                _allocate(descriptor, 3 * size + ROOM_BESIDE)
            finally:
                os.close(descriptor)
        except OSError as error:
            ballast.unlink(missing_ok=True)
            raise _unusable(error) from None
        return ballast

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            if self._process == os.getpid() and self._connection is not None:
                self._connection.close()

    def _let_go(self) -> None:
        """Close the file because something else went wrong, which a failure to close must not hide."""
        with suppress(Exception):
            self.close()

    def before_fork(self) -> None:
        """Let the transaction under way end, then close: a child must not inherit a connection.

        SQLite would take its parent's lock for its own in the child, and remove its journal in the end.
        """
        self._lock.acquire()
        if self._process == os.getpid() and self._connection is not None and not self._closed:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def after_fork(self) -> None:
        """Take the file again in the parent; its child has none."""
        if self._process != os.getpid():
            return
        if not self._closed:
            with suppress(sqlite3.Error):  # the next use tries again, and says so
                self._connection = self._connect()
        self._lock.release()

    def renew_lock(self) -> None:
        """Have a lock of its own in a child, whatever thread of its parent was in it."""
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._let_go()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside to disk together, or nothing of it."""
        with self._lock:
            file = self._file
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself if the disk is full. What else goes wrong here must not
                # hide the reason, and the next transaction must begin with nothing of this one.
                with suppress(sqlite3.Error):
                    file.execute("ROLLBACK")
                if file.in_transaction:
                    self._start_anew()
                raise
            if self._finished >= TIDY_AFTER:
                self.tidy()

    def _start_anew(self) -> None:
        """Drop a connection that cannot roll back; what it wrote is not in the file."""
        with suppress(sqlite3.Error):
            self._file.close()
        self._connection = None

    def note(self, name: str, value: str) -> None:
        """Remember a text under a name."""
        self.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def read_note(self, name: str) -> str | None:
        """Return what was remembered under a name."""
        with self._lock:
            row = self.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])


def _allocate(descriptor: int, size: int) -> None:
    """Take room on a disk, also where that means to write zeros."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except AttributeError:  # macOS
        _write_zeros(descriptor, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        _write_zeros(descriptor, size)


def _write_zeros(descriptor: int, size: int) -> None:
    zeros = bytes(2**16)
    while size > 0:
        size -= os.write(descriptor, zeros[:size])
    os.fsync(descriptor)


def _unusable(error: sqlite3.Error | OSError) -> LedgerError:
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    )
    # Never with SQLite's own words: they may hold what was to be written.
    return LedgerError(
        "cannot be written: the disk is full" if full else f"cannot be used ({type(error).__name__})",
        field="journal",
        next_step="Make room on its disk, and start again: what was acknowledged is kept."
        if full
        else "Check that its disk works and may be written, and start again: what was acknowledged is kept.",
    )
