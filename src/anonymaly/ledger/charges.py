# SPDX-License-Identifier: Apache-2.0
"""An analyst's own charges: for what they asked first, and for what others had asked before them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from anonymaly.errors import InputError
from anonymaly.ledger.inputs import label
from anonymaly.ledger.records import Charge, ChargeReceipt
from anonymaly.ledger.schema import again, entries, heads, reservations
from anonymaly.ledger.transaction import genesis, link, read_entry, read_head_and_format

_HASH = re.compile(r"[0-9a-f]{64}")
_asked = entries.alias("asked")
_ended = entries.alias("ended")
_LEDGER = sa.select(heads.c.ledger).scalar_subquery().label("ledger")


def _select(asked: sa.FromClause) -> sa.Select[Any]:
    """Select charges, each with the entry that asked the question first."""
    return sa.select(
        entries.c.seq,
        entries.c.body,
        entries.c.hash,
        asked.c.body.label("asked"),
        _ended.c.body.label("ended"),
        _LEDGER,
    )


_FIRST = (
    _select(entries)
    .select_from(
        reservations.join(entries, entries.c.seq == reservations.c.seq).outerjoin(
            _ended, _ended.c.seq == reservations.c.outcome
        )
    )
    .where(
        reservations.c.account == sa.bindparam("of_account"),
        reservations.c.analyst == sa.bindparam("of_analyst"),
    )
)
_LATER = (
    _select(_asked)
    .select_from(
        again.join(entries, entries.c.seq == again.c.seq)
        .join(
            reservations,
            sa.and_(reservations.c.account == again.c.account, reservations.c.key == again.c.key),
        )
        .join(_asked, _asked.c.seq == reservations.c.seq)
        .outerjoin(_ended, _ended.c.seq == reservations.c.outcome)
    )
    .where(again.c.account == sa.bindparam("of_account"), again.c.analyst == sa.bindparam("of_analyst"))
)


def list_charges(connection: sa.Connection, account: str, analyst: str) -> list[Charge]:
    """Return an analyst's charges in their order, numbered from 1 on."""
    of = {"of_account": account, "of_analyst": analyst}
    rows = list(connection.execute(_FIRST, of))
    if read_head_and_format(connection)[1] > 1:
        rows += connection.execute(_LATER, of)
    rows.sort(key=lambda row: row.seq)
    return [_read(row, number) for number, row in enumerate(rows, start=1)]


def find_charge(connection: sa.Connection, account: str, key: str, analyst: str) -> Charge | None:
    """Return what an analyst was charged for a question, or None."""
    of = {"of_account": account, "of_analyst": analyst, "of_key": key}
    found = connection.execute(_FIRST.where(reservations.c.key == sa.bindparam("of_key")), of).first()
    later = read_head_and_format(connection)[1] > 1
    if found is None and later:
        found = connection.execute(_LATER.where(again.c.key == sa.bindparam("of_key")), of).first()
    if found is None:
        return None
    tables = (reservations, again) if later else (reservations,)
    return _read(found, sum(_count(connection, table, account, analyst, found.seq) for table in tables))


def _count(connection: sa.Connection, table: sa.Table, account: str, analyst: str, up_to: int) -> int:
    of = (table.c.account == account, table.c.analyst == analyst, table.c.seq <= up_to)
    return int(connection.execute(sa.select(sa.func.count()).select_from(table).where(*of)).scalar_one())


def check_charge(connection: sa.Connection, receipt: ChargeReceipt) -> bool:
    """Say whether a receipt is for a charge, and an answer, that stand in this ledger."""
    if not _could_be_ours(receipt):
        return False
    query = sa.select(entries).where(
        entries.c.account == receipt.account,
        entries.c.kind.in_(["reserve", "again"]),
        entries.c.hash == receipt.charge,
    )
    row = connection.execute(query).first()
    if row is None:
        return False
    before = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == row.seq - 1)).scalar()
    ledger = read_head_and_format(connection)[0].ledger
    if row.hash != link(before or genesis(ledger), row.seq, row.body):
        return False
    data = read_entry(row).data
    found = find_charge(connection, receipt.account, data["key"], data["analyst"])
    if found is None or found.hash != receipt.charge:
        return False
    now = found.receipt()
    # Given out before the answer was stored, it stays valid.
    return receipt in (now, replace(now, digest=None))


def _could_be_ours(receipt: ChargeReceipt) -> bool:
    """Say whether a receipt, which may come from anybody, holds what a database can be asked for."""
    number = isinstance(receipt.cost, int) and not isinstance(receipt.cost, bool)
    try:
        label(receipt.account, field="receipt")
    except InputError:
        return False
    return number and isinstance(receipt.charge, str) and _HASH.fullmatch(receipt.charge) is not None


def _read(row: Any, number: int) -> Charge:
    entry, asked = read_entry(row), _data(row.asked)
    record = asked["record"]
    return Charge(
        ledger=row.ledger,
        account=str(entry.account),
        analyst=entry.data["analyst"],
        number=number,
        cost=entry.data["cost"],
        question=str(record.get("question", "")),
        asks=str(record.get("asks", "")),
        time=entry.time,
        hash=entry.hash,
        digest=None if row.ended is None else _data(row.ended).get("digest"),
        record=record,
    )


def _data(body: str) -> Any:
    return json.loads(body)["data"]
