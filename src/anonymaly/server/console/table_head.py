# SPDX-License-Identifier: Apache-2.0
"""What stands at the head of every page about a table, for owner and auditor."""

from __future__ import annotations

from typing import Any

from anonymaly.server import shown
from anonymaly.server.console.visit import Visit
from anonymaly.server.services import View, view


def seen_by(visit: Visit) -> View:
    """Return the table of a page as whoever visits may see it."""
    return view(visit.services, visit.caller, visit.places["table"])


def head_of(seen: View) -> dict[str, Any]:
    """Return the table's name, how it stands, and what it has left."""
    account = seen.account
    return {
        "name": seen.table.name,
        "ready": seen.table.ready,
        "paused": seen.paused,
        "account": None if account is None else shown.account(account.to_dict()),
    }
