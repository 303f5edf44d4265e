# SPDX-License-Identifier: Apache-2.0
"""One connection, one transaction at a time, never shared across a fork."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from anonymaly.core.shut_for_fork import ShutForFork
from anonymaly.errors import AnonymalyError, LedgerDamaged, LedgerError
from anonymaly.ledger.anchor import Anchor, Anchored
from anonymaly.ledger.epoch import read_terms
from anonymaly.ledger.schema import HeadQuery
from anonymaly.ledger.transaction import RESTORE, Transaction, read_head_and_format

PATIENCE_SECONDS = 60  # 64 processes that all write at once need one or two
MOST_RECONNECTS = 3
READ_ONLY = "anonymaly_read_only"

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Backend(Protocol):
    """What differs between SQLite and PostgreSQL."""

    def describe(self) -> str:
        """Return the location for messages, without a password."""

    def engine(self) -> sa.Engine:
        """Return an engine whose pool holds one connection."""

    def install(self, *, create: bool) -> None:
        """Create the tables if there are none; safe when many processes do so at once.

        Raises LedgerMissing if there is no ledger and ``create`` is False.
        """

    def head_query(self) -> HeadQuery:
        """Return the statement that reads the head and keeps other writers out."""

    def creating(self, after: int) -> list[str]:
        """Return the statements that create what is new since a format."""

    def confirm(self) -> None:
        """Raise if what the connection writes to is no longer what others open."""

    def structure_problems(self, connection: sa.Connection) -> list[str]:
        """Say what is wrong with the tables, constraints and triggers; raise if the format is a later one."""

    def page_problems(self, connection: sa.Connection, *, thorough: bool) -> list[str]:
        """Say what is wrong with the file, in time that grows with it; more of it if thorough."""

    def busy(self, error: DBAPIError) -> bool:
        """Say whether another writer was in the way, so that nothing happened and waiting helps."""

    def translate(self, error: DBAPIError) -> AnonymalyError:
        """Say what happened in our own words; the driver's could hold values or a password."""

    def close(self) -> None:
        """Let go of what is held beside connections."""


