# SPDX-License-Identifier: Apache-2.0
"""Accounts: what was declared, how it was amended, and the limit."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import DeclarationChanged, InputError, LedgerError, Refused
from anonymaly.ledger.declarations import Declared, read_declarations
from anonymaly.ledger.fixed import FIXED, fixed
from anonymaly.ledger.inputs import added_rules, differences, refuse_changes
from anonymaly.ledger.records import Account, Rules
from anonymaly.ledger.schema import accounts, by_index, entries
from anonymaly.ledger.transaction import Transaction, read_entry

_ACCOUNT = sa.select(accounts.c.limit, accounts.c.spent).where(accounts.c.name == sa.bindparam("of_account"))
_DECLARED = (
    sa.select(entries.c.seq, entries.c.body, entries.c.hash)
    .where(
        entries.c.account == sa.bindparam("of_account"),
        entries.c.kind.in_(["open", "rule", "amendment", "pause"]),
    )
    .order_by(entries.c.seq)
)
_OF_ACCOUNT = entries.c.account == sa.bindparam("of_account")
_OPENED = sa.select(entries.c.seq, entries.c.body).where(_OF_ACCOUNT, entries.c.kind == "open")
_IN_FORCE = sa.select(
    sa.select(sa.func.max(by_index(entries.c.seq)))
    .where(_OF_ACCOUNT, entries.c.kind.in_(["open", "amendment"]))
    .scalar_subquery()
    .label("number"),
    sa.select(entries.c.body)
    .where(_OF_ACCOUNT, entries.c.kind == "pause")
    .order_by(by_index(entries.c.seq).desc())
    .limit(1)
    .scalar_subquery()
    .label("pause"),
)
_EPOCHS = sa.select(entries.c.seq, entries.c.body).where(
    entries.c.account.is_(None), entries.c.kind == "epoch"
)


def find_account(connection: sa.Connection, name: str) -> Account | None:
    """Return an account as it stands, or None."""
    row = connection.execute(_ACCOUNT, {"of_account": name}).first()
    if row is None:
        return None
    found = [read_entry(entry) for entry in connection.execute(_DECLARED, {"of_account": name})]
    declared = read_declarations(found)[-1]
    pauses = [entry.data["paused"] for entry in found if entry.kind == "pause"]
    return Account(
        name=name,
        limit=row.limit,
        spent=row.spent,
        declaration=declared.declaration,
        rules=declared.rules,
        number=declared.number,
        paused=bool(pauses and pauses[-1]),
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


def list_declarations(connection: sa.Connection, name: str) -> tuple[Declared, ...]:
    """Return all that was ever declared for an account, oldest first."""
    get_account(connection, name)
    return read_declarations(map(read_entry, connection.execute(_DECLARED, {"of_account": name})))


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
    refuse_another_limit(account, limit)
    return added


def refuse_another_limit(account: Account, limit: int | None) -> None:
    """Raise an error if a limit is given and is not the account's."""
    if limit is not None and limit != account.limit:
        had, now = to_text(account.limit), to_text(limit)
        raise DeclarationChanged(
            f"the account '{account.name}' has ε={had}, now given ε={now}",
            field="budget",
            next_step=f"To raise it: raise_budget(to={now}), or `anonymaly ledger … --raise-budget {now}`."
            if limit > account.limit
            else f"A budget is only ever raised, by raise_budget. Give budget={had}, or none.",
        )


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
        spent = _lost(transaction.connection, name, limit)
        data = {"declaration": declaration, "limit": limit, "rules": rules}
        transaction.append("open", name, data | ({"spent": spent} if spent else {}))
        transaction.connection.execute(accounts.insert(), {"name": name, "limit": limit, "spent": spent})
        return get_account(transaction.connection, name)
    added = compare_account(account, declaration, limit, rules)
    for rule in added:
        transaction.append("rule", name, {"name": rule, "rule": added[rule]})
    return get_account(transaction.connection, name) if added else account


def _lost(connection: sa.Connection, name: str, limit: int) -> int:
    """Return what counts as spent in a new account: its limit, if a lost part had opened it."""
    known = [json.loads(row.body)["data"].get("lost", {}).get(name, 0) for row in connection.execute(_EPOCHS)]
    spent: int = max(known, default=0)
    if spent >= limit:
        raise Refused(
            f"the account '{name}' was opened in a part of the ledger that is lost, with ε={to_text(spent)},"
            " and all of that counts as spent",
            field="budget",
            next_step=f"Give more than {to_text(spent)}: only what is above it may be spent.",
        )
    return spent


def lost_a_part(connection: sa.Connection, name: str) -> bool:
    """Say whether entries of an account may be lost: a new epoch was opened over a copy that ended early.

    An epoch that says nothing of a bound was opened before there was anything but ε to lose.
    """
    opened = connection.execute(_OPENED, {"of_account": name}).one()
    after = [json.loads(row.body)["data"] for row in connection.execute(_EPOCHS) if row.seq > opened.seq]
    return any("bounded" in data for data in after) or "spent" in json.loads(opened.body)["data"]


def in_force(connection: sa.Connection, name: str) -> tuple[int, bool]:
    """Return the number of the declaration in force, and whether the account is paused."""
    row = connection.execute(_IN_FORCE, {"of_account": name}).one()
    if row.number is None:
        get_account(connection, name)
    return row.number, row.pause is not None and json.loads(row.pause)["data"]["paused"]


def find_differences(account: Account, declaration: dict[str, Any], rules: Rules) -> list[str]:
    """Say field by field what an amendment would change; refuse what none may change."""
    before, now = fixed(dict(account.declaration)), fixed(declaration)
    if before != now:
        raise DeclarationChanged(
            f"the account '{account.name}' cannot be amended in {', '.join(FIXED)}: "
            + "; ".join(differences(before, now)),
            field="declaration",
            next_step="Restore it. They say what a charge means: otherwise their sum would lose its meaning.",
        )
    found = differences(dict(account.declaration), declaration)
    return found + differences({"rules": account.rules}, {"rules": rules})


def amend(
    transaction: Transaction,
    name: str,
    declaration: dict[str, Any],
    rules: Rules,
    data: dict[str, Any],
    replaces: int | None,
) -> Account:
    """Put another declaration and other rules in force; the same ones again change nothing.

    Budget and charges stay. ``data`` is what else the entry keeps: why, by whom, what it was learned from.
    """
    account = get_account(transaction.connection, name)
    if replaces not in (None, account.number):
        raise DeclarationChanged(
            f"the account '{name}' was amended meanwhile: {account.number} is in force, not {replaces}",
            field="declaration",
            next_step="Look at the difference again; nothing was written.",
        )
    found = find_differences(account, declaration, rules)
    if found:
        entry = {"declaration": declaration, "rules": rules, "differences": found, **data}
        transaction.append("amendment", name, entry)
    return get_account(transaction.connection, name)


def raise_limit(transaction: Transaction, name: str, to: int, said: dict[str, Any]) -> Account:
    """Raise an account's limit; the same limit again changes nothing. ``said`` is by whom and why."""
    account = get_account(transaction.connection, name)
    if to < account.limit:
        raise Refused(
            f"the account '{name}' has ε={to_text(account.limit)}, and {to_text(to)} is less",
            field="budget",
            next_step=f"Give more than {to_text(account.limit)}: a budget is only ever raised.",
        )
    if to > account.limit:
        transaction.append("limit", name, {"from": account.limit, "to": to, **said})
        raised = accounts.update().where(accounts.c.name == name).values({accounts.c.limit: to})
        transaction.connection.execute(raised)
    return get_account(transaction.connection, name)
