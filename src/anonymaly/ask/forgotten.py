# SPDX-License-Identifier: Apache-2.0
"""Answers whose bytes the owner removed: the charge and what was asked stay, and the ledger says so and why.

An erasure is an entry of its own, written before the bytes go: so a missing answer is either erased or lost,
and verification tells which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymaly.ask.store import Store
from anonymaly.errors import AnswerForgotten
from anonymaly.ledger import Ledger, Reservation

SUBJECT = "erased_answers"
MOST_IN_AN_ENTRY = 1000


@dataclass(frozen=True, slots=True)
class Erasure:
    """When an answer was erased, and why."""

    time: str
    reason: str

    def problem(self) -> AnswerForgotten:
        """Return what whoever asks for the answer is told."""
        return AnswerForgotten(
            f"the answer was erased on {self.time[:10]} ({self.reason}); its charge stands",
            field="answer",
            next_step="repeat= asks again at a new charge.",
        )


def write_erasure(ledger: Ledger, account: str, numbers: Sequence[int], *, by: str, reason: str) -> None:
    """Write down that answers are erased, by the numbers of their entries."""
    for start in range(0, len(numbers), MOST_IN_AN_ENTRY):
        some = list(numbers[start : start + MOST_IN_AN_ENTRY])
        ledger.consent(account, {SUBJECT: some}, by=by, reason=reason)


def forgotten_answers(ledger: Ledger, account: str) -> dict[int, Erasure]:
    """Return the answers of an account that were erased, by the numbers of their entries."""
    return {
        int(number): Erasure(entry.time, str(entry.data["reason"]))
        for entry in ledger.consents(account)
        for number in entry.data["subject"].get(SUBJECT, ())
    }


def refuse_forgotten(ledger: Ledger, store: Store, charge: Reservation | None) -> None:
    """Raise an error if a question's answer was erased; also before it is charged to another analyst.

    One who is told this learns that the question was asked before; a charge without an answer would tell the
    same, and cost.
    """
    if charge is None or charge.state != "committed" or store.holds(charge.key, str(charge.digest)):
        return
    erasure = forgotten_answers(ledger, charge.account).get(charge.seq)
    if erasure is not None:
        raise erasure.problem()
