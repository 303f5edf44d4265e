# SPDX-License-Identifier: Apache-2.0
"""Copies of what is kept in databases: of SQLite by its own way to copy, of PostgreSQL by pg_dump."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from anonymaly.core.extras import require
from anonymaly.errors import InputError
from anonymaly.ledger.definitions import tables as ledger_tables
from anonymaly.server.state import FLEETING, table_names

BUSY_SECONDS = 60


def copy_sqlite(source: Path, to: Path, *, without: Sequence[str] = ()) -> None:
    """Copy a file as it is at one moment, while others write to it, with what its journal holds.

    ``without`` names tables that are empty in the copy.
    """
    if not source.exists():
        raise InputError(f"there is no file {source}", field="folder", next_step="Check the path.")
    os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    address = f"file:{quote(os.fsencode(source.absolute()))}?mode=rw"
    try:
        with (
            closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reading,
            closing(sqlite3.connect(to)) as writing,
        ):
            reading.backup(writing)
            # Whole in one file: nothing beside it is needed to read it.
            writing.execute("PRAGMA journal_mode=DELETE")
            for name in without:
                writing.execute(f"DELETE FROM {name}")  # noqa: S608  (a name of ours)
            writing.commit()
            if without:
                writing.execute("VACUUM")  # or their bytes stay in the file
    except sqlite3.Error as problem:
        raise InputError(
            f"{source} cannot be copied ({type(problem).__name__})",
            field="folder",
            next_step="Check that it is a file of a server and that this user may read and write it.",
        ) from None


@contextmanager
def snapshot(address: str) -> Iterator[tuple[sa.Connection, Callable[[Path], None]]]:
    """Open one moment of a PostgreSQL database: a connection that sees it, and a way to dump it to a file."""
    require("postgres", "A backup of a PostgreSQL database")
    engine = sa.create_engine(
        "postgresql+psycopg://" + address.partition("://")[2], isolation_level="REPEATABLE READ"
    )
    try:
        with engine.connect() as connection:
            name = str(connection.execute(sa.text("SELECT pg_export_snapshot()")).scalar_one())
            others = _other_tables(connection)
            yield connection, lambda to: _dump(address, name, others, to)
    finally:
        engine.dispose()


def _other_tables(connection: sa.Connection) -> list[str]:
    """Return the tables that are neither a ledger's nor a server's: they may be the rows themselves."""
    own = [*ledger_tables(), *table_names()]
    of = sa.text(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> ALL (:own)"
    )
    return [str(name) for name in connection.execute(of, {"own": own}).scalars()]


def _dump(address: str, moment: str, others: list[str], to: Path) -> None:
    import psycopg  # noqa: PLC0415  (an extra)

    program = shutil.which("pg_dump")
    if program is None:
        raise InputError(
            "a ledger in PostgreSQL is copied by pg_dump, which is not on this machine",
            field="ledger",
            next_step="Install PostgreSQL's client programs (postgresql-client), of the server's version.",
        )
    given: dict[str, Any] = dict(psycopg.conninfo.conninfo_to_dict(address))
    password = given.pop("password", None)  # everybody on a machine sees a command line
    command = [
        program,
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={moment}",
        *(f"--exclude-table={name}" for name in others),
        *(f"--exclude-table-data={name}" for name in FLEETING),
        f"--file={to}",
        f"--dbname={psycopg.conninfo.make_conninfo('', **given)}",
    ]
    environment = {**os.environ, **({} if password is None else {"PGPASSWORD": str(password)})}
    ended = subprocess.run(  # noqa: S603  (a program that the owner installed)
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if ended.returncode:
        said = ended.stderr.decode(errors="replace")
        mismatch = "version mismatch" in said
        raise InputError(
            "pg_dump is older than the server" if mismatch else f"pg_dump ended with {ended.returncode}",
            field="ledger",
            next_step="Install the client programs of the server's version."
            if mismatch
            else "Run pg_dump by hand, as this user, to see what it says.",
        )
    os.chmod(to, 0o600)
