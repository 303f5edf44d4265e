# SPDX-License-Identifier: Apache-2.0
"""An account's statement: what was spent, and what is promised to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.core.epsilon import to_number, to_text
from anonymaly.declare.domain import Domain
from anonymaly.ledger.burn_down import BudgetStep, steps_of
from anonymaly.ledger.composition import Line, Version, compose_charges, versions_asked
from anonymaly.ledger.declarations import (
    NEIGHBOURS_UNDER_EACH,
    AskedUnder,
    common_columns,
    count_asked,
    read_declarations,
)
from anonymaly.ledger.given import ConsentDecision, decisions_in
from anonymaly.ledger.granted import Granted, read_granted
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


@dataclass(frozen=True, repr=False)
class Statement:
    """An account's spending, composed.

    Every charge counts, whether an answer was seen or not: ``unseen`` of them were reserved and then
    failed or never finished.
    """

    account: str
    adjacency: str
    limit_nano: int  # nano-ε, as all that ends so
    spent_nano: int
    questions: int
    unseen: int
    forfeited_nano: int  # given up when a new epoch was opened over a lost ledger
    lost: Lost
    versions: tuple[Version, ...]
    lines: tuple[Line, ...]
    not_proved: tuple[str, ...]  # questions of other packages among them, each with its package and version
    total: Guarantee | None  # of what this ledger shows; not of answers that a lost one may have held
    columns: Mapping[str, Domain] | None  # declared ones, where they may show that nobody is protected
    declarations: tuple[AskedUnder, ...] = ()  # oldest first, the last one in force
    granted: tuple[Granted, ...] = ()  # to analysts, under terms
    steps: tuple[BudgetStep, ...] = ()  # by which what is left changed, oldest first
    given: tuple[ConsentDecision, ...] = ()  # consents to hand something over in clear, oldest first

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
            Entries of the account, of which those that declare, amend, grant and charge are read, and of the
            ledger, of which those that begin an epoch over a lost ledger are.
        """
        charged, entries = list(reservations), list(epochs)
        declarations = count_asked(read_declarations(entries), charged)
        known = sum(item.cost for item in charged)
        forfeited = max(account.spent - known, 0)
        lines = compose_charges(charged)
        total = compose(*(line.guarantee for line in lines)) if lines else None
        return cls(
            account=account.name,
            adjacency=str(account.declaration.get("adjacency")),
            limit_nano=account.limit,
            spent_nano=max(account.spent, known),
            questions=len(charged),
            unseen=sum(item.state != "committed" for item in charged),
            forfeited_nano=forfeited,
            lost=_lost(account, declarations, forfeited, [item for item in entries if item.kind == "epoch"]),
            versions=versions_asked(charged),
            lines=lines,
            not_proved=tuple(sorted({_foreign(item) for item in charged if "origin" in item.record})),
            total=total,
            columns=_columns(account, declarations, total),
            declarations=declarations,
            granted=read_granted(entries),
            steps=tuple(steps_of(entries, account.name)),
            given=tuple(item for item in decisions_in(entries).values() if item.gives),
        )

    @property
    def budget(self) -> float:
        """The ε that all answers together may cost."""
        return to_number(self.limit_nano)

    @property
    def spent(self) -> float:
        """The ε that is charged."""
        return to_number(self.spent_nano)

    @property
    def remaining_nano(self) -> int:
        """What may still be spent, in nano-ε."""
        return self.limit_nano - self.spent_nano

    @property
    def remaining(self) -> float:
        """The ε that may still be spent."""
        return to_number(self.remaining_nano)

    @property
    def forfeited(self) -> float:
        """The ε that was given up when a new epoch was opened over a lost ledger."""
        return to_number(self.forfeited_nano)

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {
            "account": self.account,
            "adjacency": self.adjacency,
            "budget": to_text(self.limit_nano),
            "spent": to_text(self.spent_nano),
            "remaining": to_text(self.remaining_nano),
            "forfeited": to_text(self.forfeited_nano),
            "questions": self.questions,
            "unseen": self.unseen,
            "relations": [line.to_dict() for line in self.lines],
            "versions": [version.to_dict() for version in self.versions],
            "shown": None if self.total is None else self.total.to_dict(),
            "promise": None if self.total is None or self.lost != "nothing" else self.total.to_dict(),
            "protected": None if self.total is None else who_is_protected(self.total.relation, self.columns),
            "meaning": self.meaning(),
            **({"not_proved": list(self.not_proved)} if self.not_proved else {}),
            **({"declarations": [item.to_dict() for item in self.declarations]} if self._amended else {}),
            **({"granted": [item.to_dict() for item in self.granted]} if self.granted else {}),
            **({"given_in_clear": [item.to_dict() for item in self.given]} if self.given else {}),
        }

    @property
    def _amended(self) -> bool:
        return len(self.declarations) > 1

    @property
    def title(self) -> str:
        """What was spent, and what remains."""
        lost = (
            f", {to_text(self.forfeited_nano)} of it with a part that was lost" if self.forfeited_nano else ""
        )
        return (
            f"{self.account}: ε = {to_text(self.spent_nano)} of {to_text(self.limit_nano)} spent by "
            f"{self.questions} question{'' if self.questions == 1 else 's'}{lost}, "
            f"{to_text(self.remaining_nano)} remaining ({self.adjacency} adjacency)"
        )

    def __repr__(self) -> str:
        return f"<Statement of {self.title}>"

    def _repr_html_(self) -> str:
        from anonymaly.ledger.statement_page import statement_html  # noqa: PLC0415  (only notebooks)

        return statement_html(self)

    def __str__(self) -> str:
        granted = [f"granted to {item}" for item in self.granted]
        return "\n".join([self.title, *(f"  {text}" for text in [*granted, *self.meaning()])])

    def meaning(self) -> list[str]:
        """Say what was spent means: who is promised what."""
        texts = self._missing()
        if self.total is None:
            texts = texts or ([] if self.given else ["Nothing was asked, so nothing was given away."])
            return [*texts, *self._given(), *self._asked_under()]
        texts += ["Of the answers that are shown:"] if texts else []
        texts += self.total.describe(self.columns).splitlines()
        texts += [*self._asked_about(), *self._asked_under()]
        if len(self.lines) > 1:
            texts.append(PER_TRANSCRIPT)
        if self.not_proved:
            texts.append(f"Not proved by anonymaly, but by other packages: {', '.join(self.not_proved)}.")
        if self.unseen:
            texts.append(f"Answers that nobody saw, and that count all the same: {self.unseen}.")
        return [*texts, *self._given(), PROOF]

    def _given(self) -> list[str]:
        """Say what was consented to that no ε bounds."""
        number = len(self.given)
        if not number:
            return []
        what, them = ("1 reading", "it") if number == 1 else (f"{number:,} readings", "them")
        return [
            f"In clear, by consent: {what} may be handed over. No ε bounds {them}; all else that is said "
            "here is of the others."
        ]

    def _missing(self) -> list[str]:
        """Say what is known of answers that a lost ledger may have held."""
        match self.lost:
            case "nothing":
                return []
            case "up to the budget":
                return [
                    f"{LOST} of up to ε = {to_text(self.forfeited_nano)} that are not shown here may exist. "
                    f"All together keep at most ε = {to_text(self.spent_nano)}, and that only between tables "
                    "that are neighbours under every rule the account ever declared, in every version there "
                    "was."
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

    def _asked_under(self) -> list[str]:
        """Name the declarations, if there were several, and say which of them were learned from rows."""
        if not self._amended:
            return []
        asked = [item for item in self.declarations if item.questions]
        named = ", and of ".join(map(str, asked))
        newest = self.declarations[-1]
        return [
            *([f"Asked under the declaration of {named}."] if asked else []),
            *([f"In force, and not asked under yet: {newest.declared}."] if not newest.questions else []),
            *([NEIGHBOURS_UNDER_EACH] if len(asked) > 1 else []),
            *(text for item in self.declarations if (text := item.declared.outside()) is not None),
        ]


def _lost(account: Account, declarations: Sequence[AskedUnder], forfeited: int, epochs: list[Entry]) -> Lost:
    """Say what a lost ledger may have held, from the entries that began an epoch over one."""
    # An entry of an earlier version does not say whether the anchor knew the lost budget and rules. An
    # account that was opened later may have had another one of its name in the lost part.
    bounded = all(entry.data.get("bounded") is True for entry in epochs)
    if not bounded or (forfeited and not epochs):
        return "budget and rules"
    if not forfeited:
        return "nothing"
    ever = [account.rules, *(item.declared.rules for item in declarations)]
    return "rules" if "any" in ever else "up to the budget"


def _columns(
    account: Account, declarations: Sequence[AskedUnder], total: Guarantee | None
) -> Mapping[str, Domain] | None:
    if total is None or not any(isinstance(part, SensitiveUnderPolicy) for part in total.relation.atoms()):
        return None
    asked = [item.declared.declaration for item in declarations if item.questions]
    return common_columns(asked or [account.declaration])


def _foreign(item: Reservation) -> str:
    origin = item.record["origin"]
    return f"{item.record['question']} ({origin['package']} {origin['version']})"
