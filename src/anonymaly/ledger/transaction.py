# SPDX-License-Identifier: Apache-2.0
"""One writing transaction: charge, append to the chain, move the head."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.errors import LedgerDamaged
from anonymaly.ledger.records import Entry, Head
from anonymaly.ledger.schema import FORMAT, HEAD, HeadQuery, accounts, analysts, entries, heads

# Not that nothing was spent: this is also said when the answer to a charged question is to be recorded.
RESTORE = "What was charged stands. Restore the ledger from a backup, or ask the owner what changed it."

_ZEROS = "0" * 64
_CHARGE_ACCOUNT = (
    accounts.update()
    .where(
        accounts.c.name == sa.bindparam("of_account"),
        accounts.c.spent + sa.bindparam("cost", type_=sa.BigInteger) <= accounts.c.limit,
    )
    .values(spent=accounts.c.spent + sa.bindparam("cost", type_=sa.BigInteger))
)
_CHARGE_ANALYST = (
    analysts.update()
    .where(
        analysts.c.account == sa.bindparam("of_account"),
        analysts.c.analyst == sa.bindparam("of_analyst"),
        sa.or_(
            analysts.c.limit.is_(None),
            analysts.c.spent + sa.bindparam("cost", type_=sa.BigInteger) <= analysts.c.limit,
        ),
    )
    .values(spent=analysts.c.spent + sa.bindparam("cost", type_=sa.BigInteger))
)
_APPEND = entries.insert()
_MOVE_HEAD = (
    heads.update()
    .where(heads.c.seq == sa.bindparam("old_seq"), heads.c.hash == sa.bindparam("old_hash"))
    .values(epoch=sa.bindparam("new_epoch"), seq=sa.bindparam("new_seq"), hash=sa.bindparam("new_hash"))
)
_ANALYST = sa.select(analysts.c.limit, analysts.c.spent).where(
    analysts.c.account == sa.bindparam("of_account"), analysts.c.analyst == sa.bindparam("of_analyst")
)


def genesis(ledger: str) -> str:
    """Return what stands in for the previous hash before the first entry.

    The ledger's identity is part of it, so that no entry of one ledger can be shown as another's.
    """
    return _ZEROS + ledger


def link(previous: str, seq: int, text: str) -> str:
    """Return SHA-256 of the previous hash, the number and the canonical text, one per line.

    Examples
    --------
    >>> link(genesis("a"), 1, '{"kind":"open"}')[:16]
    '7eed7671490f44b6'
    """
    return hashlib.sha256(f"{previous}\n{seq}\n{text}".encode()).hexdigest()


def first_head() -> Head:
    """Return the head of a ledger that is about to be created."""
    ledger = uuid.uuid4().hex
    return Head(ledger=ledger, epoch=0, seq=0, hash=genesis(ledger))


def read_head(connection: sa.Connection, query: HeadQuery = HEAD) -> Head:
    """Return the head, if it is one that this version writes."""
    row = connection.execute(query).first()
    if row is None or row.format != FORMAT:
        raise LedgerDamaged(
            "has no head that this version can read",
            field="ledger",
            next_step="Use the version of anonymaly that wrote it, or restore the ledger from a backup.",
        )
    return Head(ledger=row.ledger, epoch=row.epoch, seq=row.seq, hash=row.hash)


def read_entry(row: Any) -> Entry:
    """Return an entry from its row; only its body and hash are trusted."""
    body = json.loads(row.body)
    return Entry(
        seq=row.seq,
        kind=body["kind"],
        account=body["account"],
        time=body["time"],
        data=body["data"],
        hash=row.hash,
    )


def read_entries(connection: sa.Connection, account: str | None) -> list[Entry]:
    """Return entries in order: all, or those of an account with the epochs that concern every account."""
    query = sa.select(entries).order_by(entries.c.seq)
    if account is not None:
        query = query.where(sa.or_(entries.c.account == account, entries.c.kind == "epoch"))
    return [read_entry(row) for row in connection.execute(query)]


class Transaction:
    """One writer, alone at the head of the chain until its transaction ends."""

    def __init__(self, connection: sa.Connection, head: Head) -> None:
        self.connection = connection
        self.head = head
        self._first = head

    def append(self, kind: str, account: str | None, data: dict[str, Any]) -> Entry:
        """Append an entry to the chain."""
        # The time is for readers; a clock that jumps changes neither the order nor the chain.
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        text = canonical_json({"kind": kind, "account": account, "time": time, "data": data})
        seq = self.head.seq + 1
        hashed = link(self.head.hash, seq, text)
        row = {"seq": seq, "account": account, "kind": kind, "body": text, "hash": hashed}
        self.connection.execute(_APPEND, row)
        epoch = data["epoch"] if kind == "epoch" else self.head.epoch
        self.head = Head(ledger=self.head.ledger, epoch=epoch, seq=seq, hash=hashed)
        return Entry(seq=seq, kind=kind, account=account, time=time, data=data, hash=hashed)

    def charge_account(self, account: str, cost: int) -> bool:
        """Add to what the account spent if its limit allows; say whether it did."""
        result = self.connection.execute(_CHARGE_ACCOUNT, {"of_account": account, "cost": cost})
        return result.rowcount == 1

    def charge_analyst(self, account: str, analyst: str, cost: int) -> bool:
        """Add to what the analyst spent if a limit of their own allows; say whether it did."""
        values = {"of_account": account, "of_analyst": analyst, "cost": cost}
        if self.connection.execute(_CHARGE_ANALYST, values).rowcount == 1:
            return True
        if self.analyst(account, analyst) is not None:
            return False
        row = {"account": account, "analyst": analyst, "limit": None, "spent": 0}
        self.connection.execute(analysts.insert(), row)
        return self.connection.execute(_CHARGE_ANALYST, values).rowcount == 1

    def analyst(self, account: str, analyst: str) -> tuple[int | None, int] | None:
        """Return an analyst's limit and spent, or None before the first charge."""
        row = self.connection.execute(_ANALYST, {"of_account": account, "of_analyst": analyst}).first()
        return None if row is None else (row.limit, row.spent)

    def finish(self) -> None:
        """Move the head to the last entry."""
        if self.head == self._first:
            return
        # Compared with the head this writer began from: a second writer would find no row.
        values = {"new_epoch": self.head.epoch, "new_seq": self.head.seq, "new_hash": self.head.hash}
        before = {"old_seq": self._first.seq, "old_hash": self._first.hash}
        if self.connection.execute(_MOVE_HEAD, {**values, **before}).rowcount != 1:
            raise LedgerDamaged(
                "had two writers at once: its locks do not hold",
                field="ledger",
                next_step="What was charged stands. Keep the ledger on a local disk, or use PostgreSQL.",
            )