class Session:
    """Runs whole transactions; repeats those that never began or whose connection broke.

    Every transaction of the ledger may be repeated: a charge is found by its key, a commit by its
    reservation. So a connection lost during COMMIT, when nobody knows the outcome, is no special case.
    That is why work arrives as a function: it may be called more than once.
    """

    def __init__(self, backend: Backend, *, read_only: bool = False) -> None:
        self.backend = backend
        self._read_only = read_only
        self.anchor: Anchor | None = None  # set once ledger and anchor are known to agree
        self._engine = backend.engine()
        self._gate = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        _sessions.add(self)

    def read(
        self,
        work: Callable[Concatenate[sa.Connection, Given], Result],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        """Call ``work`` with a connection that sees one unchanging snapshot of the ledger."""
        return self._repeat(lambda connection: work(connection, *given, **named), read_only=True)

    def write(
        self,
        work: Callable[Concatenate[Transaction, Given], Result],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        """Call ``work`` as the only writer; return once its changes are on the disk and anchored."""
        if self._read_only:
            raise LedgerError(
                f"is open for an audit only: {self.backend.describe()}",
                field="ledger",
                next_step="Open it with Ledger.open to write to it.",
            )

        def write(connection: sa.Connection) -> tuple[Result, Anchored | None]:
            head, found_format = read_head_and_format(connection, self.backend.head_query())
            transaction = Transaction(connection, head, found_format, self.backend.creating)
            self.backend.confirm()
            if self.anchor is not None:
                self.anchor.refuse_if_behind(transaction.head)
            result = work(transaction, *given, **named)
            transaction.finish()
            if self.anchor is None or self.anchor.holds(transaction.head):
                return result, None
            return result, Anchored(transaction.head, read_terms(connection))

        result, now = self._repeat(write, read_only=False)
        if self.anchor is not None and now is not None:
            # Also when nothing was appended: what is found may be a killed writer's, not anchored yet.
            self.anchor.advance(now)
        return result

    def close(self) -> None:
        """Close the connection; a closed session refuses work."""
        with self._gate:
            self._closed = True
            try:
                self._engine.dispose()
            finally:
                self.backend.close()

    def drop(self) -> None:
        """Close it when its ledger is garbage, without waiting.

        Python may find that out inside another ledger's transaction, in any thread. Nobody but a fork can be
        at this gate then; it closes the connection, and waits for the other ledger.
        """
        self._closed = True
        if self._gate.acquire(blocking=False):
            try:
                for close in (self._engine.dispose, self.backend.close):
                    with suppress(Exception):  # nobody is there to see it
                        close()
            finally:
                self._gate.release()

    def give_up(self) -> None:
        """Close it because something else went wrong, which a failure to close must not hide."""
        with suppress(Exception):
            self.close()

    def _repeat(self, work: Callable[[sa.Connection], Result], *, read_only: bool) -> Result:
        try:
            return self._until_done(work, read_only=read_only)
        except OSError as error:
            raise LedgerError(
                f"the system refused to read or write it: {self.backend.describe()} ({type(error).__name__})",
                field="ledger",
                next_step="Check the disk's health, then ask again: no question is charged twice.",
            ) from None
        except (UnicodeDecodeError, json.JSONDecodeError):
            # Flipped bytes in a text: SQLite's driver stumbles before it can name an error code.
            raise LedgerDamaged(
                f"does not verify: {self.backend.describe()}", field="ledger", next_step=RESTORE
            ) from None

    def _until_done(self, work: Callable[[sa.Connection], Result], *, read_only: bool) -> Result:
        deadline = time.monotonic() + PATIENCE_SECONDS
        reconnects = 0
        while True:
            try:
                return self._attempt(work, read_only=read_only)
            except DBAPIError as error:
                # A connection that broke in use is worth another; one that could not be made is not.
                reconnects += error.connection_invalidated
                broken = error.connection_invalidated and reconnects <= MOST_RECONNECTS
                if not (broken or (self.backend.busy(error) and time.monotonic() < deadline)):
                    raise self.backend.translate(error) from None
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - spreads retries, decides nothing

    def _attempt(self, work: Callable[[sa.Connection], Result], *, read_only: bool) -> Result:
        with self._gate:
            if self._closed:
                raise LedgerError("is closed", field="ledger", next_step="Open it again.")
            if self._process != os.getpid():
                self._abandon()
            with self._engine.connect() as connection:
                connection.execution_options(**{READ_ONLY: read_only})
                with connection.begin():
                    return work(connection)

    def _abandon(self) -> None:
        """Leave a parent's connection alone: closing it here would end the parent's."""
        _abandoned.append(self._engine.pool)
        self._engine.dispose(close=False)
        self._process = os.getpid()

    @property
    def closed(self) -> bool:
        """Whether it refuses work."""
        return self._closed

    def before_fork(self) -> None:
        """Let the transaction under way end, then close: a child must not inherit a connection.

        SQLite's locks belong to the process, and its memory of them would be wrong in the child.
        """
        self._gate.acquire()
        with suppress(Exception):  # an error here would leave the gate shut for ever
            self._engine.dispose()

    def after_fork(self) -> None:
        """Go on, in the parent and in the child, each with a connection of its own."""
        self._process = os.getpid()
        self._gate.release()

    def renew_lock(self) -> None:
        """Open the gate in a child, whatever thread of its parent was in it."""
        self._gate = threading.Lock()


_sessions: ShutForFork[Session] = ShutForFork("ledger")
_abandoned: list[sa.Pool] = []


def open_sessions() -> list[Session]:
    """Return the sessions of this process that are not closed."""
    return [session for session in _sessions if not session.closed]
