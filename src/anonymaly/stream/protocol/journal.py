# SPDX-License-Identifier: Apache-2.0
"""What a party must not forget: one small SQLite file, from which a killed party goes on.

It holds what was sent and not yet acknowledged, the parts of windows that are not finished, and which windows
are. All finished windows together leave one number behind.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from anonymaly.core.shut_for_fork import ShutForFork
from anonymaly.errors import InputError, LedgerError
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Readings, Shifts, read_message

Kind = TypeVar("Kind", bound=Message)

FORMAT = 1
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
_THIS = "sensor = ? AND window = ? AND code = ?"
_SUMMARY = (
    "COUNT(*), COALESCE(MAX(sequence), -1), COALESCE(SUM(rows), 0), MAX(CASE WHEN last THEN sequence END), "
    "COALESCE(MAX(sequence = ?), 0)"
)


class Batches(NamedTuple):
    """The batches that a window has so far, their highest number and the last one's, and all readings."""

    number: int
    highest: int
    rows: int
    last: int | None
    known: bool  # whether the batch that was asked about is among them


_journals: ShutForFork[Journal] = ShutForFork("journal")


class Journal:
    """What one party remembers.

    Parameters
    ----------
    path : path
        The file; it is made if it is not there.
    address : str
        Whose journal it is; another party's is refused.

    Examples
    --------
    >>> with Journal(folder / "corrector.journal", "corrector") as journal, journal.transaction():
    ...     journal.note("greeting", "hello")
    ...     journal.read_note("greeting")
    'hello'
    """

    def __init__(self, path: str | Path, address: str) -> None:
        self._lock = threading.RLock()
        self._path = Path(path).absolute()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        try:
            with self._lock:
                _journals.add(self)
                # For its owner alone, whatever the umask. SQLite gives the files beside it the same mode.
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                self._open(address)
        except (sqlite3.Error, OSError) as error:
            self._let_go()
            raise InputError(
                f"cannot be used ({type(error).__name__})",
                field="journal",
                next_step="Give a file on a local disk, and one program only.",
            ) from None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=1, isolation_level=None, check_same_thread=False)
        # Held from here on: two programs on one journal would send two versions of a batch.
        for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL", "fullfsync=ON"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _open(self, address: str) -> None:
        with self.transaction():
            if self._file.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone() is None:
                for statement in _TABLES.split(";\n"):
                    self._file.execute(statement)
                self.note("address", address)
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

    def __enter__(self) -> Journal:
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
            file.execute("BEGIN IMMEDIATE")
            try:
                yield
                file.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself if the disk is full. What else goes wrong here must not
                # hide the reason, and the next transaction must begin with nothing of this one.
                with suppress(sqlite3.Error):
                    file.execute("ROLLBACK")
                if file.in_transaction:
                    self._start_anew()
                raise

    def _start_anew(self) -> None:
        """Drop a connection that cannot roll back; what it wrote is not in the file."""
        with suppress(sqlite3.Error):
            self._file.close()
        self._connection = None

    def note(self, name: str, value: str) -> None:
        """Remember a text under a name."""
        self._file.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def read_note(self, name: str) -> str | None:
        """Return what was remembered under a name."""
        with self._lock:
            row = self._file.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def keep(self, message: Message) -> None:
        """Keep a message until its receipt comes."""
        key = (message.sensor, message.window, message.code, message.sequence)
        self._file.execute(
            "INSERT INTO outbox (sensor, window, code, sequence, body) VALUES (?, ?, ?, ?, ?)",
            (*key, message.to_bytes()),
        )

    def settle(self, receipt: MessageReceipt) -> None:
        """Forget a message that arrived; a second receipt changes nothing."""
        key = (receipt.sensor, receipt.window, receipt.of.code, receipt.sequence)
        self._file.execute(f"DELETE FROM outbox WHERE {_THIS} AND sequence = ?", key)  # noqa: S608

    def unsettled(self, most: int) -> list[Message]:
        """Return what was not acknowledged, oldest first."""
        with self._lock:
            rows = self._file.execute("SELECT body FROM outbox ORDER BY id LIMIT ?", (most,)).fetchall()
        return [read_message(body) for (body,) in rows]

    def count_unsettled(self) -> int:
        """Return how many messages were not acknowledged."""
        with self._lock:
            return int(self._file.execute("SELECT COUNT(*) FROM outbox").fetchone()[0])

    def is_finished(self, sensor: str, window: int) -> bool:
        """Say whether all of a window is done."""
        query = "SELECT 1 FROM finished WHERE sensor = ? AND window = ?"
        return (
            window < self.floor(sensor) or self._file.execute(query, (sensor, window)).fetchone() is not None
        )

    def floor(self, sensor: str) -> int:
        """Return the first window of a sensor that is not finished."""
        row = self._file.execute("SELECT window FROM floors WHERE sensor = ?", (sensor,)).fetchone()
        return 0 if row is None else int(row[0])

    def finish(self, sensor: str, window: int) -> None:
        """Forget a window's parts and remember that it is done."""
        self._file.execute("DELETE FROM parts WHERE sensor = ? AND window = ?", (sensor, window))
        self._file.execute("INSERT INTO finished VALUES (?, ?)", (sensor, window))
        floor = self.floor(sensor)
        while self._file.execute(
            "DELETE FROM finished WHERE sensor = ? AND window = ?", (sensor, floor)
        ).rowcount:
            floor += 1
        self._file.execute("INSERT OR REPLACE INTO floors VALUES (?, ?)", (sensor, floor))

    def add(self, message: Message) -> bool:
        """Keep a part of a window; return False if it was there already, and leave that one."""
        rows, last = (len(message.values), message.last) if isinstance(message, Readings | Shifts) else (0, 1)
        key = (message.sensor, message.window, message.code, message.sequence)
        added = self._file.execute(
            "INSERT OR IGNORE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, rows, last, message.to_bytes())
        )
        return added.rowcount == 1

    def batches(self, message: Readings | Shifts) -> Batches:
        """Return what is known of the batches of the message's window, without reading them."""
        query = f"SELECT {_SUMMARY} FROM parts WHERE {_THIS}"  # noqa: S608
        key = (message.sequence, message.sensor, message.window, message.code)
        number, highest, rows, last, known = self._file.execute(query, key).fetchone()
        return Batches(number, highest, rows, last, bool(known))

    def parts(self, sensor: str, window: int, kind: type[Kind]) -> list[Kind]:
        """Return the parts of one kind that a window has so far, in order."""
        query = f"SELECT body FROM parts WHERE {_THIS} ORDER BY sequence"  # noqa: S608
        rows = self._file.execute(query, (sensor, window, kind.code)).fetchall()
        return [part for (body,) in rows if isinstance(part := read_message(body), kind)]

    def judge(self, sensor: str, window: int, body: bytes) -> None:
        """Keep a verdict for good; a second one of the same window changes nothing."""
        self._file.execute(
            "INSERT OR IGNORE INTO verdicts (sensor, window, body) VALUES (?, ?, ?)", (sensor, window, body)
        )

    def verdicts(self, after: int) -> Iterator[tuple[int, Message]]:
        """Return the verdicts behind a number, oldest first, each with its number."""
        with self._lock:
            rows = self._file.execute("SELECT id, body FROM verdicts WHERE id > ? ORDER BY id", (after,))
            found = rows.fetchall()
        for number, body in found:
            yield number, read_message(body)
