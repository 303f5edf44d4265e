# SPDX-License-Identifier: Apache-2.0
"""Verification: recompute every hash and sum from the entries alone, and compare it with the tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import LedgerDamaged
from anonymaly.ledger.book import find_reservation
from anonymaly.ledger.records import Head, Receipt, Verification
from anonymaly.ledger.schema import accounts, analysts, entries, reservations
from anonymaly.ledger.session import Backend
from anonymaly.ledger.transaction import RESTORE, genesis, link, read_head

MOST_PROBLEMS = 20
UNKNOWN_HEAD = Head(ledger="", epoch=0, seq=0, hash="")


class _ImpossibleError(Exception):
    """An entry that no run of this program appends."""


class _Recount:
    """Accounts and reservations as the entries alone make them."""

    def __init__(self) -> None:
        self.epoch = 0
        self.limits: dict[str, int] = {}
        self.spent: dict[str, int] = {}
        self.analysts: dict[tuple[str, str], int] = {}
        self.reservations: dict[int, tuple[str, str, str, int, str, int | None]] = {}
        self._keys: set[tuple[str, str]] = set()

    def add(self, seq: int, kind: str, account: Any, data: Any) -> None:
        """Count one entry, or raise _ImpossibleError."""
        if kind == "open":
            self._require(account not in self.limits, "opens an account twice")
            self.limits[account], self.spent[account] = data["limit"], 0
        elif kind == "limit":
            self._require(data["from"] == self.limits[account] < data["to"], "does not raise the limit")
            self.limits[account] = data["to"]
        elif kind == "reserve":
            self._reserve(seq, account, data)
        elif kind in {"commit", "fail"}:
            self._end(seq, "committed" if kind == "commit" else "failed", account, data)
        elif kind == "epoch":
            self._require(data["epoch"] > self.epoch, "does not begin an epoch")
            self.epoch = data["epoch"]
            self.spent = dict(self.limits)
        else:
            self._require(kind in {"rule", "anchor"}, "is of no known kind")

    def _reserve(self, seq: int, account: str, data: Any) -> None:
        key, analyst, cost = data["key"], data["analyst"], data["cost"]
        self._require(cost > 0, "charges nothing")
        self._require((account, key) not in self._keys, "charges a question twice")
        self._require(self.spent[account] + cost <= self.limits[account], "spends more than the limit")
        self._keys.add((account, key))
        self.spent[account] += cost
        self.analysts[account, analyst] = self.analysts.get((account, analyst), 0) + cost
        self.reservations[seq] = (account, key, analyst, cost, "reserved", None)

    def _end(self, seq: int, state: str, account: str, data: Any) -> None:
        of_account, key, analyst, cost, before, _ = self.reservations[data["reservation"]]
        self._require(of_account == account and before == "reserved", "ends a reservation twice")
        self.reservations[data["reservation"]] = (account, key, analyst, cost, state, seq)

    @staticmethod
    def _require(condition: bool, otherwise: str) -> None:
        if not condition:
            raise _ImpossibleError(otherwise)


def check(connection: sa.Connection, backend: Backend) -> Verification:
    """Check file, tables, triggers, chain and sums, in one snapshot of the ledger."""
    problems = backend.physical_problems(connection)
    if problems:
        return unreadable(*problems[:MOST_PROBLEMS])
    head = read_head(connection)
    recount, last, problem = _walk(connection, head)
    if problem:
        problems = [problem]
    else:
        if (last.seq, last.hash, last.epoch) != (head.seq, head.hash, head.epoch):
            problems = [f"the head says entry {head.seq}, the chain ends at entry {last.seq}"]
        problems += _compare(connection, recount)
    return Verification(
        entries=last.seq, head=head, spent=recount.spent, problems=tuple(problems[:MOST_PROBLEMS])
    )


def unreadable(*problems: str) -> Verification:
    """Return what is found of a ledger whose entries cannot be read."""
    return Verification(entries=0, head=UNKNOWN_HEAD, spent={}, problems=problems)


def refuse_if_damaged(connection: sa.Connection, backend: Backend) -> None:
    """Raise LedgerDamaged unless file, triggers, chain and sums all verify."""
    found = check(connection, backend)
    if not found.ok:
        raise LedgerDamaged(
            f"does not verify: {backend.describe()}: {'; '.join(found.problems)}",
            field="ledger",
            next_step=RESTORE,
        )


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


def _walk(connection: sa.Connection, head: Head) -> tuple[_Recount, Head, str | None]:
    """Follow the chain to its end or to the first entry that is wrong; what comes after proves nothing.

    Returns what the good entries add up to, the last good link, and what is wrong after it.
    """
    recount = _Recount()
    last = Head(ledger=head.ledger, epoch=0, seq=0, hash=genesis(head.ledger))
    for row in connection.execute(sa.select(entries).order_by(entries.c.seq)):
        problem = _problem_of(row, last, recount)
        if problem:
            return recount, last, problem
        last = Head(ledger=head.ledger, epoch=recount.epoch, seq=row.seq, hash=row.hash)
    return recount, last, None


def _problem_of(row: Any, last: Head, recount: _Recount) -> str | None:
    """Check that an entry follows the one before and count it, or say what is wrong with it."""
    if row.seq != last.seq + 1:
        return f"entry {last.seq + 1} is missing"
    if row.hash != link(last.hash, row.seq, row.body):
        return f"entry {row.seq} is not the one that was written"
    try:
        body = json.loads(row.body)
        if (row.kind, row.account) != (body["kind"], body["account"]):
            return f"entry {row.seq} is filed under another kind or account"
        recount.add(row.seq, body["kind"], body["account"], body["data"])
    except _ImpossibleError as impossible:
        return f"entry {row.seq} {impossible}"
    except (ValueError, TypeError, KeyError, AttributeError):
        return f"entry {row.seq} cannot be read"
    return None


def _compare(connection: sa.Connection, recount: _Recount) -> list[str]:
    problems: list[str] = []
    rows = {row.name: (row.limit, row.spent) for row in connection.execute(sa.select(accounts))}
    for name in sorted(rows.keys() | recount.limits.keys()):
        if name not in rows or name not in recount.limits:
            problems.append(f"account '{name}' is not in both the entries and the accounts")
            continue
        for what, found, expected in zip(
            ("limit", "spent"), rows[name], (recount.limits[name], recount.spent[name]), strict=True
        ):
            if found != expected:
                problems.append(
                    f"account '{name}': {what} is ε={to_text(found)}, its entries say ε={to_text(expected)}"
                )
    spent = {(row.account, row.analyst): row.spent for row in connection.execute(sa.select(analysts))}
    if spent != recount.analysts:
        problems.append("what the analysts spent is not what the entries say")
    held = {row[0]: tuple(row[1:]) for row in connection.execute(sa.select(reservations))}
    if held != recount.reservations:
        wrong = sorted(
            seq
            for seq in held.keys() | recount.reservations.keys()
            if held.get(seq) != recount.reservations.get(seq)
        )
        problems.append(f"reservation {wrong[0]} is not in the state that the entries give it")
    return problems
