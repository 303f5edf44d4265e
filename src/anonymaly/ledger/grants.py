# SPDX-License-Identifier: Apache-2.0
"""What an owner allows: grants to analysts, revocations, pauses, and what was consented to.

Each function may be repeated: what is in force already is not written again.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import Refused
from anonymaly.ledger.accounts import get_account
from anonymaly.ledger.records import Account, Grant
from anonymaly.ledger.schema import analysts, entries, grants
from anonymaly.ledger.transaction import Transaction, read_entry, read_head_and_format

_JOINED = sa.select(entries, grants.c.analyst, grants.c.revoked, analysts.c.spent).select_from(
    grants.join(entries, entries.c.seq == grants.c.granted).join(
        analysts, sa.and_(analysts.c.account == grants.c.account, analysts.c.analyst == grants.c.analyst)
    )
)
# The analyst's own first; without one, any shows that the account knows grants at all.
_OF_ANALYST = (
    sa.select(grants.c.analyst, grants.c.granted, grants.c.revoked)
    .where(grants.c.account == sa.bindparam("of_account"))
    .order_by(sa.case((grants.c.analyst == sa.bindparam("of_analyst"), 0), else_=1))
    .limit(1)
)
_LAST_CONSENT = (
    sa.select(entries)
    .where(entries.c.account.is_not_distinct_from(sa.bindparam("of_account")), entries.c.kind == "consent")
    .order_by(entries.c.seq.desc())
    .limit(1)
)


def permit(transaction: Transaction, account: str, analyst: str) -> int | None:
    """Return the entry of the analyst's grant, or None in an account without grants; else refuse."""
    values = {"of_account": account, "of_analyst": analyst}
    row = transaction.connection.execute(_OF_ANALYST, values).first()
    if row is None:
        return None
    if row.analyst != analyst or row.revoked is not None:
        has = "has no grant" if row.analyst != analyst else "had a grant that was revoked"
        raise Refused(
            f"analyst '{analyst}' {has} for '{account}'", field="analyst", next_step="Ask the owner for one."
        )
    granted: int = row.granted
    return granted


def list_grants(connection: sa.Connection, account: str) -> list[Grant]:
    """Return the newest grant of each analyst, by name, revoked ones among them."""
    if read_head_and_format(connection)[1] == 1:
        return []
    rows = connection.execute(_JOINED.where(grants.c.account == account))
    return sorted((_read(row) for row in rows), key=lambda item: item.analyst)


def find_grant(connection: sa.Connection, account: str, analyst: str) -> Grant | None:
    """Return the newest grant of an analyst, or None."""
    return next((item for item in list_grants(connection, account) if item.analyst == analyst), None)


def grant(
    transaction: Transaction,
    account: str,
    analyst: str,
    *,
    limit: int | None,
    terms: dict[str, Any],
    said: dict[str, Any],
) -> Grant:
    """Grant an analyst questions, up to a limit of their own; it takes the place of an earlier grant."""
    get_account(transaction.connection, account)
    transaction.upgrade()
    connection = transaction.connection
    data = {"analyst": analyst, "limit": limit, "terms": terms, **said}
    before = find_grant(connection, account, analyst)
    if before is not None and before.standing and _data(before) == data:
        return before
    row = transaction.analyst(account, analyst)
    spent = 0 if row is None else row[1]
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
    return _found(connection, account, analyst)


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
