# SPDX-License-Identifier: Apache-2.0
"""What an analyst may ask now, by their own grant alone.

Nothing here depends on what others asked: whoever is refused by it learns nothing of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import BudgetExceeded, Refused
from anonymaly.ledger.counters import counter_of, own
from anonymaly.ledger.schema import analysts, counters, entries, grants
from anonymaly.ledger.terms import UNNAMED, Terms
from anonymaly.ledger.transaction import moment, read_head_and_format

ASK_THE_OWNER = "Ask the owner for one."
# The analyst's own first; without one, any shows that the account knows grants at all.
_OF_ANALYST = (
    sa.select(grants.c.analyst, grants.c.granted, grants.c.revoked)
    .where(grants.c.account == sa.bindparam("of_account"))
    .order_by(sa.case((grants.c.analyst == sa.bindparam("of_analyst"), 0), else_=1))
    .limit(1)
)
_GRANTED = sa.select(entries.c.body).where(entries.c.seq == sa.bindparam("of_seq"))
_SPENT = sa.select(analysts.c.limit, analysts.c.spent).where(
    analysts.c.account == sa.bindparam("of_account"), analysts.c.analyst == sa.bindparam("of_analyst")
)
_COUNTED = sa.select(counters.c.name, counters.c.used).where(
    counters.c.account == sa.bindparam("of_account"),
    counters.c.name.in_(sa.bindparam("of_names", expanding=True)),
)


@dataclass(frozen=True)
class Allowance:
    """An analyst's own limit as it stands at a moment, in nano-ε, with a period that has begun renewed.

    Attributes
    ----------
    account, analyst : str
        Whose it is, and for which table.
    limit : int, optional
        What may be spent up to the end of this period; None for no limit of their own.
    spent : int
        What is spent.
    grant : int
        The entry of the grant; not for the analyst.
    terms : Terms, optional
        What was agreed; None for grants that hold nothing but a limit.
    due : date, optional
        The beginning of a period that the ledger has not renewed yet: the next charge does.
    asked : Mapping
        Rule → how many of the questions allotted under it this analyst has asked.

    Examples
    --------
    >>> mine = Allowance("patients", "ann", limit=5, spent=2)
    >>> mine.remaining, mine.questions_left(2)
    (3, 1)
    """

    account: str
    analyst: str
    limit: int | None
    spent: int
    grant: int = 0
    terms: Terms | None = None
    due: date | None = None
    asked: Mapping[str, int] = field(default_factory=dict)

    @property
    def remaining(self) -> int | None:
        """What may still be spent in this period; None for no limit of their own."""
        return None if self.limit is None else max(self.limit - self.spent, 0)

    @property
    def held(self) -> bool:
        """Whether the table keeps for this analyst what was promised to them."""
        return self.terms is not None and not self.terms.overcommit

    def left_under(self, rule: str) -> int | None:
        """Return how many questions may still be asked under a rule; None for any number."""
        most = None if self.terms is None else self.terms.rules.get(rule)
        return None if most is None else max(most - self.asked.get(rule, 0), 0)

    def questions_left(self, cost: int, rule: str | None = None) -> int | None:
        """Return how many questions of this cost, under this rule, are left; None for any number."""
        by_cost = None if self.remaining is None else self.remaining // cost
        by_rule = None if rule is None else self.left_under(rule)
        return min((number for number in (by_cost, by_rule) if number is not None), default=None)

    def admit(self, question: str | None, rule: str | None, cost: int) -> None:
        """Refuse a question, a rule or a price that was not granted."""
        terms = self.terms
        if terms is None:
            return
        if terms.questions is not None and question not in terms.questions:
            raise self._refused(
                f"may not ask {question!r}",
                "question",
                f"Granted: {', '.join(sorted(terms.questions)) or 'none'}.",
            )
        if rule is not None and not terms.may_cite(rule):
            named = "a rule that is written in the question" if rule == UNNAMED else f"the rule {rule!r}"
            raise self._refused(
                f"may not ask under {named}",
                "rules",
                f"Granted: {', '.join(sorted(terms.rules)) or 'only questions that need no rule'}.",
            )
        if terms.question_limit is not None and cost > terms.question_limit:
            raise self._refused(
                f"may spend ε={to_text(terms.question_limit)} on one question, and this needs "
                f"{to_text(cost)}",
                "epsilon",
                f"Lower epsilon to {to_text(terms.question_limit)}.",
            )

    def refuse_beyond(self, cost: int) -> None:
        """Refuse what costs more than remains of the limit."""
        if self.limit is None or self.spent + cost <= self.limit:
            return
        next_step = "Lower epsilon, or ask the owner for a larger grant."
        period = None if self.terms is None else self.terms.period
        whole = self.terms is None or self.terms.total is None or self.terms.total > self.limit
        if period is not None and whole:
            begun = self.due or period.begun or period.start
            next_step = f"Lower epsilon, or wait for {period.after(begun).isoformat()}, when more is allowed."
        raise BudgetExceeded(
            f"needs ε={to_text(cost)}; {to_text(self.limit - self.spent)} of {to_text(self.limit)} remain "
            f"for analyst '{self.analyst}'",
            field="epsilon",
            next_step=next_step,
        )

    def refuse_uncounted(self, rule: str) -> None:
        """Refuse a question that was not counted yet if none is left under its rule."""
        if self.left_under(rule) == 0:
            most = 0 if self.terms is None else self.terms.rules[rule]
            raise self._refused(
                f"may ask {most:,} different questions under the rule {rule!r}, and all are asked",
                "rules",
                "Ask one of them again, or ask the owner to allow more.",
            )

    def _refused(self, problem: str, at: str, next_step: str) -> Refused:
        return Refused(f"analyst '{self.analyst}' {problem}", field=at, next_step=next_step)

    def to_dict(self) -> dict[str, Any]:
        """Return what the analyst may see of it, as plain data."""
        return {
            "account": self.account,
            "analyst": self.analyst,
            "limit": None if self.limit is None else to_text(self.limit),
            "spent": to_text(self.spent),
            "remaining": None if self.remaining is None else to_text(self.remaining),
            "terms": None if self.terms is None else self.terms.to_dict(),
            "words": [] if self.terms is None else self.terms.words(),
            "asked": dict(self.asked),
        }


def find_allowance(connection: sa.Connection, account: str, analyst: str) -> Allowance | None:
    """Return what an analyst may ask now, in a ledger of any format."""
    return None if read_head_and_format(connection)[1] == 1 else allowance_of(connection, account, analyst)


def allowance_of(connection: sa.Connection, account: str, analyst: str) -> Allowance | None:
    """Return what an analyst may ask now; None in an account without grants. Refuse whoever has none."""
    values = {"of_account": account, "of_analyst": analyst}
    row = connection.execute(_OF_ANALYST, values).first()
    if row is None:
        return None
    if row.analyst != analyst or row.revoked is not None:
        has = "has no grant" if row.analyst != analyst else "had a grant that was revoked"
        raise Refused(f"analyst '{analyst}' {has} for '{account}'", field="analyst", next_step=ASK_THE_OWNER)
    data = json.loads(connection.execute(_GRANTED, {"of_seq": row.granted}).scalar_one())["data"]
    held = connection.execute(_SPENT, values).one()
    terms = Terms.read(data["terms"])
    if terms is None:
        return Allowance(account, analyst, held.limit, held.spent, row.granted)
    now = moment(connection)
    if terms.until is not None and now >= terms.until:
        raise Refused(
            f"analyst '{analyst}' had a grant for '{account}' until {terms.until.isoformat()}",
            field="analyst",
            next_step=ASK_THE_OWNER,
        )
    asked = _asked(connection, account, analyst, terms)
    due = _due(account, analyst, terms, now)
    limit = held.limit if due is None else terms.limit(held.spent)
    return Allowance(account, analyst, limit, held.spent, row.granted, terms, due, asked)


def _due(account: str, analyst: str, terms: Terms, now: datetime) -> date | None:
    """Return the beginning of the period that holds a moment, if the newest grant is for an earlier one."""
    period = terms.period
    if period is None:
        return None
    began = period.at(now)
    if began is None:
        raise Refused(
            f"analyst '{analyst}' has a grant for '{account}' from {period.start.isoformat()} on",
            field="analyst",
            next_step="Ask then.",
        )
    return began if period.begun is None or began > period.begun else None


def _asked(connection: sa.Connection, account: str, analyst: str, terms: Terms) -> Mapping[str, int]:
    names = {own(analyst, counter_of(rule)): rule for rule, most in terms.rules.items() if most is not None}
    if not names:
        return {}
    rows = connection.execute(_COUNTED, {"of_account": account, "of_names": list(names)})
    used = {row.name: row.used for row in rows}
    return {rule: used.get(name, 0) for name, rule in names.items()}
