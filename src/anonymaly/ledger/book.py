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
from anonymaly.ledger.counters import count
from anonymaly.ledger.grants import permit
from anonymaly.ledger.records import Reservation, State
from anonymaly.ledger.schema import again, entries, heads, reservations
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
_ENTER = reservations.insert()
_END = (
    reservations.update()
    .where(reservations.c.seq == sa.bindparam("of_seq"), reservations.c.state == "reserved")
    .values(state=sa.bindparam("new_state"), outcome=sa.bindparam("new_outcome"))
)
_AGAIN = sa.select(again.c.seq).where(
    again.c.account == sa.bindparam("account"),
    again.c.key == sa.bindparam("key"),
    again.c.analyst == sa.bindparam("analyst"),
)


def find_reservation(connection: sa.Connection, account: str, key: str) -> Reservation | None:
    """Return the reservation of a question, or None."""
    row = connection.execute(_BY_KEY, {"of_account": account, "of_key": key}).first()
    return None if row is None else _read(row)


def list_reservations(connection: sa.Connection, account: str) -> list[Reservation]:
    """Return an account's reservations in the order they were made."""
    return [_read(row) for row in connection.execute(_OF_ACCOUNT, {"of_account": account})]


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
) -> Reservation:
    """Charge the account, then the analyst, then counters; or find that this question was charged before."""
    found = find_reservation(transaction.connection, account, key)
    if found is not None:
        return _charge_again(transaction, found, analyst, cost)
    transaction.upgrade()
    number, paused = in_force(transaction.connection, account)
    if paused:
        raise _paused(account)
    if declaration is not None and declaration != number:
        by = list_declarations(transaction.connection, account)[-1].by or "its owner"
        raise DeclarationChanged(
            f"the account '{account}' was amended at entry {number} by {by}: this question is bound to "
            f"declaration {declaration}, and {number} is in force",
            field="declaration",
            next_step="Open the account again and ask anew; nothing was charged.",
        )
    granted = permit(transaction, account, analyst)
    if not transaction.charge_account(account, cost):
        standing = get_account(transaction.connection, account)
        raise _exceeded(cost, standing.remaining, standing.limit, "")
    _charge_analyst(transaction, account, analyst, cost)
    counted = count(transaction, account, counters or {}, once or {})
    data = {"analyst": analyst, "key": key, "cost": cost, "record": record}
    data |= {} if granted is None else {"grant": granted}
    data |= {} if declaration is None else {"declaration": declaration}
    data |= {"counters": counted} if counted else {}
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
        declaration=declaration,
    )


def _charge_again(transaction: Transaction, found: Reservation, analyst: str, cost: int) -> Reservation:
    """Hand out a charge that stands; where analysts have grants, another one pays from theirs."""
    if found.cost != cost:
        # Or a cheap charge could be made first and an expensive answer computed under it.
        raise LedgerError(
            f"was reserved at ε={to_text(found.cost)}, now asked at ε={to_text(cost)}",
            field="key",
            next_step="Give each question a key that depends on its epsilon.",
        )
    if transaction.format == 1:  # knows neither pauses nor grants
        return found
    if found.state == "reserved" and in_force(transaction.connection, found.account)[1]:
        raise _paused(found.account)
    granted = permit(transaction, found.account, analyst)
    if granted is None or found.analyst == analyst:
        return found
    row = {"account": found.account, "key": found.key, "analyst": analyst}
    if transaction.connection.execute(_AGAIN, row).first() is None:
        _charge_analyst(transaction, found.account, analyst, cost)
        data = {
            "reservation": found.seq,
            "key": found.key,
            "analyst": analyst,
            "cost": cost,
            "grant": granted,
        }
        entry = transaction.append("again", found.account, data)
        transaction.connection.execute(again.insert(), {"seq": entry.seq, **row})
    return found


def _charge_analyst(transaction: Transaction, account: str, analyst: str, cost: int) -> None:
    if not transaction.charge_analyst(account, analyst, cost):
        limit, spent = transaction.analyst(account, analyst) or (0, 0)
        raise _exceeded(cost, (limit or 0) - spent, limit or 0, f" for analyst '{analyst}'")


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


def _paused(account: str) -> Refused:
    return Refused(
        f"the account '{account}' is paused by its owner",
        field="account",
        next_step="Ask again when it is resumed; answers that are stored stay free.",
    )


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
        declaration=entry.data.get("declaration"),
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
