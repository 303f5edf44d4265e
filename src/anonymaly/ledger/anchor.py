# SPDX-License-Identifier: Apache-2.0
"""The head of the chain, kept in a second place.

A chain shows an edited entry but not a restored old copy, which is a perfect chain that ends early. The
anchor is a small file elsewhere (another disk, another machine's share) that says how far the chain went.
If the anchor is ahead, the ledger stays locked until the owner opens a new epoch.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from anonymaly.core.files import sync_folder
from anonymaly.errors import LedgerBehindAnchor, LedgerError
from anonymaly.ledger.book import end, list_reservations
from anonymaly.ledger.records import Head
from anonymaly.ledger.schema import accounts, entries
from anonymaly.ledger.transaction import Transaction

if sys.platform != "win32":
    import fcntl

_NEXT_STEP = (
    "Bring back the newest copy of the ledger; if it is lost, the owner opens a new epoch with nothing"
    " remaining: `anonymaly ledger MANIFEST --new-epoch`, or Ledger.open_epoch(location, anchor=...)."
)
_EVER_ANCHORED = (
    sa.select(entries.c.seq).where(entries.c.account.is_(None), entries.c.kind == "anchor").limit(1)
)


class Anchor:
    """A file that only moves forward."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._known = (-1, -1)
        if sys.platform == "win32":
            raise LedgerError(
                "needs POSIX file locks, which Windows does not have",
                field="anchor",
                next_step="Leave the anchor out, or use the ledger on Linux or macOS.",
            )
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise LedgerError(
                f"must be a file in an existing directory, got {self._path}",
                field="anchor",
                next_step="Give a file on another disk than the ledger's, such as data.anchor.",
            )

    def exists(self) -> bool:
        """Say whether anything was anchored here."""
        return self._path.exists()

    def read(self) -> Head | None:
        """Return what is anchored, or None if there is no such file."""
        try:
            text = self._path.read_text(encoding="utf-8")
            content = json.loads(text)
            anchored = Head(
                ledger=str(content["ledger"]),
                epoch=int(content["epoch"]),
                seq=int(content["seq"]),
                hash=str(content["hash"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError):
            raise behind(f"the anchor cannot be read: {self._path}") from None
        return anchored

    def refuse_if_behind(self, head: Head) -> None:
        """Raise unless the head, locked by the caller, is at or past the anchor.

        The anchor is written after the ledger, so under the ledger's lock it can never be ahead.
        """
        anchored = self.read()
        if anchored is None:
            raise behind(f"the anchor is missing: {self._path}")
        if anchored.ledger != head.ledger:
            raise behind("the anchor is another ledger's")
        if anchored.epoch != head.epoch:
            raise behind(f"the ledger is in epoch {head.epoch} and was anchored in epoch {anchored.epoch}")
        if anchored.seq > head.seq:
            raise behind(
                f"the ledger ends at entry {head.seq} and was anchored at entry {anchored.seq}:"
                " it is an older copy"
            )
        if anchored.seq == head.seq and anchored != head:
            raise behind(f"entry {head.seq} is not the one that was anchored")

    def advance(self, head: Head, *, replace: bool = False) -> None:
        """Write the head durably, unless a later one is written already.

        ``replace`` is for the owner's new epoch, which replaces an anchor that the ledger cannot reach.
        """
        if (head.epoch, head.seq) <= self._known and not replace:
            return
        try:
            with self._locked():
                anchored = None if replace else self.read()
                if anchored is None or (anchored.epoch, anchored.seq) < (head.epoch, head.seq):
                    self._write(head)
                    anchored = head
        except OSError as error:
            raise LedgerError(
                f"the anchor cannot be written: {self._path} ({type(error).__name__});"
                " what was charged stands",
                field="anchor",
                next_step="Make the anchor's directory writable and ask again: no question is charged twice.",
            ) from None
        self._known = (anchored.epoch, anchored.seq)

    def _write(self, head: Head) -> None:
        private = self._path.with_name(self._path.name + ".new")
        with open(private, "w", encoding="utf-8", opener=_for_its_owner_alone) as file:
            file.write(json.dumps(head.to_dict()) + "\n")
            file.flush()
            os.fsync(file.fileno())
        private.replace(self._path)
        sync_folder(self._path.parent)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # On a file of its own, because the anchor itself is replaced. The lock ends with the process.
        lock = self._path.with_name(self._path.name + ".lock")
        with open(lock, "a", encoding="utf-8", opener=_for_its_owner_alone) as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def behind(problem: str) -> LedgerBehindAnchor:
    """Return the error that locks a ledger, with the owner's way out."""
    return LedgerBehindAnchor(problem, field="anchor", next_step=_NEXT_STEP)


def refuse_if_anchored(connection: sa.Connection) -> None:
    """Raise if this ledger has an anchor and was opened without it: an old copy would pass unseen."""
    if connection.execute(_EVER_ANCHORED).first():
        raise LedgerBehindAnchor(
            "this ledger is anchored and must be opened with its anchor",
            field="anchor",
            next_step="Give anchor=, the file that its head is written to.",
        )


def settle_anchor(transaction: Transaction, anchor: Anchor) -> Head:
    """Check the ledger against its anchor, or begin to anchor it; return the head to be anchored."""
    head = transaction.head
    anchored_before = transaction.connection.execute(_EVER_ANCHORED).first() is not None
    if not anchored_before and not anchor.exists():
        # The file first: after a crash in between, the next opening finds it and goes on from here.
        anchor.advance(head)
    _refuse_another_history(transaction.connection, anchor, head)
    if not anchored_before:
        transaction.append("anchor", None, {})
    return transaction.head


def begin_epoch(transaction: Transaction, anchor: Anchor) -> Head:
    """Spend all that remains, end what is open, and begin again here; return the head to be anchored.

    What the lost entries charged is unknown, so nothing may remain. An open reservation may have been
    answered in the lost entries; computing it again would be a second answer, so it ends as failed.
    """
    connection = transaction.connection
    try:
        _refuse_another_history(connection, anchor, transaction.head)
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
        for reservation in list_reservations(connection, name):
            if reservation.state == "reserved":
                end(transaction, reservation, "failed", {"stage": "epoch", "error": "LedgerBehindAnchor"})
    connection.execute(accounts.update().values(spent=accounts.c.limit))
    epoch = max(transaction.head.epoch, _epoch_of(anchor)) + 1
    transaction.append("epoch", None, {"epoch": epoch, "accounts": limits})
    return transaction.head


def _refuse_another_history(connection: sa.Connection, anchor: Anchor, head: Head) -> None:
    """Raise LedgerBehindAnchor unless the chain passes through the anchor."""
    anchor.refuse_if_behind(head)
    anchored = anchor.read()
    if anchored is None or anchored.seq == 0:
        return
    found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == anchored.seq)).scalar()
    if found != anchored.hash:
        raise behind(f"entry {anchored.seq} is not the one that was anchored")


def _epoch_of(anchor: Anchor) -> int:
    try:
        anchored = anchor.read()
    except LedgerBehindAnchor:
        return 0
    return 0 if anchored is None else anchored.epoch


def _for_its_owner_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
