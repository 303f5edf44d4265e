# SPDX-License-Identifier: Apache-2.0
"""Reservations: charged, then committed or failed, and never refunded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.errors import BudgetExceeded, DeclarationChanged, LedgerDamaged, LedgerError, Refused
from anonymaly.ledger.accounts import get_account, in_force, list_declarations
from anonymaly.ledger.allowance import allowance_of
from anonymaly.ledger.own_part import OwnPart, is_charged
from anonymaly.ledger.promised import no_money
from anonymaly.ledger.records import Reservation, State
from anonymaly.ledger.schema import entries, heads, reservations
from anonymaly.ledger.transaction import RESTORE, Transaction, read_entry

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
_NUMBER_OF_ACCOUNT = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.account == sa.bindparam("of_account"))
)
_ENTER = reservations.insert()
_END = (
    reservations.update()
    .where(reservations.c.seq == sa.bindparam("of_seq"), reservations.c.state == "reserved")
    .values(state=sa.bindparam("new_state"), outcome=sa.bindparam("new_outcome"))
)


def find_reservation(connection: sa.Connection, account: str, key: str) -> Reservation | None:
    """Return the reservation of a question, or None."""
    row = connection.execute(_BY_KEY, {"of_account": account, "of_key": key}).first()
    return None if row is None else _read(row)


def list_reservations(connection: sa.Connection, account: str) -> list[Reservation]:
    """Return an account's reservations in the order they were made."""
    return [_read(row) for row in connection.execute(_OF_ACCOUNT, {"of_account": account})]


def count_reservations(connection: sa.Connection, account: str) -> int:
    """Return how many questions an account was charged for."""
    return int(connection.execute(_NUMBER_OF_ACCOUNT, {"of_account": account}).scalar_one())


def reserve(
    transaction: Transaction,
    account: str,
    *,
    analyst: str,
    key: str,
    cost: int,
    record: dict[str, Any],
    counters: dict[str, int] | None = None,
    once: dict[str, str] | None = None,
    declaration: int | None = None,
    rule: str | None = None,
) -> Reservation:
    """Charge the account, the analyst and counters; or find that this question was charged before.

    Where analysts have grants, one who was not charged for the question is refused by the same checks, in the
    same order, and in the same words, whether another was or not.
    """
    connection = transaction.connection
    found = find_reservation(connection, account, key)
    if found is not None:
        _refuse_another_price(found, cost)
        if transaction.format == 1:  # knows neither pauses nor grants
            return found
    transaction.upgrade()
    mine = allowance_of(connection, account, analyst)
    number, paused = in_force(connection, account)
    if found is not None and (mine is None or is_charged(connection, found, analyst)):
        if found.state == "reserved" and paused:
            raise _paused(account)
        return found
    if paused:
        raise _paused(account)
    if declaration is not None and declaration != number:
        by = list_declarations(connection, account)[-1].by or "its owner"
        raise DeclarationChanged(
            f"the account '{account}' was amended at entry {number} by {by}: this question is bound to "
            f"declaration {declaration}, and {number} is in force",
            field="declaration",
            next_step="Open the account again and ask anew; nothing was charged.",
        )
    own = OwnPart(transaction, mine, record.get("question"), rule, cost, once or {})
    own.admit()
    own.leave_to_others(counters or {}, new=found is None)
    if found is not None:
        own.charge_again(found)
        return found
    if not transaction.charge_account(account, cost):
        if mine is not None and mine.terms is not None:
            raise no_money(cost)
        standing = get_account(connection, account)
        raise _exceeded(cost, standing.remaining, standing.limit)
    granted = own.charge(account, analyst)
    counted = own.count(account, counters or {})
    data = {"analyst": analyst, "key": key, "cost": cost, "record": record}
    data |= granted
    data |= {} if declaration is None else {"declaration": declaration}
    data |= {"counters": counted} if counted else {}
    entry = transaction.append("reserve", account, data)
    row = {"seq": entry.seq, "account": account, "key": key, "analyst": analyst, "cost": cost}
    connection.execute(_ENTER, {**row, "state": "reserved", "outcome": None})
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
        declaration=declaration,
    )


def _refuse_another_price(found: Reservation, cost: int) -> None:
    if found.cost != cost:
        # Or a cheap charge could be made first and an expensive answer computed under it.
        raise LedgerError(
            f"was reserved at ε={to_text(found.cost)}, now asked at ε={to_text(cost)}",
            field="key",
            next_step="Give each question a key that depends on its epsilon.",
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
    return replace(_ended_as(current, state, entry.seq, entry.hash, data), outcome_time=entry.time)


def refuse_if_too_expensive(cost: int, *, remaining: int, limit: int) -> None:
    """Raise BudgetExceeded if a question costs more than remains."""
    if cost > remaining:
        raise _exceeded(cost, remaining, limit)


def _paused(account: str) -> Refused:
    return Refused(
        f"the account '{account}' is paused by its owner",
        field="account",
        next_step="Ask again when it is resumed; answers that are stored stay free.",
    )


def _exceeded(cost: int, remaining: int, limit: int) -> BudgetExceeded:
    return BudgetExceeded(
        f"needs ε={to_text(cost)}; {to_text(remaining)} of {to_text(limit)} remain",
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
        declaration=entry.data.get("declaration"),
    )
    if row.state == "reserved":
        return reservation
    body = json.loads(row.ended_body)
    ended = _ended_as(reservation, row.state, row.ended_seq, row.ended_hash, body["data"])
    return replace(ended, outcome_time=body["time"])


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
