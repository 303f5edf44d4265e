# SPDX-License-Identifier: Apache-2.0
"""An account's statement: what was spent, and what is promised to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.core.epsilon import to_text
from anonymaly.declare.domain import Domain, read_domain
from anonymaly.ledger.composition import Line, Version, compose_charges, versions_asked
from anonymaly.ledger.records import Account, Entry, Reservation
from anonymaly.promise import Guarantee, SensitiveUnderPolicy, compose
from anonymaly.promise.policies import who_is_protected

# Whether answers that are not shown may exist, and why nothing bounds them: what this ledger does not know.
Lost = Literal["nothing", "up to the budget", "budget and rules", "rules"]

PER_TRANSCRIPT = (
    "Relations may have been chosen after seeing answers, so the promise is per transcript: for every pair "
    "of tables in all relations used, the probability of these very answers on the first table is at most "
    "e^ε times that on the second."
)
IN_EVERY_VERSION = (
    "The promise is about tables that are neighbours, as said above, or the same in every one of them: "
    "whoever is not protected in one of them has no bound."
)
BY_PLACE = (
    "Parts keep it only if rows were put into them by position and the order of the rows does not follow "
    "from their values, or in a secret order (am.PrivateKFold)."
)
LOST = "A ledger was lost, and answers"
NO_BOUND = {
    "budget and rules": "If the budget was raised or a rule was added in the lost part, no bound is known",
    "rules": "The account allows any rule, so no bound is known",
}
PROOF = "Proof: docs/composition.md"


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
    lost: Lost
    versions: tuple[Version, ...]
    lines: tuple[Line, ...]
    not_proved: tuple[str, ...]  # questions of other packages among them, each with its package and version
    total: Guarantee | None  # of what this ledger shows; not of answers that a lost one may have held
    columns: Mapping[str, Domain] | None  # declared ones, where they may show that nobody is protected

    @classmethod
    def of(
        cls, account: Account, reservations: Iterable[Reservation], epochs: Iterable[Entry] = ()
    ) -> Statement:
        """Compose an account's reservations, all in the adjacency the account was opened in.

        Parameters
        ----------
        account : Account
            The account as it stands.
        reservations : iterable of Reservation
            Every charge to it.
        epochs : iterable of Entry
            Entries of the ledger, of which those that begin an epoch over a lost ledger are read.
        """
        charged = list(reservations)
        known = sum(item.cost for item in charged)
        forfeited = max(account.spent - known, 0)
        lines = compose_charges(charged)
        total = compose(*(line.guarantee for line in lines)) if lines else None
        return cls(
            account=account.name,
            adjacency=str(account.declaration.get("adjacency")),
            limit=account.limit,
            spent=max(account.spent, known),
            questions=len(charged),
            unseen=sum(item.state != "committed" for item in charged),
            forfeited=forfeited,
            lost=_lost(account, forfeited, [entry for entry in epochs if entry.kind == "epoch"]),
            versions=versions_asked(charged),
            lines=lines,
            not_proved=tuple(sorted({_foreign(item) for item in charged if "origin" in item.record})),
            total=total,
            columns=_columns(account, total),
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
            "versions": [version.to_dict() for version in self.versions],
            "shown": None if self.total is None else self.total.to_dict(),
            "promise": None if self.total is None or self.lost != "nothing" else self.total.to_dict(),
            "protected": None if self.total is None else who_is_protected(self.total.relation, self.columns),
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
        texts = self._missing()
        if self.total is None:
            return texts or ["Nothing was asked, so nothing was given away."]
        texts += ["Of the answers that are shown:"] if texts else []
        texts += self.total.describe(self.columns).splitlines()
        texts += self._asked_about()
        if len(self.lines) > 1:
            texts.append(PER_TRANSCRIPT)
        if self.not_proved:
            texts.append(f"Not proved by anonymaly, but by other packages: {', '.join(self.not_proved)}.")
        if self.unseen:
            texts.append(f"Answers that nobody saw, and that count all the same: {self.unseen}.")
        return [*texts, PROOF]

    def _missing(self) -> list[str]:
        """Say what is known of answers that a lost ledger may have held."""
        match self.lost:
            case "nothing":
                return []
            case "up to the budget":
                return [
                    f"{LOST} of up to ε = {to_text(self.forfeited)} that are not shown here may exist. All "
                    f"together keep at most ε = {to_text(self.spent)}, and that only between tables that are "
                    "neighbours under every rule the account declares, in every version there was."
                ]
            case reason:
                unknown = f"{NO_BOUND[reason]}: nothing is promised of all answers together."
                return [f"{LOST} that are not shown here may exist. {unknown}"]

    def _asked_about(self) -> list[str]:
        named = ", ".join(map(str, self.versions))
        match self.versions:
            case []:
                return []
            case [only]:
                texts = [f"Version asked about: {only}."]
            case _:
                texts = [f"Versions asked about: {named}. {IN_EVERY_VERSION}"]
        return [*texts, *([BY_PLACE] if any(version.parts for version in self.versions) else [])]


def _lost(account: Account, forfeited: int, epochs: list[Entry]) -> Lost:
    """Say what a lost ledger may have held, from the entries that began an epoch over one."""
    # An entry of an earlier version does not say whether the anchor knew the lost budget and rules. An
    # account that was opened later may have had another one of its name in the lost part.
    bounded = all(entry.data.get("bounded") is True for entry in epochs)
    if not bounded or (forfeited and not epochs):
        return "budget and rules"
    if not forfeited:
        return "nothing"
    return "rules" if account.rules == "any" else "up to the budget"


def _columns(account: Account, total: Guarantee | None) -> Mapping[str, Domain] | None:
    if total is None or not any(isinstance(part, SensitiveUnderPolicy) for part in total.relation.atoms()):
        return None
    return {name: read_domain(item, field=name) for name, item in account.declaration["columns"].items()}


def _foreign(item: Reservation) -> str:
    origin = item.record["origin"]
    return f"{item.record['question']} ({origin['package']} {origin['version']})"
