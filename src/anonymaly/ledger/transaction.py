# SPDX-License-Identifier: Apache-2.0
"""One writing transaction: charge, append to the chain, move the head."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.errors import LedgerDamaged, LedgerTooNew
from anonymaly.ledger.records import Entry, Head
from anonymaly.ledger.schema import (
    FORMAT,
    HEAD,
    WITH_TERMS,
    HeadQuery,
    accounts,
    analysts,
    counters,
    entries,
    heads,
)

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
_NEWEST = sa.select(entries.c.body).where(entries.c.seq == sa.select(heads.c.seq).scalar_subquery())
_MORE = counters.c.used + sa.bindparam("more", type_=sa.BigInteger)
_OF_COUNTER = (counters.c.account == sa.bindparam("of_account"), counters.c.name == sa.bindparam("of_name"))
_COUNT = (
    counters.update()
    .where(
        *_OF_COUNTER,
        counters.c.limit >= _MORE,
        sa.bindparam("given", type_=sa.BigInteger) >= _MORE,
    )
    .values(used=_MORE)
)
_COUNTER = sa.select(counters.c.limit, counters.c.used).where(*_OF_COUNTER)


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
    """Return the head, if its ledger is one that this version can read."""
    return read_head_and_format(connection, query)[0]


def read_head_and_format(connection: sa.Connection, query: HeadQuery = HEAD) -> tuple[Head, int]:
    """Return the head and the ledger's format."""
    row = connection.execute(query).first()
    if row is not None:
        refuse_later(row.format)
    if row is None or row.format < 1:
        raise LedgerDamaged("has no head that this version can read", field="ledger", next_step=RESTORE)
    return Head(ledger=row.ledger, epoch=row.epoch, seq=row.seq, hash=row.hash), row.format


def found_format(connection: sa.Connection) -> int:
    """Return the format of a ledger whose head is there, or raise if it is a later one."""
    found = connection.execute(sa.select(heads.c.format)).scalar()
    if found is None:
        return FORMAT
    refuse_later(found)
    return int(found)


def refuse_later(found: int) -> None:
    """Raise if a ledger has a later format than this version knows."""
    if found > WITH_TERMS:
        raise LedgerTooNew(
            f"was written by a later version of anonymaly (format {found}; this one reads up to "
            f"{WITH_TERMS})",
            field="ledger",
            next_step="Install that version: pip install --upgrade anonymaly.",
        )


def clock() -> datetime:
    """Return this host's time."""
    return datetime.now(UTC)


def moment(connection: sa.Connection) -> datetime:
    """Return this host's time, but none before the newest entry's.

    A clock that was set back neither renews a period twice nor lets go on what has ended.
    """
    newest = connection.execute(_NEWEST).scalar()
    now = clock()
    return now if newest is None else max(now, datetime.fromisoformat(json.loads(newest)["time"]))


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
    """One writer, alone at the head of the chain until its transaction ends.

    The first entry that is written into a ledger of an earlier format brings it to this one, in the same
    transaction; so looking at a ledger never changes it. ``creating`` returns the statements of what is new
    since a format.
    """

    def __init__(
        self,
        connection: sa.Connection,
        head: Head,
        found_format: int,
        creating: Callable[[int], list[str]],
    ) -> None:
        self.connection = connection
        self.head = head
        self.format = found_format
        self._creating = creating
        self._first = head

    def upgrade(self, to: int = FORMAT) -> None:
        """Bring the ledger to a format, unless it is there; all or nothing, as the transaction is."""
        if self.format >= to:
            return
        before, self.format = self.format, to
        for statement in self._creating(before):
            self.connection.exec_driver_sql(statement)
        self.connection.execute(heads.update().values(format=to))
        self._append("upgrade", None, {"from": before, "to": to})

    def append(self, kind: str, account: str | None, data: dict[str, Any]) -> Entry:
        """Append an entry to the chain."""
        self.upgrade()
        return self._append(kind, account, data)

    def _append(self, kind: str, account: str | None, data: dict[str, Any]) -> Entry:
        # A clock that jumps changes neither the order nor the chain; nor, by one entry, when terms end.
        now = moment(self.connection) if self.format >= WITH_TERMS else clock()
        time = now.isoformat(timespec="milliseconds")
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

    def count(self, account: str, name: str, limit: int, by: int) -> bool:
        """Add to what a counter used if its limit, and the one that is given, allow; say whether it did."""
        values = {"of_account": account, "of_name": name, "given": limit, "more": by}
        return self.connection.execute(_COUNT, values).rowcount == 1

    def counter(self, account: str, name: str) -> tuple[int, int] | None:
        """Return a counter's limit and what of it is used, or None before its first use."""
        row = self.connection.execute(_COUNTER, {"of_account": account, "of_name": name}).first()
        return None if row is None else (row.limit, row.used)

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
