# SPDX-License-Identifier: Apache-2.0
"""Answers and refusals as whoever asked may see them: their own number, their own limit, their own charge."""

from __future__ import annotations

from anonymaly.ask.answer import Answer
from anonymaly.ask.curator import Curator
from anonymaly.ask.seen import as_analyst
from anonymaly.errors import AnonymalyError, BudgetExceeded, DeclarationChanged, Refused
from anonymaly.ledger import Allowance, Reservation


def own_answer(curator: Curator, ended: Reservation, answer: Answer, person: str) -> Answer:
    """Return an answer as the person sees it who was charged for it, as the first or again.

    Without grants there is nobody to hide from: an owner who asks what another owner asked before is charged
    nothing, and sees that.
    """
    ledger, name = curator.accountant.ledger, curator.dataset.name
    charge = ledger.charge_of(name, ended.key, person)
    return answer if charge is None else as_analyst(answer, charge, _allowance(curator, person))


def _allowance(curator: Curator, person: str) -> Allowance | None:
    """Return what the person has left; None if their grant ended after it was charged."""
    try:
        return curator.accountant.ledger.allowance(curator.dataset.name, person)
    except Refused:
        return None


def own_problem(problem: AnonymalyError, person: str) -> AnonymalyError:
    """Return a refusal as an analyst may see it: without numbers of the whole account or its ledger."""
    if isinstance(problem, DeclarationChanged):
        return DeclarationChanged(
            "the table was declared anew while the question was on its way, and nothing was charged",
            field="declaration",
            next_step="Look at the declaration and ask anew.",
        )
    if isinstance(problem, BudgetExceeded) and f"'{person}'" not in problem.problem:
        return BudgetExceeded(
            "the table cannot pay for it", field="epsilon", next_step="Lower epsilon, or ask the owner."
        )
    if isinstance(problem, Refused) and problem.field == "counters":  # how many all have asked under a rule
        return Refused(
            "the table has no more questions of this kind",
            field="rules",
            next_step="Ask something else, or ask the owner to allow more.",
        )
    return problem
