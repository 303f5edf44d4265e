# SPDX-License-Identifier: Apache-2.0
"""What owner and auditor read of the books: entries, their check, and keys; for HTTP and for pages alike."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from anonymaly.ledger.records import Entry
from anonymaly.server.authentication import Caller
from anonymaly.server.problems import unknown
from anonymaly.server.services import Services, view
from anonymaly.server.shown import moment
from anonymaly.server.state import State, keys, uses


def entries_of(services: Services, caller: Caller, table: str) -> list[Entry]:
    """Return the ledger's entries about a table, and about the ledger itself, oldest first."""
    ledger = services.ledgers.of(view(services, caller, table).table)
    return [] if ledger is None else ledger.entries(table)


def verification_of(services: Services, caller: Caller, table: str) -> dict[str, Any]:
    """Check the whole ledger: every link of its chain, and every sum."""
    seen = view(services, caller, table)
    with services.ledgers.anew(seen.table) as ledger:
        if ledger is None:
            raise unknown()
        return ledger.verify().to_dict()


def keys_of(state: State, after: str | None, limit: int) -> dict[str, Any]:
    """Return a page of keys by their public parts; nothing here lets anybody in."""
    of = sa.select(keys, uses.c.used_at).select_from(keys.outerjoin(uses, uses.c.id == keys.c.id))
    if after is not None:
        of = of.where(keys.c.id > after)
    with state.read() as connection:
        rows = connection.execute(of.order_by(keys.c.id).limit(limit + 1)).all()
    items = [_key(row) for row in rows[:limit]]
    return {"items": items, "next": items[-1]["id"] if len(rows) > limit else None}


def _key(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "person": row.person,
        "role": row.role,
        "label": row.label,
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "revoked_at": moment(row.revoked_at),
        "used_at": moment(row.used_at),
    }
