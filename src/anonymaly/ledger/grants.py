# SPDX-License-Identifier: Apache-2.0
"""What an owner allows: grants to analysts, revocations, pauses, and what was consented to.

Each function may be repeated: what is in force already is not written again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import InputError, Refused
from anonymaly.ledger.accounts import get_account
from anonymaly.ledger.allowance import Allowance
from anonymaly.ledger.charges import list_charges
from anonymaly.ledger.counters import counter_of, own, raise_counters
from anonymaly.ledger.promised import refuse_overcommitment
from anonymaly.ledger.records import Account, Grant
from anonymaly.ledger.schema import WITH_TERMS, analysts, entries, grants
from anonymaly.ledger.terms import RENEWAL, Terms
from anonymaly.ledger.transaction import Transaction, moment, read_entry, read_head_and_format

_JOINED = sa.select(entries, grants.c.analyst, grants.c.revoked, analysts.c.spent).select_from(
    grants.join(entries, entries.c.seq == grants.c.granted).join(
        analysts, sa.and_(analysts.c.account == grants.c.account, analysts.c.analyst == grants.c.analyst)
    )
)
_LAST_CONSENT = (
    sa.select(entries)
    .where(entries.c.account.is_not_distinct_from(sa.bindparam("of_account")), entries.c.kind == "consent")
    .order_by(entries.c.seq.desc())
    .limit(1)
)


_OF_ACCOUNT = _JOINED.where(grants.c.account == sa.bindparam("of_account"))
_OF_ANALYST = _OF_ACCOUNT.where(grants.c.analyst == sa.bindparam("of_analyst"))


def list_grants(connection: sa.Connection, account: str) -> list[Grant]:
    """Return the newest grant of each analyst, by name, revoked ones among them."""
    if read_head_and_format(connection)[1] == 1:
        return []
    rows = connection.execute(_OF_ACCOUNT, {"of_account": account})
    return sorted((_read(row) for row in rows), key=lambda item: item.analyst)


def find_grant(connection: sa.Connection, account: str, analyst: str) -> Grant | None:
    """Return the newest grant of an analyst, or None."""
    if read_head_and_format(connection)[1] == 1:
        return None
    row = connection.execute(_OF_ANALYST, {"of_account": account, "of_analyst": analyst}).first()
    return None if row is None else _read(row)


def grant(
    transaction: Transaction,
    account: str,
    analyst: str,
    *,
    limit: int | None,
    terms: dict[str, Any],
    said: dict[str, Any],
) -> Grant:
    """Grant an analyst questions, up to a limit of their own; it takes the place of an earlier grant.

    What was charged in a period counts in it, whatever grants come in between.
    """
    get_account(transaction.connection, account)
    transaction.upgrade()
    connection = transaction.connection
    before = find_grant(connection, account, analyst)
    row = transaction.analyst(account, analyst)
    spent = 0 if row is None else row[1]
    agreed = Terms.read(terms)
    if agreed is not None:
        if before is not None and before.standing and _is_same(before, limit, agreed, said):
            return before
        agreed, limit = _begin(transaction, account, analyst, agreed, limit, spent)
        terms = agreed.to_dict()
        transaction.upgrade(WITH_TERMS)
    data = {"analyst": analyst, "limit": limit, "terms": terms, **said}
    if before is not None and before.standing and _data(before) == data:
        return before
    if limit is not None and limit < spent:
        raise Refused(
            f"analyst '{analyst}' has spent ε={to_text(spent)}, and {to_text(limit)} is less",
            field="limit",
            next_step=f"Give at least {to_text(spent)}, or revoke the grant: a charge is never taken back.",
        )
    entry = transaction.append("grant", account, data)
    if row is None:
        new = {"account": account, "analyst": analyst, "limit": limit, "spent": 0}
        connection.execute(analysts.insert(), new)
    else:
        _limit(connection, account, analyst, limit)
    if before is None:
        new = {"account": account, "analyst": analyst, "granted": entry.seq, "revoked": None}
        connection.execute(grants.insert(), new)
    else:
        _mark(connection, account, analyst, granted=entry.seq, revoked=None)
    if agreed is not None:
        allotted = {own(analyst, counter_of(rule)): most for rule, most in agreed.rules.items() if most}
        raise_counters(transaction, account, allotted, said)
        if not agreed.overcommit:
            refuse_overcommitment(transaction, account)
    return _found(connection, account, analyst)


def _begin(
    transaction: Transaction, account: str, analyst: str, terms: Terms, limit: int | None, spent: int
) -> tuple[Terms, int | None]:
    """Return terms as they are written down, and what may be spent from now on; refuse what has no end."""
    now = moment(transaction.connection)
    if terms.until is not None and terms.until <= now:
        raise InputError(
            f"{terms.until.isoformat()} has passed", field="terms.until", next_step="Give a moment to come."
        )
    if terms.total is None and terms.period is None:
        terms = replace(terms, total=limit)
    if terms.total is None and not terms.overcommit:
        raise InputError(
            "must be said: what all questions together may cost, over all periods",
            field="terms.total",
            next_step="Give it in billionths of ε, or say overcommit: then the table may run out before.",
        )
    if terms.total is not None and limit is not None and limit > terms.total:
        raise InputError(
            f"is ε={to_text(limit)}, more than the total of {to_text(terms.total)}",
            field="limit",
            next_step="Leave it out: it follows from the total and the period.",
        )
    _refuse_unknown(get_account(transaction.connection, account), terms)
    begun = None if terms.period is None else terms.period.at(now)
    terms = terms.begun(begun)
    if limit is not None:
        return terms, limit
    if terms.period is None:
        return terms, terms.limit(spent)
    if begun is None:
        return terms, spent
    charged = list_charges(transaction.connection, account, analyst)
    since = sum(item.cost for item in charged if datetime.fromisoformat(item.time).date() >= begun)
    # More than a period's ε was charged in it where an earlier grant allowed more: nothing is left, then.
    return terms, terms.limit(spent - min(since, terms.period.epsilon))


def _refuse_unknown(account: Account, terms: Terms) -> None:
    """Refuse a rule that is not declared: it would be granted once somebody declares one of that name."""
    if isinstance(account.rules, str):
        return
    for rule in sorted(terms.rules.keys() - account.rules.keys()):
        raise InputError(
            f"there is no rule {rule!r}",
            field="terms.rules",
            next_step=f"Declared: {', '.join(sorted(account.rules)) or 'none'}.",
        )


def renew(transaction: Transaction, allowance: Allowance) -> Allowance:
    """Write down that a new period has begun, if one has; what is left of the one before is gone."""
    terms = allowance.terms
    if terms is None or allowance.due is None or terms.period is None:
        return allowance
    account, analyst = allowance.account, allowance.analyst
    terms = terms.begun(allowance.due)
    reason = f"period {terms.period.name(allowance.due)}" if terms.period is not None else ""
    data = {"analyst": analyst, "limit": allowance.limit, "terms": terms.to_dict()}
    entry = transaction.append("grant", account, data | {"by": RENEWAL, "reason": reason})
    _limit(transaction.connection, account, analyst, allowance.limit)
    _mark(transaction.connection, account, analyst, granted=entry.seq, revoked=None)
    return replace(allowance, grant=entry.seq, terms=terms, due=None)


def _is_same(before: Grant, limit: int | None, terms: Terms, said: dict[str, Any]) -> bool:
    """Say whether a grant was given in the same words: whoever repeats them does not renew anything."""
    known = Terms.read(before.terms)
    if known is None or (before.by, before.reason) != (said.get("by"), said.get("reason")):
        return False
    if terms.total is None and terms.period is None:
        terms = replace(terms, total=limit)
    return known.begun(None) == terms and limit in (None, before.limit)


def revoke(transaction: Transaction, account: str, analyst: str, said: dict[str, Any]) -> Grant:
    """Revoke a grant: nothing remains of the analyst's limit, and nothing more is charged to them."""
    get_account(transaction.connection, account)
    connection = transaction.connection
    before = find_grant(connection, account, analyst)
    if before is None:
        raise Refused(
            f"analyst '{analyst}' has no grant for '{account}'",
            field="analyst",
            next_step="Without grants, analysts are labels; the first grant shuts out all who have none.",
        )
    if before.standing:
        entry = transaction.append("revocation", account, {"analyst": analyst, **said})
        _limit(connection, account, analyst, before.spent)
        _mark(connection, account, analyst, revoked=entry.seq)
    return _found(connection, account, analyst)


