# SPDX-License-Identifier: Apache-2.0
"""What must hold before a ledger may be used, and the owner's way out when its anchor is ahead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from anonymaly.errors import LedgerBehindAnchor, LedgerDamaged, LedgerError
from anonymaly.ledger.anchor import NEXT_STEP, Anchor
from anonymaly.ledger.book import end, list_reservations
from anonymaly.ledger.postgres import SCHEMES, PostgresBackend
from anonymaly.ledger.records import Head
from anonymaly.ledger.schema import accounts, entries
from anonymaly.ledger.session import RESTORE, Backend
from anonymaly.ledger.sqlite import SqliteBackend
from anonymaly.ledger.transaction import Transaction
from anonymaly.ledger.verify import check

_EVER_ANCHORED = (
    sa.select(entries.c.seq).where(entries.c.account.is_(None), entries.c.kind == "anchor").limit(1)
)


def choose_backend(location: str | Path) -> Backend:
    """Tell a file from a PostgreSQL URL."""
    if isinstance(location, Path):
        return SqliteBackend(location)
    scheme, separator, _ = location.partition("://")
    if separator and scheme in SCHEMES:
        return PostgresBackend(location)
    if separator or not location.strip():
        # The location itself is not repeated: a URL may hold a password.
        raise LedgerError(
            "must be a file or a PostgreSQL URL",
            field="ledger",
            next_step="Write data.ledger, or postgresql://user@host:5432/database.",
        )
    return SqliteBackend(Path(location))


def refuse_new_if_anchored(anchor: Anchor | None) -> Callable[[], None]:
    """Return the check before a new ledger is made: an anchor without its ledger is a lost ledger."""

    def refuse() -> None:
        if anchor is not None and anchor.exists():
            raise LedgerBehindAnchor(
                "the ledger is gone, and its anchor says that there was one",
                field="anchor",
                next_step=NEXT_STEP,
            )

    return refuse


def refuse_damaged(connection: sa.Connection, backend: Backend) -> None:
    """Raise LedgerDamaged unless file, triggers, chain and sums all verify."""
    found = check(connection, backend)
    if not found.ok:
        raise LedgerDamaged(
            f"does not verify: {backend.describe()}: {'; '.join(found.problems)}",
            field="ledger",
            next_step=RESTORE,
        )


def refuse_if_anchored(connection: sa.Connection) -> None:
    """Raise if this ledger has an anchor and was opened without it: an old copy would pass unseen."""
    if connection.execute(_EVER_ANCHORED).first():
        raise LedgerError(
            "this ledger is anchored and must be opened with its anchor",
            field="anchor",
            next_step="Give anchor=, the file that its head is written to.",
        )


def settle_anchor(transaction: Transaction, anchor: Anchor) -> None:
    """Check the ledger against its anchor, or begin to anchor it."""
    head = transaction.head
    anchored_before = transaction.connection.execute(_EVER_ANCHORED).first() is not None
    if not anchored_before and not anchor.exists():
        # The file first: after a crash in between, the next opening finds it and goes on from here.
        anchor.advance(head)
    refuse_if_not_anchored_at(transaction.connection, anchor, head)
    if not anchored_before:
        transaction.append("anchor", None, {})


def refuse_if_not_anchored_at(connection: sa.Connection, anchor: Anchor, head: Head) -> None:
    """Raise LedgerBehindAnchor unless the chain passes through the anchor."""
    anchor.refuse_if_behind(head)
    anchored = anchor.read()
    if anchored is None or anchored.seq == 0:
        return
    found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == anchored.seq)).scalar()
    if found != anchored.hash:
        raise LedgerBehindAnchor(
            f"entry {anchored.seq} is not the one that was anchored", field="anchor", next_step=NEXT_STEP
        )


def begin_epoch(transaction: Transaction, anchor: Anchor) -> None:
    """Spend all that remains, end what is open, and begin again from here.

    What the lost entries charged is unknown, so nothing may remain. An open reservation may have been
    answered in the lost entries; computing it again would be a second answer, so it ends as failed.
    """
    connection = transaction.connection
    try:
        refuse_if_not_anchored_at(connection, anchor, transaction.head)
    except LedgerBehindAnchor:
        pass
    else:
        raise LedgerError(
            "the ledger is not behind its anchor; a new epoch would spend all that remains for nothing",
            field="anchor",
            next_step="Open it as usual.",
        )
    limits = {
        row.name: row.limit for row in connection.execute(sa.select(accounts).order_by(accounts.c.name))
    }
    for name in limits:
        for reservation in list(list_reservations(connection, transaction.head.ledger, name)):
            if reservation.state == "reserved":
                end(transaction, reservation, "failed", {"stage": "epoch", "error": "LedgerBehindAnchor"})
    connection.execute(accounts.update().values(spent=accounts.c.limit))
    epoch = max(transaction.head.epoch, _epoch_of(anchor)) + 1
    transaction.append("epoch", None, {"epoch": epoch, "accounts": limits})


def _epoch_of(anchor: Anchor) -> int:
    try:
        anchored = anchor.read()
    except LedgerBehindAnchor:
        return 0
    return 0 if anchored is None else anchored.epoch
