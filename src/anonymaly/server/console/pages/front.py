# SPDX-License-Identifier: Apache-2.0
"""The front page: the tables that whoever visits may see, and what is left."""

from __future__ import annotations

from typing import Any

from anonymaly.errors import LedgerError
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import table_of, visible_tables
from anonymaly.server.services import view


def front_page(visit: Visit) -> Shown:
    """Show the tables."""
    names = visible_tables(visit.services, visit.caller)
    return Shown("front.html", {"tables": [_line(visit, name) for name in names]})


def _line(visit: Visit, name: str) -> dict[str, Any]:
    try:
        found = table_of(view(visit.services, visit.caller, name))
    except LedgerError:
        return {"name": name, "readable": False}
    kept = ("name", "ready", "paused", "own", "account")
    return {
        **{item: found[item] for item in kept},
        "readable": True,
        "rows": found["declaration"]["rows"],
        "columns": len(found["declaration"]["columns"]),
    }


PAGES = (ConsolePage("GET", "/", front_page),)
