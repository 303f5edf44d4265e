# SPDX-License-Identifier: Apache-2.0
"""An account's statement: what was spent, and what is promised to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.records import Account, Reservation
from anonymaly.promise import Guarantee, compose

PER_TRANSCRIPT = (
    "Relations may have been chosen after seeing answers, so the promise is per transcript: for every pair "
    "of tables in all relations used, the probability of these very answers differs by at most a factor e^ε."
)


@dataclass(frozen=True)
class Line:
    """One relation that was used, and what was charged under it."""

    guarantee: Guarantee
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        relation = self.guarantee.relation
        return {
            "questions": self.questions,
            "epsilon": self.guarantee.epsilon,
            "relation": relation.to_dict(),
            "protected": relation.protects(),
            "not_protected": relation.does_not_protect(),
        }


@dataclass(frozen=True)
class Statement:
    """An account's spending, composed.

    Every charge counts, whether an answer was seen or not: ``unseen`` of them were reserved and then
    failed or never finished.
    """

    account: str
    adjacency: str
    limit: int
    spent: int
    questions: int
    unseen: int
    forfeited: int  # nano-ε given up when a new epoch was opened over a lost ledger
    lines: tuple[Line, ...]
    not_proved: tuple[str, ...]  # questions of other packages among them, each with its package and version
    total: Guarantee | None  # of what this ledger shows; not of answers that a lost one may have held

    @classmethod
    def of(cls, account: Account, reservations: Iterable[Reservation]) -> Statement:
        """Compose an account's reservations, all in the adjacency the account was opened in."""
        charged = list(reservations)
        known = sum(item.cost for item in charged)
        grouped: dict[str, list[Guarantee]] = {}
        for item in charged:
            guarantee = Guarantee.read(item.record["guarantee"])
            grouped.setdefault(guarantee.relation.to_json(), []).append(guarantee)
        lines = tuple(Line(compose(*group), len(group)) for group in grouped.values())
        return cls(
            account=account.name,
            adjacency=str(account.declaration.get("adjacency")),
            limit=account.limit,
            spent=max(account.spent, known),
            questions=len(charged),
            unseen=sum(item.state != "committed" for item in charged),
            forfeited=max(account.spent - known, 0),
            lines=lines,
            not_proved=tuple(sorted({_foreign(item) for item in charged if "origin" in item.record})),
            total=compose(*(line.guarantee for line in lines)) if lines else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {
            "account": self.account,
            "adjacency": self.adjacency,
            "budget": to_text(self.limit),
            "spent": to_text(self.spent),
            "remaining": to_text(self.limit - self.spent),
            "forfeited": to_text(self.forfeited),
            "questions": self.questions,
            "unseen": self.unseen,
            "relations": [line.to_dict() for line in self.lines],
            "shown": None if self.total is None else self.total.to_dict(),
            "promise": None if self.total is None or self.forfeited else self.total.to_dict(),
            "meaning": self._meaning(),
            **({"not_proved": list(self.not_proved)} if self.not_proved else {}),
        }

    def __str__(self) -> str:
        head = (
            f"{self.account}: ε = {to_text(self.spent)} of {to_text(self.limit)} spent by {self.questions} "
            f"question{'' if self.questions == 1 else 's'}, {to_text(self.limit - self.spent)} remaining "
            f"({self.adjacency} adjacency)"
        )
        return "\n".join([head, *(f"  {text}" for text in self._meaning())])

    def _meaning(self) -> list[str]:
        texts = []
        if self.forfeited:
            texts += [
                f"A ledger was lost, and answers of up to ε = {to_text(self.forfeited)} that are not shown "
                f"here may exist. All together keep at most ε = {to_text(self.spent)}, and that only between "
                "tables that are neighbours under every rule the account declares.",
                "Of the answers that are shown:",
            ]
        if self.total is None:
            return [*texts, "Nothing was asked, so nothing was given away."]
        texts += self.total.describe().splitlines()
        if len(self.lines) > 1:
            texts.append(PER_TRANSCRIPT)
        if self.not_proved:
            texts.append(f"Not proved by anonymaly, but by other packages: {', '.join(self.not_proved)}.")
        if self.unseen:
            texts.append(f"Answers that nobody saw, and that count all the same: {self.unseen}.")
        return texts


def _foreign(item: Reservation) -> str:
    origin = item.record["origin"]
    return f"{item.record['question']} ({origin['package']} {origin['version']})"
