# SPDX-License-Identifier: Apache-2.0
"""Opening: find the ledger or make it, check it, and check it against its anchor."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from anonymaly.errors import LedgerError, LedgerMissing
from anonymaly.ledger.anchor import Anchor, gone
from anonymaly.ledger.checkpoint import write_checkpoint
from anonymaly.ledger.epoch import begin_epoch, refuse_another_history, refuse_if_anchored, settle_anchor
from anonymaly.ledger.postgres import SCHEMES, PostgresBackend
from anonymaly.ledger.readonly import SqliteCopy
from anonymaly.ledger.session import Backend, Session
from anonymaly.ledger.sqlite import SqliteBackend
from anonymaly.ledger.transaction import read_head
from anonymaly.ledger.verify import refuse_if_damaged

# An address with a slash too few, which would be taken for a path and shown with its password.
_MISTYPED = re.compile(rf"(?:^|/)(?:{'|'.join(map(re.escape, SCHEMES))}):(?!//)")


def connect(
    location: str | Path, anchor: str | Path | None, *, create: bool, new_epoch: bool = False
) -> Session:
    """Make the ledger if it may be made, check it, and check it against its anchor."""
    kept = None if anchor is None else Anchor(Path(anchor))
    # Asked before the ledger is looked for: another process makes the ledger first and its anchor second.
    anchored = kept is not None and kept.exists()
    backend = choose_backend(location)
    try:
        backend.install(create=create and not anchored)
    except LedgerMissing:
        if not create:
            raise
        raise gone() from None
    session = Session(backend)
    try:
        checked = session.read(refuse_if_damaged, backend)
        if kept is None:
            session.read(refuse_if_anchored)
        else:
            now = session.write(begin_epoch if new_epoch else settle_anchor, kept)
            kept.advance(now, replace=new_epoch)
            session.anchor = kept
        if checked is not None:
            # It only saves time at the next opening: a full disk must not keep answers from readers.
            with suppress(LedgerError):
                session.write(write_checkpoint, checked)
    except BaseException:
        session.give_up()
        raise
    return session


def connect_to_read(location: str | Path, anchor: str | Path | None) -> Session:
    """Open a ledger, or a copy of one, without writing; compare it with its anchor if one is given."""
    backend = choose_backend(location)
    if isinstance(backend, SqliteBackend):
        backend = SqliteCopy(Path(location))
    backend.install(create=False)
    session = Session(backend, read_only=True)
    if anchor is None:
        return session
    try:
        session.read(_refuse_if_behind, Anchor(Path(anchor)))
    except BaseException:
        session.give_up()
        raise
    return session


def _refuse_if_behind(connection: sa.Connection, anchor: Anchor) -> None:
    refuse_another_history(connection, anchor, read_head(connection))


def choose_backend(location: str | Path) -> Backend:
    """Tell a file from a PostgreSQL URL."""
    if isinstance(location, Path):
        return SqliteBackend(location)
    scheme, separator, _ = location.partition("://")
    if separator and scheme in SCHEMES:
        return PostgresBackend(location)
    if separator or not location.strip() or _MISTYPED.search(location):
        # The location itself is not repeated: a URL may hold a password.
        raise LedgerError(
            "must be a file or a PostgreSQL URL",
            field="ledger",
            next_step="Write data.ledger, or postgresql://user@host:5432/database.",
        )
    return SqliteBackend(Path(location))
