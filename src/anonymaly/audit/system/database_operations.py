# SPDX-License-Identifier: Apache-2.0
"""Counts what a ledger asks of its database, and a question of the database that holds its table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb

from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.operations import Operations

_DUCKDB = ("execute", "register", "sql", "cursor", "table")


def _sqlite_error(words: str) -> BaseException:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR  # what the driver sets, and the ledger reads
    return error


@contextmanager
def database_operations(operations: Operations) -> Iterator[None]:
    """Count connecting, executing, committing, rolling back and closing, in this process.

    A commit is counted twice: before it reaches the database, and when it has happened and is not reported
    yet. Connections that were made before the block are heard where that is possible.
    """

    class Cursor(sqlite3.Cursor):
        def execute(self, *arguments: Any) -> Any:
            operations.step("execute", _sqlite_error)
            return super().execute(*arguments)

        def executemany(self, *arguments: Any) -> Any:
            operations.step("execute", _sqlite_error)
            return super().executemany(*arguments)

    class Connection(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:
            return super().cursor(Cursor)

        def commit(self) -> None:
            operations.step("commit", _sqlite_error)
            super().commit()
            operations.step("commit, done", _sqlite_error)

        def rollback(self) -> None:
            operations.step("roll back", _sqlite_error)
            super().rollback()

        def close(self) -> None:
            super().close()
            operations.step("close", _sqlite_error)

    def connect(*arguments: Any, **named: Any) -> Any:
        operations.step("connect", _sqlite_error)
        return _connect(*arguments, **{"factory": Connection, **named})

    with ExitStack() as stack:
        stack.enter_context(replaced(sqlite3, "connect", connect))
        for name in _DUCKDB:
            owner = duckdb.DuckDBPyConnection
            really = getattr(owner, name)
            counted = _counted(operations, f"DuckDB {name}", really, duckdb.IOException)
            stack.enter_context(replaced(owner, name, counted))
        for owner, name, new in _of_postgres(operations):
            stack.enter_context(replaced(owner, name, new))
        yield


def _counted(
    operations: Operations, name: str, really: Callable[..., Any], error: Callable[[str], BaseException]
) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        operations.step(name, error)
        return really(*arguments, **named)

    return call


def _of_postgres(operations: Operations) -> Iterator[tuple[Any, str, Any]]:
    """Yield what to put where in the driver of PostgreSQL, if it is installed."""
    try:
        import psycopg  # noqa: PLC0415  (an extra)
    except ImportError:
        return

    def gone(connection: Any) -> Callable[[str], BaseException]:
        """Close a connection as a server does that goes away, and return what the driver says then."""

        def error(words: str) -> BaseException:
            connection.pgconn.finish()
            return psycopg.OperationalError(f"server closed the connection unexpectedly {words}")

        return error

    def commit(connection: Any) -> None:
        operations.step("commit", gone(connection))
        with operations.unheard():
            really_commit(connection)
        operations.step("commit, done", gone(connection))

    def rollback(connection: Any) -> None:
        operations.step("roll back", gone(connection))
        with operations.unheard():
            really_roll_back(connection)

    def close(connection: Any) -> None:
        was_open = not connection.closed
        really_close(connection)
        if was_open:
            operations.step("close", psycopg.OperationalError)

    def execute(cursor: Any, *arguments: Any, **named: Any) -> Any:
        operations.step("execute", gone(cursor.connection))
        return really_execute(cursor, *arguments, **named)

    def connect(*arguments: Any, **named: Any) -> Any:
        operations.step("connect", psycopg.OperationalError)
        return really_connect(*arguments, **named)

    really_connect, really_execute = psycopg.connect, psycopg.Cursor.execute
    connection = psycopg.Connection
    really_commit, really_roll_back, really_close = connection.commit, connection.rollback, connection.close
    yield psycopg, "connect", connect
    yield psycopg.Cursor, "execute", execute
    for name, new in (("commit", commit), ("rollback", rollback), ("close", close)):
        yield connection, name, new


_connect = sqlite3.connect
