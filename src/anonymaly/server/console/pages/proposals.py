# SPDX-License-Identifier: Apache-2.0
"""Proposals: what waits to be confirmed on the host, and what became of the others."""

from __future__ import annotations

from typing import Any

from anonymaly.server.amending import lines_of
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.problems import Problem
from anonymaly.server.proposals import list_proposals
from anonymaly.server.services import view


def proposals_page(visit: Visit) -> Shown:
    """Show the proposals."""
    found = list_proposals(visit.services.state)
    made = visit.query.get("made")
    data = {
        "waiting": [_with_lines(visit, item) for item in found if item["state"] == "open"][::-1],
        "ended": [item for item in found if item["state"] != "open"],
        "made": next((item for item in found if str(item["number"]) == made), None),
    }
    return Shown("proposals.html", data)


def _with_lines(visit: Visit, item: dict[str, Any]) -> dict[str, Any]:
    """Say of an amendment what it changes now."""
    if "asked" not in item:
        return {**item, "changes": []}
    try:
        seen = view(visit.services, visit.caller, str(item["table"]))
    except Problem:  # no worker has published the table
        return {**item, "changes": []}
    return {**item, "changes": lines_of(seen.account, seen.table.declaration, item["asked"])}


PAGES = (ConsolePage("GET", "/proposals", proposals_page),)
