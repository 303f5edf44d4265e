# SPDX-License-Identifier: Apache-2.0
"""Proposals: what waits to be confirmed on the host, and what became of the others."""

from __future__ import annotations

from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.proposals import list_proposals


def proposals_page(visit: Visit) -> Shown:
    """Show the proposals."""
    found = list_proposals(visit.services.state)
    made = visit.query.get("made")
    data = {
        "waiting": [item for item in found if item["state"] == "open"][::-1],
        "ended": [item for item in found if item["state"] != "open"],
        "made": next((item for item in found if str(item["number"]) == made), None),
    }
    return Shown("proposals.html", data)


PAGES = (ConsolePage("GET", "/proposals", proposals_page),)
