# SPDX-License-Identifier: Apache-2.0
"""What an analyst sees: nothing that tells whether another one asked, or how much.

A number of the ledger's, its key, the table's remaining ε, the declaration that a stored answer was asked
under, or how many questions of a rule are asked, would. What is left depends on the question, the
declaration and the analyst's own charges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from anonymaly.ask import catalogue
from anonymaly.ask.acceptance import accept, permit_of, refuse_no_question, rule_of
from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.binding import Binding
from anonymaly.ask.permit import Permit
from anonymaly.ask.plan import Plan, make_plan, probe_of
from anonymaly.ask.query import Query
from anonymaly.core.epsilon import LARGEST, to_text
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import AnonymalyError, AnswerFailed, DeclarationChanged, LedgerError
from anonymaly.ledger import Allowance, Charge, Ledger

HIDDEN = ("charged_before", "effect", "declarations", "rule")


@dataclass(frozen=True, repr=False)
class SeenPreview(Preview):
    """What a question would cost an analyst, and how many like it are left in their own limit."""

    questions_left: int | None = None  # None if nothing limits it
    permit: Permit | None = None  # the rule that counts such questions

    def more(self) -> list[str]:
        """Return which rule counts it, and how many like it are left."""
        many = self.questions_left
        left = "" if many is None else f"{_many(many)} left in your limit"
        rule = "" if self.permit is None else self.permit.allows
        return [line for line in (rule, left) if line]

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as plain data."""
        found = {name: item for name, item in super().to_dict().items() if name not in HIDDEN}
        permit = self.permit
        return {
            **found,
            **({} if permit is None else {"rule": {"rule": permit.rule, "questions": permit.questions}}),
            "questions_left": self.questions_left,
        }


def _many(count: int) -> str:
    return "1 question like it is" if count == 1 else f"{count:,} questions like it are"


def preview_for(declaration: Declaration, query: Query, allowance: Allowance | None = None) -> SeenPreview:
    """Preview a question from the declaration alone: neither the secret nor a charge of anybody is read.

    Parameters
    ----------
    declaration : Declaration
        The one in force, as a worker publishes it.
    query : Query
        The question.
    allowance : Allowance, optional
        The asker's (``Ledger.allowance``); without one, nothing is said of what remains.

    Raises
    ------
    Refused
        The declaration, or the grant's terms, do not allow the question at any time. What costs more than
        remains is said by ``affordable``.
    """
    bound, permit, rule = _allowed(declaration, query, allowance)
    cost = bound.query.cost
    return SeenPreview(
        query=bound.query,
        guarantee=bound.guarantee,
        expectation=bound.expectation,
        shares_nano=tuple(bound.shares.items()),
        remaining_nano=None if allowance is None else allowance.remaining,
        origin=catalogue.origin(bound.query.question),
        warning=bound.warning,
        questions_left=None if allowance is None else allowance.questions_left(cost, rule),
        permit=permit,
    )


def plan_for(
    declaration: Declaration, query: Query, for_error: Any, allowance: Allowance | None = None
) -> Plan:
    """Say which ε gives a wanted error, and how many such questions the asker's own limit pays for."""
    refuse_no_question(query)
    bound = accept(probe_of(query, declaration, for_error), declaration)
    permit_of(bound)
    # Without a limit of their own, as many as could ever be of use.
    limit, remaining = (None, None) if allowance is None else (allowance.limit, allowance.remaining)
    plan = make_plan(
        bound,
        query,
        for_error,
        remaining=LARGEST if remaining is None else remaining,
        limit=LARGEST if limit is None else limit,
    )
    _allowed(declaration, plan.query, allowance)  # a rule, or a grant, may ask for another ε
    return plan


def _allowed(
    declaration: Declaration, query: Query, allowance: Allowance | None
) -> tuple[Binding, Permit | None, str | None]:
    bound = accept(query, declaration)
    permit = permit_of(bound)
    rule = rule_of(bound, permit)
    if allowance is not None:
        allowance.admit(bound.query.question, rule, bound.query.cost)
    return bound, permit, rule


def problem_for(error: AnonymalyError) -> dict[str, str | None]:
    """Return what an analyst may see of an error, as ``AnonymalyError.to_dict`` gives it.

    Of an amendment the number of its entry is left out, of a ledger's trouble where it lies, and of a failed
    answer everything: each of them is the same for all.
    """
    if isinstance(error, DeclarationChanged):
        seen: AnonymalyError = DeclarationChanged(
            "the table was declared anew while this was asked",
            field="declaration",
            next_step="Ask anew; nothing was charged.",
        )
    elif isinstance(error, AnswerFailed):
        seen = AnswerFailed(
            "the question was charged and no answer came of it",
            next_step="The charge stands; repeat= asks again at a new charge.",
        )
    elif isinstance(error, LedgerError):
        seen = LedgerError(
            "the table cannot be asked now", next_step="Ask again later: no question is charged twice."
        )
    else:
        seen = error
    return seen.to_dict()


def as_analyst(answer: Answer, charge: Charge, allowance: Allowance | None) -> Answer:
    """Return an answer as the analyst sees it who was charged for it.

    Number, receipt and remaining are the analyst's own; ``charged`` is the cost, also if it was charged at an
    earlier call.
    """
    return replace(
        answer,
        number=charge.number,
        charged_nano=charge.cost,
        remaining_nano=None if allowance is None else allowance.remaining,
        receipt=charge.receipt(),
        under=None,
    )


def seen_by(answer: Answer, ledger: Ledger, account: str, analyst: str) -> Answer:
    """Return what `Curator.ask` returned to an analyst as they may see it."""
    charge = ledger.charge_of(account, answer.receipt.key, analyst)
    if charge is None:
        raise LedgerError(
            f"answer was not charged to analyst '{analyst}': it costs ε={to_text(answer.guarantee.nano)}",
            field="analyst",
            next_step="Ask it in their name.",
        )
    return as_analyst(answer, charge, ledger.allowance(account, analyst))
