# SPDX-License-Identifier: Apache-2.0
"""Opening, reading and raising accounts."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import DeclarationChanged, InputError, LedgerError, Refused
from anonymaly.ledger.inputs import added_rules, refuse_changes
from anonymaly.ledger.records import Account, Rules
from anonymaly.ledger.schema import accounts, entries
from anonymaly.ledger.transaction import Transaction

_ACCOUNT = sa.select(accounts.c.limit, accounts.c.spent).where(accounts.c.name == sa.bindparam("of_account"))
_DECLARED = (
    sa.select(entries.c.body)
    .where(entries.c.account == sa.bindparam("of_account"), entries.c.kind.in_(["open", "rule"]))
    .order_by(entries.c.seq)
)


def find_account(connection: sa.Connection, name: str) -> Account | None:
    """Return an account as it stands, or None."""
    row = connection.execute(_ACCOUNT, {"of_account": name}).first()
    if row is None:
        return None
    opened, *added = (
        json.loads(body)["data"] for body in connection.execute(_DECLARED, {"of_account": name}).scalars()
    )
    rules: Rules = opened["rules"]
    if rules != "any":
        rules = {**rules, **{data["name"]: data["rule"] for data in added}}
    return Account(
        name=name, limit=row.limit, spent=row.spent, declaration=opened["declaration"], rules=rules
    )


def get_account(connection: sa.Connection, name: str) -> Account:
    """Return an account as it stands, or say that there is none."""
    account = find_account(connection, name)
    if account is None:
        raise LedgerError(
            f"the ledger has no account '{name}'",
            field="name",
            next_step="Check the dataset's name, or open the account with a budget.",
        )
    return account


def list_accounts(connection: sa.Connection) -> list[str]:
    """Return the names of all accounts, sorted."""
    # Sorted here: databases order text by the locale.
    return sorted(connection.execute(sa.select(accounts.c.name)).scalars())


def compare_account(
    account: Account, declaration: dict[str, Any], limit: int | None, rules: Rules
) -> dict[str, Any]:
    """Return the rules that are new to an account; refuse any other difference."""
    refuse_changes(account.name, dict(account.declaration), declaration)
    added = added_rules(account.name, account.rules, rules)
    if limit is not None and limit != account.limit:
        had, now = to_text(account.limit), to_text(limit)
        raise DeclarationChanged(
            f"the account '{account.name}' has ε={had}, now given ε={now}",
            field="budget",
            next_step=f"To raise it: raise_budget(to={now}), or `anonymaly ledger … --raise-budget {now}`."
            if limit > account.limit
            else f"A budget is only ever raised, by raise_budget. Give budget={had}, or none.",
        )
    return added


def open_account(
    transaction: Transaction, name: str, declaration: dict[str, Any], limit: int | None, rules: Rules
) -> Account:
    """Open an account, or check that it was opened under the same declaration and add new rules."""
    account = find_account(transaction.connection, name)
    if account is None:
        if limit is None:
            raise InputError(
                f"the account '{name}' is new and has no budget",
                field="budget",
                next_step="Give the total ε that all its answers may spend, such as budget=1.0.",
            )
        data = {"declaration": declaration, "limit": limit, "rules": rules}
        transaction.append("open", name, data)
        transaction.connection.execute(accounts.insert(), {"name": name, "limit": limit, "spent": 0})
        return Account(name=name, limit=limit, spent=0, declaration=declaration, rules=rules)
    added = compare_account(account, declaration, limit, rules)
    for rule in added:
        transaction.append("rule", name, {"name": rule, "rule": added[rule]})
    return get_account(transaction.connection, name) if added else account


def raise_limit(transaction: Transaction, name: str, to: int) -> Account:
    """Raise an account's limit; the same limit again changes nothing."""
    account = get_account(transaction.connection, name)
    if to < account.limit:
        raise Refused(
            f"the account '{name}' has ε={to_text(account.limit)}, and {to_text(to)} is less",
            field="budget",
            next_step="A budget is only ever raised.",
        )
    if to > account.limit:
        transaction.append("limit", name, {"from": account.limit, "to": to})
        raised = accounts.update().where(accounts.c.name == name).values({accounts.c.limit: to})
        transaction.connection.execute(raised)
    return get_account(transaction.connection, name)
