# SPDX-License-Identifier: Apache-2.0
"""Verification: recompute every hash and sum from the entries alone, and compare it with the tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from anonymaly.errors import LedgerDamaged
from anonymaly.ledger.book import find_reservation
from anonymaly.ledger.checkpoint import EVERY, Checkpoint, read_checkpoint
from anonymaly.ledger.compare import compare
from anonymaly.ledger.records import Head, Receipt, Verification
from anonymaly.ledger.recount import Recount
from anonymaly.ledger.schema import entries
from anonymaly.ledger.session import Backend
from anonymaly.ledger.sums import ImpossibleError
from anonymaly.ledger.transaction import RESTORE, genesis, link, read_head_and_format

MOST_PROBLEMS = 20
UNKNOWN_HEAD = Head(ledger="", epoch=0, seq=0, hash="")


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found, and how far the next one may trust it."""

    verification: Verification
    checkpoint: Checkpoint | None = None  # None unless all is well


def check(connection: sa.Connection, backend: Backend, *, everything: bool = True) -> Found:
    """Check file, tables, triggers, chain and sums, in one snapshot of the ledger.

    Unless everything is asked for, the chain is followed from the entry up to which it was checked before.
    """
    problems = backend.structure_problems(connection)
    if problems:
        return Found(unreadable(*problems[:MOST_PROBLEMS]))
    head, found_format = read_head_and_format(connection)
    checked = read_checkpoint(connection) if found_format > 1 else None
    start = None if everything else checked
    problems = backend.page_problems(connection, thorough=start is None)
    if problems:
        return Found(unreadable(*problems[:MOST_PROBLEMS]))
    try:
        walk = Walk(head, start)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Found(unreadable("what was written down when the ledger was checked cannot be read"))
    problem = walk.follow(connection, checked)
    if problem:
        problems = [problem]
    else:
        if walk.last != head:
            problems = [f"the head says entry {head.seq}, the chain ends at entry {walk.last.seq}"]
        if walk.recount.format > found_format:
            problems.append(f"the head says format {found_format}, its entries {walk.recount.format}")
        problems += compare(connection, walk.recount, found_format, since=walk.first.seq)
    verification = Verification(
        entries=walk.last.seq,
        head=head,
        spent={name: item.spent for name, item in walk.recount.accounts.items()},
        problems=tuple(problems[:MOST_PROBLEMS]),
        format=found_format,
    )
    if problems or found_format == 1:
        return Found(verification)
    return Found(verification, Checkpoint(head.seq, head.hash, walk.recount.sums()))


def unreadable(*problems: str) -> Verification:
    """Return what is found of a ledger whose entries cannot be read."""
    return Verification(entries=0, head=UNKNOWN_HEAD, spent={}, problems=problems)


def refuse_if_damaged(connection: sa.Connection, backend: Backend) -> Checkpoint | None:
    """Raise LedgerDamaged unless all that opening checks is well.

    Returns how far the chain is checked now, if that is so much further than before that it is to be written.
    """
    found = check(connection, backend, everything=False)
    if not found.verification.ok:
        raise LedgerDamaged(
            f"does not verify: {backend.describe()}: {'; '.join(found.verification.problems)}",
            field="ledger",
            next_step=RESTORE,
        )
    if found.checkpoint is None:
        return None
    before = read_checkpoint(connection)
    return found.checkpoint if found.checkpoint.seq - (before.seq if before else 0) >= EVERY else None


def check_receipt(connection: sa.Connection, receipt: Receipt) -> bool:
    """Say whether a receipt is for a charge, and an answer, that stand in this ledger."""
    found = find_reservation(connection, receipt.account, receipt.key)
    if found is None or not _linked(connection, found.ledger, found.seq):
        return False
    now = found.receipt()
    if receipt.commit_seq is None:  # given out before the answer was stored; it stays valid
        now = replace(now, commit_seq=None, commit_hash=None, digest=None)
    return receipt == now and (now.commit_seq is None or _linked(connection, found.ledger, now.commit_seq))


def _linked(connection: sa.Connection, ledger: str, seq: int) -> bool:
    """Recompute one link from the text that is stored."""
    query = sa.select(entries).where(entries.c.seq.in_([seq - 1, seq])).order_by(entries.c.seq)
    rows = connection.execute(query).all()
    previous = genesis(ledger) if seq == 1 else rows[0].hash
    return bool(rows[-1].hash == link(previous, seq, rows[-1].body))


class Walk:
    """Follows the chain from its first entry, or from the one up to which it was checked before."""

    def __init__(self, head: Head, start: Checkpoint | None) -> None:
        self.recount = Recount() if start is None else Recount.of(start.sums)
        seq, hashed = (0, genesis(head.ledger)) if start is None else (start.seq, start.hash)
        self.first = self.last = Head(ledger=head.ledger, epoch=self.recount.epoch, seq=seq, hash=hashed)

    def follow(self, connection: sa.Connection, checked: Checkpoint | None) -> str | None:
        """Follow the chain to its end or to the first entry that is wrong; what comes after proves nothing.

        Returns what is wrong with an entry, or with what was written down when it was ``checked``.
        """
        if checked is not None and checked.seq == self.first.seq:
            # The entry itself is not read again, but it must still be the one that was checked.
            found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == checked.seq)).scalar()
            if found != checked.hash:
                return f"entry {checked.seq} is not the one that was checked before"
        rows = connection.execute(
            sa.select(entries).where(entries.c.seq > self.first.seq).order_by(entries.c.seq)
        )
        for row in rows:
            problem = self._problem_of(row)
            if problem:
                return problem
            self.last = Head(ledger=self.last.ledger, epoch=self.recount.epoch, seq=row.seq, hash=row.hash)
            if checked is not None and checked.seq == row.seq and not self._agrees(checked):
                return f"what was written down when entry {row.seq} was checked is not what the entries say"
        if checked is not None and checked.seq > self.last.seq:
            return f"entry {checked.seq} was checked before and is missing"
        return None

    def _agrees(self, checked: Checkpoint) -> bool:
        return (checked.hash, checked.sums) == (self.last.hash, self.recount.sums())

    def _problem_of(self, row: Any) -> str | None:
        """Check that an entry follows the one before and count it, or say what is wrong with it."""
        if row.seq != self.last.seq + 1:
            return f"entry {self.last.seq + 1} is missing"
        if row.hash != link(self.last.hash, row.seq, row.body):
            return f"entry {row.seq} is not the one that was written"
        try:
            body = json.loads(row.body)
            if (row.kind, row.account) != (body["kind"], body["account"]):
                return f"entry {row.seq} is filed under another kind or account"
            self.recount.add(row.seq, body["kind"], body["account"], body["data"])
        except ImpossibleError as impossible:
            return f"entry {row.seq} {impossible}"
        except (ValueError, TypeError, KeyError, AttributeError):
            return f"entry {row.seq} cannot be read"
        return None
