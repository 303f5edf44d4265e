# SPDX-License-Identifier: Apache-2.0
"""What a table keeps for its analysts, so that none of them meets what another one spent.

A grant with terms, unless they say ``overcommit``, is *held*: what is spent, and what all who are held may
still spend, together fit into the table's limit, and so do the questions they may still ask under a rule that
counts them. A charge to a held analyst leaves that sum as it is, or lowers it where the table was charged
before. Everybody else draws on what is left beside it. So a held analyst is never refused for want of what
the table has: their own limit ends first, and its end tells nothing of others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.declare.rules import SameContexts, read_rule
from anonymaly.errors import BudgetExceeded, Refused
from anonymaly.ledger.accounts import get_account
from anonymaly.ledger.counters import counter_of, own
from anonymaly.ledger.schema import analysts, entries, grants
from anonymaly.ledger.terms import Terms
from anonymaly.ledger.transaction import Transaction, read_entry

_STANDING = (
    sa.select(entries, analysts.c.analyst, analysts.c.spent)
    .select_from(
        grants.join(entries, entries.c.seq == grants.c.granted).join(
            analysts, sa.and_(analysts.c.account == grants.c.account, analysts.c.analyst == grants.c.analyst)
        )
    )
    .where(grants.c.account == sa.bindparam("of_account"), grants.c.revoked.is_(None))
)


@dataclass(frozen=True, slots=True)
class Held:
    """A held analyst: what was agreed, and what they spent, in nano-ε."""

    analyst: str
    terms: Terms
    spent: int

    @property
    def kept(self) -> int:
        """What they may still spend, over all periods."""
        return max((self.terms.total or 0) - self.spent, 0)


def list_held(connection: sa.Connection, account: str) -> list[Held]:
    """Return the analysts for whom an account keeps what was promised."""
    found = []
    for row in connection.execute(_STANDING, {"of_account": account}):
        terms = Terms.read(read_entry(row).data["terms"])
        if terms is not None and not terms.overcommit:
            found.append(Held(row.analyst, terms, row.spent))
    return found


def kept_for(held: Iterable[Held]) -> int:
    """Return what is kept for analysts together."""
    return sum(item.kept for item in held)


def counted_rules(rules: Mapping[str, Any] | str) -> dict[str, int]:
    """Return how many questions each rule allows that counts them."""
    if isinstance(rules, str):
        return {}
    read = {name: read_rule(rule, field=name) for name, rule in rules.items() if _counts(rule)}
    return {name: rule.questions for name, rule in read.items() if isinstance(rule, SameContexts)}


def _counts(rule: Any) -> bool:
    return isinstance(rule, Mapping) and rule.get("type") == "same_contexts"


def refuse_overcommitment(transaction: Transaction, account: str) -> None:
    """Refuse what was just granted if the table could not keep it, ε and counted questions."""
    connection = transaction.connection
    standing, held = get_account(connection, account), list_held(connection, account)
    kept = kept_for(held)
    if standing.spent + kept > standing.limit:
        free = standing.limit - standing.spent - kept
        raise Refused(
            f"what is granted is ε={to_text(-free)} more than '{account}' has: of {to_text(standing.limit)}, "
            f"{to_text(standing.spent)} are spent, and {to_text(kept)} would be kept for {len(held)} "
            f"analyst{'' if len(held) == 1 else 's'}",
            field="terms.total",
            next_step="Grant less, revoke a grant that has ended, raise the table's budget, or say "
            "overcommit: then this analyst shares what is kept for nobody, and may find the table empty.",
        )
    rules = counted_rules(standing.rules)
    for item in held:
        for rule, questions in sorted(rules.items()):
            if item.terms.may_cite(rule) and item.terms.rules.get(rule) is None:
                raise Refused(
                    f"the rule {rule!r} counts questions, and analyst '{item.analyst}' was granted no number",
                    field="terms.rules",
                    next_step=f"Say how many of its {questions:,} they may ask, or say overcommit.",
                )
    refuse_short_rules(transaction, account, rules)


def refuse_short_rules(transaction: Transaction, account: str, rules: Mapping[str, int]) -> None:
    """Refuse that rules allow fewer questions than analysts were promised."""
    held = list_held(transaction.connection, account) if rules else []
    for rule, questions in sorted(rules.items()):
        number, used = _number(transaction, account, rule, questions)
        kept = _kept_questions(transaction, account, rule, held)
        if kept and used + kept > number:  # without a promise, a rule may allow less than was asked
            raise Refused(
                f"the rule {rule!r} allows {number:,} questions: {used:,} are asked, and {kept:,} would be "
                "kept for analysts",
                field="terms.rules",
                next_step="Allot fewer, allow more questions under the rule, or say overcommit.",
            )


def refuse_fewer(transaction: Transaction, account: str, before: Mapping[str, Any] | str) -> None:
    """Refuse new rules that allow fewer questions than the ones before, if analysts were promised them.

    Also one that comes back: what was allotted under its name is.
    """
    known, now = counted_rules(before), counted_rules(get_account(transaction.connection, account).rules)
    fewer = {rule: most for rule, most in now.items() if rule not in known or most < known[rule]}
    refuse_short_rules(transaction, account, fewer)


def leave_money(transaction: Transaction, account: str, cost: int) -> None:
    """Refuse a charge of somebody who is not held if it would take what is kept for others."""
    kept = kept_for(list_held(transaction.connection, account))
    standing = get_account(transaction.connection, account)
    if standing.spent + cost + kept > standing.limit:
        raise no_money(cost)


def leave_questions(
    transaction: Transaction, account: str, counters: Mapping[str, int], counted: Collection[str]
) -> None:
    """Refuse a question if it would take what is kept for others under its rule.

    ``counted`` are the counters that it does not let go up any more.
    """
    connection = transaction.connection
    rules = counted_rules(get_account(connection, account).rules) if counters else {}
    for rule, questions in rules.items():
        name = counter_of(rule)
        if name not in counters or name in counted:
            continue
        number, used = _number(transaction, account, rule, min(questions, counters[name]))
        if used + 1 + _kept_questions(transaction, account, rule, list_held(connection, account)) > number:
            raise no_questions(rule)


def no_money(cost: int) -> BudgetExceeded:
    """Return the refusal for want of what the table has; it has no number that tells of others."""
    return BudgetExceeded(
        f"needs ε={to_text(cost)}, which the table does not have for you",
        field="epsilon",
        next_step="Lower epsilon, or ask the owner to raise the table's budget.",
    )


def no_questions(rule: str) -> Refused:
    """Return the refusal for want of questions under a rule, without a number."""
    return Refused(
        f"the rule {rule!r} has no more questions for you",
        field="rules",
        next_step="Ask something else, or ask the owner to allow more.",
    )


def _number(transaction: Transaction, account: str, rule: str, questions: int) -> tuple[int, int]:
    """Return how many questions a rule allows in all, and how many of them are asked."""
    limit, used = transaction.counter(account, counter_of(rule)) or (questions, 0)
    return min(limit, questions), used


def _kept_questions(transaction: Transaction, account: str, rule: str, held: Iterable[Held]) -> int:
    kept = 0
    for item in held:
        most = item.terms.rules.get(rule) or 0
        _, used = transaction.counter(account, own(item.analyst, counter_of(rule))) or (0, 0)
        kept += max(most - used, 0)
    return kept
