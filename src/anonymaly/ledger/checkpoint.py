# SPDX-License-Identifier: Apache-2.0
"""How far the chain was checked, so that opening need not begin at the first entry every time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.ledger.schema import checked
from anonymaly.ledger.transaction import Transaction

EVERY = 1000  # new entries before opening writes down how far it checked; fewer take milliseconds to check

_CHECKED = sa.select(checked.c.seq, checked.c.hash, checked.c.sums)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An entry that was checked with all before it, and what they add up to."""

    seq: int
    hash: str
    sums: Any


def read_checkpoint(connection: sa.Connection) -> Checkpoint | None:
    """Return the newest checkpoint of a ledger that has the table, or None."""
    row = connection.execute(_CHECKED).first()
    return None if row is None else Checkpoint(row.seq, row.hash, json.loads(row.sums))


def write_checkpoint(transaction: Transaction, found: Checkpoint) -> None:
    """Write down how far the chain was checked, unless somebody was further."""
    if transaction.format == 1:
        return
    row = {"seq": found.seq, "hash": found.hash, "sums": canonical_json(found.sums)}
    before = transaction.connection.execute(_CHECKED).first()
    if before is None:
        transaction.connection.execute(checked.insert(), {"id": 1, **row})
    elif before.seq < found.seq:
        transaction.connection.execute(checked.update().values(row))