def use_up(connection: sa.Connection, account: str) -> None:
    """Let nothing remain of what grants promise over all periods: any of them may lie in the lost part."""
    for item in list_grants(connection, account):
        terms = Terms.read(item.terms)
        if item.standing and terms is not None and terms.total is not None:
            mine = (analysts.c.account == account, analysts.c.analyst == item.analyst)
            used = {"limit": terms.total, "spent": terms.total}
            connection.execute(analysts.update().where(*mine).values(used))


def pause(transaction: Transaction, account: str, paused: bool, said: dict[str, Any]) -> Account:
    """Stop charging an account, or go on."""
    if get_account(transaction.connection, account).paused is not paused:
        transaction.append("pause", account, {"paused": paused, **said})
    return get_account(transaction.connection, account)


def consent(
    transaction: Transaction, account: str | None, subject: dict[str, Any], said: dict[str, Any]
) -> int:
    """Write down what an owner confirmed; return the number of its entry."""
    if account is not None:
        get_account(transaction.connection, account)
    data = {"subject": subject, **said}
    last = transaction.connection.execute(_LAST_CONSENT, {"of_account": account}).first()
    if last is not None and json.loads(last.body)["data"] == data:
        return int(last.seq)
    return transaction.append("consent", account, data).seq


def _found(connection: sa.Connection, account: str, analyst: str) -> Grant:
    found = find_grant(connection, account, analyst)
    if found is None:
        raise AssertionError("a grant that was just written is not there")
    return found


def _data(item: Grant) -> dict[str, Any]:
    return {
        "analyst": item.analyst,
        "limit": item.limit,
        "terms": item.terms,
        "by": item.by,
        "reason": item.reason,
    }


def _limit(connection: sa.Connection, account: str, analyst: str, limit: int | None) -> None:
    of = analysts.update().where(analysts.c.account == account, analysts.c.analyst == analyst)
    connection.execute(of.values({"limit": limit}))


def _mark(connection: sa.Connection, account: str, analyst: str, **values: int | None) -> None:
    of = grants.update().where(grants.c.account == account, grants.c.analyst == analyst)
    connection.execute(of.values(**values))


def _read(row: Any) -> Grant:
    entry = read_entry(row)
    return Grant(
        account=str(entry.account),
        **entry.data,
        seq=entry.seq,
        time=entry.time,
        spent=row.spent,
        revoked=row.revoked,
    )
