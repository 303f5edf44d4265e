# SPDX-License-Identifier: Apache-2.0
"""The statement: what was charged, and what that promises."""

from __future__ import annotations

from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import statement_of


def statement_page(visit: Visit) -> Shown:
    """Show an analyst's own charges; the whole account to owner and auditor."""
    table = visit.places["table"]
    found = statement_of(visit.services, visit.caller, table)
    own = visit.caller.role == "analyst"
    return Shown("statement.html", {"table": table, "own": own, "statement": found})


PAGES = (ConsolePage("GET", "/tables/{table}/statement", statement_page),)
