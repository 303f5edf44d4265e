# SPDX-License-Identifier: Apache-2.0
"""The analyst's own part of a charge: what their grant allows, their limit, and their counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from anonymaly.errors import Refused
from anonymaly.ledger.allowance import Allowance
from anonymaly.ledger.counters import count, counter_of, own
from anonymaly.ledger.grants import renew
from anonymaly.ledger.promised import leave_money, leave_questions, list_held, no_questions
from anonymaly.ledger.records import Reservation
from anonymaly.ledger.schema import again
from anonymaly.ledger.terms import LARGEST_COUNT
from anonymaly.ledger.transaction import Transaction

_AGAIN = sa.select(again.c.seq).where(
    again.c.account == sa.bindparam("of_account"),
    again.c.key == sa.bindparam("of_key"),
    again.c.analyst == sa.bindparam("of_analyst"),
)


def is_charged(connection: sa.Connection, found: Reservation, analyst: str) -> bool:
    """Say whether an analyst was charged for a question, as the first or again."""
    of = {"of_account": found.account, "of_key": found.key, "of_analyst": analyst}
    return found.analyst == analyst or connection.execute(_AGAIN, of).first() is not None


@dataclass
class OwnPart:
    """What one charge does to the analyst who asks; ``mine`` is None in an account without grants."""

    transaction: Transaction
    mine: Allowance | None
    question: str | None
    rule: str | None
    cost: int
    once: dict[str, str]

    def admit(self) -> None:
        """Refuse what the grant does not allow, by the grant and by what this analyst asked alone."""
        mine, counted = self.mine, self._counters()
        if mine is None:
            return
        mine.admit(self.question, self.rule, self.cost)
        mine.refuse_beyond(self.cost)
        if self.rule is not None and counted and not self._is_counted(mine, counted):
            mine.refuse_uncounted(self.rule)

    def leave_to_others(self, counters: dict[str, int], *, new: bool) -> None:
        """Refuse what would take from the table what is kept for analysts who are held.

        By terms, a question that is not new to the table is refused where a new one would be: else, an empty
        table would tell which questions others asked. So what counts is what *this* analyst asked before.
        """
        mine, transaction = self.mine, self.transaction
        if mine is None or not (new or mine.terms is not None):
            return
        if not mine.held and (mine.terms is not None or list_held(transaction.connection, mine.account)):
            leave_money(transaction, mine.account, self.cost)
        if mine.held and (self.rule is None or mine.left_under(self.rule) is not None):
            return
        marks = self.once
        if mine.terms is not None:
            marks = {name: own(mine.analyst, mark) for name, mark in self.once.items()}
        elif not list_held(transaction.connection, mine.account):
            return
        known = {name for name, mark in marks.items() if transaction.counter(mine.account, mark) is not None}
        leave_questions(transaction, mine.account, counters, known)

    def charge(self, account: str, analyst: str) -> dict[str, Any]:
        """Charge the analyst, in a period that is renewed if it is new; return what the entry says of it."""
        if self.mine is not None:
            self.mine = renew(self.transaction, self.mine)
        if not self.transaction.charge_analyst(account, analyst, self.cost):
            raise AssertionError("an analyst who was admitted cannot pay")
        if self.mine is None:
            return {}
        named = self.mine.terms is not None and self.rule is not None
        return {"grant": self.mine.grant} | ({"rule": self.rule} if named else {})

    def count(self, account: str, counters: dict[str, int]) -> dict[str, list[int]]:
        """Count a question that is new to the table, for the table and for the analyst."""
        limits = counters | self._counters()
        try:
            return count(self.transaction, account, limits, self.once | self._marks())
        except Refused:
            if self.mine is None or self.mine.terms is None or self.rule is None:
                raise
            # The table's own numbers would tell of others.
            raise no_questions(self.rule) from None

    def charge_again(self, found: Reservation) -> None:
        """Charge a question that another was charged for to this analyst alone."""
        mine, transaction = self.mine, self.transaction
        if mine is None:
            return
        granted = self.charge(found.account, mine.analyst)
        counted = count(transaction, found.account, self._counters(), self._marks())
        data = {
            "reservation": found.seq,
            "key": found.key,
            "analyst": mine.analyst,
            "cost": self.cost,
            **granted,
            **({"question": self.question} if mine.terms is not None and self.question is not None else {}),
            **({"counters": counted} if counted else {}),
        }
        entry = transaction.append("again", found.account, data)
        row = {"seq": entry.seq, "account": found.account, "key": found.key, "analyst": mine.analyst}
        transaction.connection.execute(again.insert(), row)

    def _counters(self) -> dict[str, int]:
        """Return the analyst's own counter of the rule, if the grant or the table counts such questions."""
        mine, rule = self.mine, self.rule
        if mine is None or mine.terms is None or rule is None:
            return {}
        most = mine.terms.rules.get(rule)
        if most is None and counter_of(rule) not in self.once:
            return {}
        return {own(mine.analyst, counter_of(rule)): LARGEST_COUNT if most is None else most}

    def _marks(self) -> dict[str, str]:
        """Return by which name the analyst's own counter knows the question, if the rule's has one."""
        if self.mine is None or self.rule is None or counter_of(self.rule) not in self.once:
            return {}
        mark = own(self.mine.analyst, self.once[counter_of(self.rule)])
        return dict.fromkeys(self._counters(), mark)

    def _is_counted(self, mine: Allowance, counted: dict[str, int]) -> bool:
        marks = self._marks()
        return bool(marks) and all(
            self.transaction.counter(mine.account, marks[name]) is not None for name in counted
        )
