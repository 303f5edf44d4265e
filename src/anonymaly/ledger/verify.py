# SPDX-License-Identifier: Apache-2.0
"""Recompute everything from the entries alone, and compare it with what the tables say."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.chain import genesis, link
from anonymaly.ledger.records import Head, Verification
from anonymaly.ledger.schema import accounts, analysts, entries, heads, reservations
from anonymaly.ledger.session import Backend
from anonymaly.ledger.transaction import read_head

MOST_PROBLEMS = 20
UNKNOWN_HEAD = Head(ledger="", epoch=0, seq=0, hash="")


class _ImpossibleError(Exception):
    """An entry that no run of this program appends."""


class Replay:
    """The accounts as the entries make them."""

    def __init__(self) -> None:
        self.epoch = 0
        self.limits: dict[str, int] = {}
        self.spent: dict[str, int] = {}
        self.analysts: dict[tuple[str, str], int] = {}
        self.reservations: dict[int, tuple[str, str, str, int, str, int | None]] = {}
        self._keys: set[tuple[str, str]] = set()

    def apply(self, seq: int, kind: str, account: Any, data: Any) -> None:
        """Take one entry into account, or raise _ImpossibleError."""
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
    """Check file, tables, triggers, chain and sums, in one picture of the ledger."""
    problems = backend.physical_problems(connection)
    if problems:
        return Verification(entries=0, head=UNKNOWN_HEAD, spent={}, problems=tuple(problems[:MOST_PROBLEMS]))
    head = read_head(connection.execute(sa.select(heads)).first())
    replay, last, problems = _walk(connection, head)
    if not problems:
        if (last.seq, last.hash, replay.epoch) != (head.seq, head.hash, head.epoch):
            problems = [f"the head says entry {head.seq}, the chain ends at entry {last.seq}"]
        problems += _compare(connection, replay)
    return Verification(
        entries=last.seq, head=head, spent=replay.spent, problems=tuple(problems[:MOST_PROBLEMS])
    )


def _walk(connection: sa.Connection, head: Head) -> tuple[Replay, Head, list[str]]:
    """Follow the chain to its end or to the first entry that is wrong; what comes after proves nothing."""
    replay = Replay()
    seq, previous = 0, genesis(head.ledger)
    for row in connection.execute(sa.select(entries).order_by(entries.c.seq)):
        problem = None
        if row.seq != seq + 1:
            problem = f"entry {seq + 1} is missing"
        elif row.hash != link(previous, row.seq, row.body):
            problem = f"entry {row.seq} is not the one that was written"
        else:
            try:
                body = json.loads(row.body)
                if (row.kind, row.account) != (body["kind"], body["account"]):
                    problem = f"entry {row.seq} is filed under another kind or account"
                replay.apply(row.seq, body["kind"], body["account"], body["data"])
            except _ImpossibleError as impossible:
                problem = f"entry {row.seq} {impossible}"
            except (ValueError, TypeError, KeyError, AttributeError):
                problem = f"entry {row.seq} cannot be read"
        if problem:
            return replay, Head(ledger=head.ledger, epoch=0, seq=seq, hash=previous), [problem]
        seq, previous = row.seq, row.hash
    return replay, Head(ledger=head.ledger, epoch=replay.epoch, seq=seq, hash=previous), []


def _compare(connection: sa.Connection, replay: Replay) -> list[str]:
    problems: list[str] = []
    rows = {row.name: (row.limit, row.spent) for row in connection.execute(sa.select(accounts))}
    for name in sorted(rows.keys() | replay.limits.keys()):
        if name not in rows or name not in replay.limits:
            problems.append(f"account '{name}' is not in both the entries and the accounts")
            continue
        for what, found, expected in zip(
            ("limit", "spent"), rows[name], (replay.limits[name], replay.spent[name]), strict=True
        ):
            if found != expected:
                problems.append(
                    f"account '{name}': {what} is ε={to_text(found)}, its entries say ε={to_text(expected)}"
                )
    spent = {(row.account, row.analyst): row.spent for row in connection.execute(sa.select(analysts))}
    if spent != replay.analysts:
        problems.append("what the analysts spent is not what the entries say")
    held = {row[0]: tuple(row[1:]) for row in connection.execute(sa.select(reservations))}
    if held != replay.reservations:
        wrong = sorted(
            seq
            for seq in held.keys() | replay.reservations.keys()
            if held.get(seq) != replay.reservations.get(seq)
        )
        problems.append(f"reservation {wrong[0]} is not in the state that the entries give it")
    return problems
