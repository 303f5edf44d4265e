# SPDX-License-Identifier: Apache-2.0
"""A ledger in one SQLite file."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from anonymaly.core.files import sync_folder
from anonymaly.errors import AnonymalyError, LedgerDamaged, LedgerError, LedgerMissing
from anonymaly.ledger.definitions import create_statements
from anonymaly.ledger.guards import Guard, guards
from anonymaly.ledger.schema import FORMAT, HEAD, HeadQuery, heads
from anonymaly.ledger.session import PATIENCE_SECONDS, READ_ONLY
from anonymaly.ledger.transaction import RESTORE, first_head, found_format

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_UNUSABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_DISK = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM}


def _trigger(guard: Guard) -> str:
    return (
        f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table} WHEN {guard.condition}"
        f" BEGIN SELECT RAISE(ABORT, '{guard.message}'); END"
    )


def statements(*, after: int = 0, up_to: int = FORMAT) -> dict[str, str]:
    """Return name → CREATE statement of everything that a ledger file of a format holds."""
    made = create_statements(integer="INTEGER", strict=" STRICT", after=after, up_to=up_to)
    return made | {guard.name: _trigger(guard) for guard in guards(after=after, up_to=up_to)}


class SqliteBackend:
    """WAL, synchronous=FULL, BEGIN IMMEDIATE, STRICT tables."""

    def __init__(self, path: Path) -> None:
        # Absolute, so that a later change of directory does not split the ledger in two.
        self._path = path.absolute()
        self._identity: tuple[int, int] | None = None

    def describe(self) -> str:
        """Return the file's path."""
        return str(self._path)

    def engine(self) -> sa.Engine:
        """Return an engine on an existing file; it never creates one."""
        engine = writing_engine(self._path)
        sa.event.listen(engine, "connect", lambda *_: self._remember())
        return engine

    def install(self, *, create: bool) -> None:
        """Build a new ledger under a private name and link it into place, whole or not at all.

        So a file that is there and empty is always damage, never a ledger in the making.
        """
        if self._found():
            return
        if not create:
            raise LedgerMissing(
                f"there is no ledger at {self._path}",
                field="ledger",
                next_step="Check the path; the first question opens it.",
            )
        if not self._path.parent.is_dir():
            raise LedgerError(
                f"cannot be created: there is no directory {self._path.parent}",
                field="ledger",
                next_step="Create the directory first.",
            )
        self._create()

    def _found(self) -> bool:
        """Say whether there is a file; raise if it was lost, or cannot be looked for."""
        try:
            if self._path.is_dir():
                raise LedgerError(
                    f"is a directory: {self._path}",
                    field="ledger",
                    next_step="Give a file in it, such as data.ledger.",
                )
            # In this order: the journal is made after the file, so a journal alone means that it was lost.
            journal = self.beside("-wal").exists()
            if self._path.exists():
                return True
        except OSError as error:
            raise LedgerError(
                f"cannot be looked for: {self._path} ({type(error).__name__})",
                field="ledger",
                next_step="Check that you may enter every directory on the way to it.",
            ) from None
        if journal:
            raise LedgerDamaged(
                f"is missing while its journal is there: {self._path}", field="ledger", next_step=RESTORE
            )
        return False

    def _create(self) -> None:
        private = self._path.with_name(f".{self._path.name}.{secrets.token_hex(8)}.new")
        engine = writing_engine(private)
        try:
            # For its owner alone, whatever the umask: who asked what is as confidential as the table. SQLite
            # gives the journal the same mode.
            os.close(os.open(private, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with engine.begin() as connection:
                for statement in statements().values():
                    connection.exec_driver_sql(statement)
                connection.execute(heads.insert().values(id=1, format=FORMAT, **first_head().to_dict()))
            _fold_journal(engine)
            engine.dispose()
            with suppress(FileExistsError):  # another process was first, and its ledger is the ledger
                os.link(private, self._path)
            sync_folder(self._path.parent)
        except DBAPIError as error:
            raise self.translate(error) from None
        except OSError as error:
            raise LedgerError(
                f"cannot be created at {self._path} ({type(error).__name__})",
                field="ledger",
                next_step="Choose a directory on a local disk that you may write to.",
            ) from None
        finally:
            # What cannot be closed or removed, as on a disk that cannot be written, must not hide the error.
            with suppress(Exception):
                engine.dispose()
            for suffix in ("", "-wal", "-shm", "-journal"):
                with suppress(OSError):
                    private.with_name(private.name + suffix).unlink()

    def head_query(self) -> HeadQuery:
        """Read the head; BEGIN IMMEDIATE has already locked the file."""
        return HEAD

    def creating(self, after: int) -> list[str]:
        """Return the statements that create what is new since a format."""
        return list(statements(after=after).values())

    def confirm(self) -> None:
        """Refuse to write into a file deleted or replaced while open: those charges would be lost."""
        try:
            found = _identity(self._path)
        except OSError as error:
            raise LedgerError(
                f"cannot be looked at: {self._path} ({type(error).__name__})",
                field="ledger",
                next_step="Check the disk's health, then ask again: no question is charged twice.",
            ) from None
        if found != self._identity:
            raise LedgerDamaged(
                f"was deleted or replaced while it was open: {self._path}", field="ledger", next_step=RESTORE
            )

    def structure_problems(self, connection: sa.Connection) -> list[str]:
        """Check that the file holds the tables and triggers of its format, and nothing else."""
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        present = {str(name): str(text) for name, text in connection.exec_driver_sql(query)}
        if "ledger_head" not in present:
            return ["ledger_head is missing"]
        up_to = found_format(connection)
        expected = statements(up_to=up_to)
        problems = []
        for name in sorted(expected.keys() | present.keys()):
            if name not in present:
                problems.append(f"{name} is missing")
            elif name not in expected:
                problems.append(f"{name} does not belong to the ledger")
            elif present[name] != expected[name]:
                problems.append(f"{name} is not as it was created")
        return problems

    def page_problems(self, connection: sa.Connection, *, thorough: bool) -> list[str]:
        """Check every page of the file; if thorough, that the indexes hold what their tables do as well."""
        check = "integrity_check" if thorough else "quick_check"
        found = connection.exec_driver_sql(f"PRAGMA {check}(5)").scalars().all()
        return [f"file: {text}" for text in found if text != "ok"]

    def busy(self, error: DBAPIError) -> bool:
        """Say whether another writer holds the file."""
        return _code(error) in _BUSY

    def translate(self, error: DBAPIError) -> AnonymalyError:
        """Turn SQLite's error codes into our errors."""
        code = _code(error)
        if code in _BUSY:
            return LedgerError(
                f"was busy for {PATIENCE_SECONDS} seconds: {self._path}",
                field="ledger",
                next_step="Ask again: no question is charged twice."
                " If it stays busy, look for a process that hangs.",
            )
        if code in _UNUSABLE:
            return LedgerError(
                f"cannot be opened or written: {self._path}",
                field="ledger",
                next_step="Check that the file and its directory exist and that you may write to both."
                " A copy that you may only read is checked by `anonymaly ledger FILE --verify`.",
            )
        if code in _DISK:
            return LedgerError(
                f"the disk refused to store or return the ledger: {self._path}",
                field="ledger",
                next_step="Check the disk's space and health, then ask again: no question is charged twice.",
            )
        return LedgerDamaged(f"does not verify: {self._path}", field="ledger", next_step=RESTORE)

    def close(self) -> None:
        """Nothing to do: a file is held by its connections alone."""

    def beside(self, suffix: str) -> Path:
        """Return the path of a file that SQLite keeps beside this one."""
        return self._path.with_name(self._path.name + suffix)

    def same_file(self, path: Path) -> bool:
        """Say whether a path leads to the file that is open here."""
        return self._identity is not None and identity_of(path) == self._identity

    def _remember(self) -> None:
        self._identity = identity_of(self._path)


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another, whatever its name, or None if there is none."""
    try:
        return _identity(path)
    except OSError:
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the same; raise an error if the disk does not say."""
    # stat, never open: closing any descriptor of the file would drop SQLite's locks in this process.
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _code(error: DBAPIError) -> int | None:
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def writing_engine(path: Path) -> sa.Engine:
    """Return an engine that reads and writes an existing file."""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?mode=rw",
            uri=True,
            timeout=PATIENCE_SECONDS,
            isolation_level=None,  # or the driver would begin transactions of its own
            check_same_thread=False,  # the session lets one thread in at a time
        )

    engine = sa.create_engine(
        "sqlite+pysqlite://", creator=connect, poolclass=sa.QueuePool, pool_size=1, max_overflow=0
    )
    sa.event.listen(engine, "connect", _set_up)
    sa.event.listen(engine, "begin", _begin)
    return engine


# Setting → its number. synchronous=2 is FULL: a commit is on the disk before it is reported, or a power cut
# would forget charges. fullfsync: on macOS a plain fsync does not reach the disk.
SETTINGS = {"synchronous": 2, "fullfsync": 1, "trusted_schema": 0, "recursive_triggers": 1}


def _set_up(connection: sqlite3.Connection, _record: object) -> None:
    for name, value in SETTINGS.items():
        connection.execute(f"PRAGMA {name}={value}")
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise LedgerError(
            "needs write-ahead logging, which this file system does not offer",
            field="ledger",
            next_step="Keep the ledger on a local disk, or use PostgreSQL.",
        )
    # Read back: SQLite ignores a setting that it does not know or cannot follow.
    found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in SETTINGS}
    if found != SETTINGS:
        raise LedgerError(
            f"may forget charges: SQLite does not follow the settings {SETTINGS}",
            field="ledger",
            next_step="Use a SQLite that does, or PostgreSQL.",
        )


def _fold_journal(engine: sa.Engine) -> None:
    """Bring all that is in the journal into the file, or raise; the file is given its name without it.

    Closing the last connection does the same, but says nothing if the disk refuses: what got its name would
    then be an empty file.
    """
    with contextlib.closing(engine.raw_connection()) as connection:
        try:
            cursor = connection.cursor()
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            row = cursor.fetchone()
        except sqlite3.Error as error:
            raise DBAPIError("wal_checkpoint", None, error) from None
    if row is None or row[0]:
        raise OSError("the journal is in use")


def _begin(connection: sa.Connection) -> None:
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
