# SPDX-License-Identifier: Apache-2.0
"""Which question is mine? Three decisions, and where they lead; by the tree of the command line."""

from __future__ import annotations

from typing import Any

from anonymaly.finding.choosing import DECISIONS, advise
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import visible_tables
from anonymaly.server.published import find_table


def choosing_page(visit: Visit) -> Shown:
    """Ask for the decisions, and say where those that were made lead."""
    given = {item.name: visit.query.get(item.name) for item in DECISIONS}
    made = all(given[item.name] in item.choices for item in DECISIONS)
    advice = advise(**given) if made else None
    return Shown(
        "choosing.html",
        {
            "decisions": [
                {"name": item.name, "asks": item.asks, "choices": dict(item.choices)} for item in DECISIONS
            ],
            "given": given,
            "missing": [
                item.name for item in DECISIONS if not made and visit.query.texts and not given[item.name]
            ],
            "advice": None if advice is None else advice.to_dict(),
            "tables": [] if advice is None else _tables(visit, advice.question),
        },
    )


def _tables(visit: Visit, question: str) -> list[dict[str, Any]]:
    """Return where the question can be asked."""
    names = visible_tables(visit.services, visit.caller)
    found = ((name, find_table(visit.services.state, name)) for name in names)
    return [{"name": name} for name, table in found if table is not None and question in table.questions]


PAGES = (ConsolePage("GET", "/choose", choosing_page),)
