# SPDX-License-Identifier: Apache-2.0
"""The account book: accounts, and reservations that are committed or fail, and are never refunded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import (
    BudgetExceeded,
    DeclarationChanged,
    InputError,
    LedgerDamaged,
    LedgerError,
    Refused,
)
from anonymaly.ledger.inputs import added_rules, refuse_changes
from anonymaly.ledger.records import Account, Reservation, Rules, State
from anonymaly.ledger.schema import accounts, entries, heads, reservations
from anonymaly.ledger.transaction import RESTORE, Transaction, read_entry

_ACCOUNT = sa.select(accounts.c.limit, accounts.c.spent).where(accounts.c.name == sa.bindparam("of_account"))
_DECLARED = (
    sa.select(entries.c.body)
    .where(entries.c.account == sa.bindparam("of_account"), entries.c.kind.in_(["open", "rule"]))
    .order_by(entries.c.seq)
)
_began = entries.alias("began")
_ended = entries.alias("ended")
_JOINED = sa.select(
    sa.select(heads.c.ledger).scalar_subquery().label("ledger"),
    reservations.c.state,
    _began.c.seq,
    _began.c.body,
    _began.c.hash,
    _ended.c.seq.label("ended_seq"),
    _ended.c.body.label("ended_body"),
    _ended.c.hash.label("ended_hash"),
).select_from(
    reservations.join(_began, _began.c.seq == reservations.c.seq).outerjoin(
        _ended, _ended.c.seq == reservations.c.outcome
    )
)
_BY_KEY = _JOINED.where(
    reservations.c.account == sa.bindparam("of_account"), reservations.c.key == sa.bindparam("of_key")
)
_OF_ACCOUNT = _JOINED.where(reservations.c.account == sa.bindparam("of_account")).order_by(reservations.c.seq)
_ENTER = reservations.insert()
_END = (
    reservations.update()
    .where(reservations.c.seq == sa.bindparam("of_seq"), reservations.c.state == "reserved")
    .values(state=sa.bindparam("new_state"), outcome=sa.bindparam("new_outcome"))
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
            next_step=f"Give more than {to_text(account.limit)}: a budget is only ever raised.",
        )
    if to > account.limit:
        transaction.append("limit", name, {"from": account.limit, "to": to})
        raised = accounts.update().where(accounts.c.name == name).values({accounts.c.limit: to})
        transaction.connection.execute(raised)
    return get_account(transaction.connection, name)


def find_reservation(connection: sa.Connection, account: str, key: str) -> Reservation | None:
    """Return the reservation of a question, or None."""
    row = connection.execute(_BY_KEY, {"of_account": account, "of_key": key}).first()
    return None if row is None else _read(row)


def list_reservations(connection: sa.Connection, account: str) -> list[Reservation]:
    """Return an account's reservations in the order they were made."""
    return [_read(row) for row in connection.execute(_OF_ACCOUNT, {"of_account": account})]


def reserve(
    transaction: Transaction, account: str, *, analyst: str, key: str, cost: int, record: dict[str, Any]
) -> Reservation:
    """Charge the account, then the analyst, then append; or find that this question was charged before."""
    found = find_reservation(transaction.connection, account, key)
    if found is not None:
        if found.cost != cost:
            # Or a cheap charge could be made first and an expensive answer computed under it.
            raise LedgerError(
                f"was reserved at ε={to_text(found.cost)}, now asked at ε={to_text(cost)}",
                field="key",
                next_step="Give each question a key that depends on its epsilon.",
            )
        return found
    if not transaction.charge_account(account, cost):
        standing = get_account(transaction.connection, account)
        raise _exceeded(cost, standing.remaining, standing.limit, "")
    if not transaction.charge_analyst(account, analyst, cost):
        limit, spent = transaction.analyst(account, analyst) or (0, 0)
        raise _exceeded(cost, (limit or 0) - spent, limit or 0, f" for analyst '{analyst}'")
    data = {"analyst": analyst, "key": key, "cost": cost, "record": record}
    entry = transaction.append("reserve", account, data)
    row = {"seq": entry.seq, "account": account, "key": key, "analyst": analyst, "cost": cost}
    transaction.connection.execute(_ENTER, {**row, "state": "reserved", "outcome": None})
    return Reservation(
        ledger=transaction.head.ledger,
        account=account,
        analyst=analyst,
        key=key,
        cost=cost,
        record=record,
        state="reserved",
        seq=entry.seq,
        hash=entry.hash,
        time=entry.time,
        charged=True,
    )


def end(
    transaction: Transaction,
    reservation: Reservation,
    state: Literal["committed", "failed"],
    data: dict[str, Any],
) -> Reservation:
    """Commit or fail a reservation; whoever comes second gets what the first one wrote."""
    current = find_reservation(transaction.connection, reservation.account, reservation.key)
    if current is None or (current.ledger, current.hash) != (reservation.ledger, reservation.hash):
        raise LedgerError(
            "is not a reservation of this ledger", field="reservation", next_step="Reserve it here first."
        )
    if current.state != "reserved":
        return current  # one charge has one outcome, also for those who would have ended it otherwise
    kind = "commit" if state == "committed" else "fail"
    data = {"reservation": current.seq, "key": current.key, **data}
    entry = transaction.append(kind, current.account, data)
    values = {"of_seq": current.seq, "new_state": state, "new_outcome": entry.seq}
    if transaction.connection.execute(_END, values).rowcount != 1:
        raise LedgerDamaged("a reservation ended twice", field="ledger", next_step=RESTORE)
    return _ended_as(current, state, entry.seq, entry.hash, data)


def refuse_if_too_expensive(cost: int, *, remaining: int, limit: int) -> None:
    """Raise BudgetExceeded if a question costs more than remains."""
    if cost > remaining:
        raise _exceeded(cost, remaining, limit, "")


def _exceeded(cost: int, remaining: int, limit: int, whose: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"needs ε={to_text(cost)}; {to_text(remaining)} of {to_text(limit)} remain{whose}",
        field="epsilon",
        next_step="Lower epsilon, or ask the owner to raise the budget.",
    )


def _read(row: Any) -> Reservation:
    entry = read_entry(row)
    reservation = Reservation(
        ledger=row.ledger,
        account=str(entry.account),
        analyst=entry.data["analyst"],
        key=entry.data["key"],
        cost=entry.data["cost"],
        record=entry.data["record"],
        state="reserved",
        seq=entry.seq,
        hash=entry.hash,
        time=entry.time,
    )
    if row.state == "reserved":
        return reservation
    data = json.loads(row.ended_body)["data"]
    return _ended_as(reservation, row.state, row.ended_seq, row.ended_hash, data)


def _ended_as(
    reservation: Reservation, state: State, seq: int, hashed: str, data: Mapping[str, Any]
) -> Reservation:
    return replace(
        reservation,
        state=state,
        outcome_seq=seq,
        outcome_hash=hashed,
        digest=data.get("digest"),
        media_type=data.get("media_type"),
        size=data.get("size"),
        stage=data.get("stage"),
        error=data.get("error"),
    )
