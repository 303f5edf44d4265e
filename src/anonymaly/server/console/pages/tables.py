# SPDX-License-Identifier: Apache-2.0
"""A table: what is declared of it, what is promised, what is left, and what may be asked."""

from __future__ import annotations

from typing import Any

from anonymaly.ask.catalogue import load, origin, problem
from anonymaly.ledger.terms import words_of
from anonymaly.server.console.question_form import says
from anonymaly.server.console.rule_words import promise_in_words, rules_in_words
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import table_of
from anonymaly.server.services import View, view


def table_page(visit: Visit) -> Shown:
    """Show a table."""
    seen = view(visit.services, visit.caller, visit.places["table"])
    found = table_of(seen)
    own = found["own"]
    return Shown(
        "table.html",
        {
            "table": found,
            "columns": _columns(seen),
            "rules": rules_in_words(seen.table.declaration),
            "promise": promise_in_words(seen.table.declaration),
            "terms": [] if own is None else words_of(own["terms"]),
            "questions": [_question(name, seen) for name in found["questions"]],
        },
    )


def _columns(seen: View) -> list[dict[str, Any]]:
    declared = seen.table.declaration
    roles = {declared.key: "key", declared.person: "person"}
    return [
        {"name": name, "holds": domain.describe(), "role": roles.get(name)}
        for name, domain in declared.columns.items()
    ]


def _question(name: str, seen: View) -> dict[str, Any]:
    """Say what a question is, and whether the visitor may ask it here."""
    allowance = None if seen.grant is None else seen.grant.terms.get("questions")
    owner = origin(name)
    # A web process may be without the package of a question that workers have.
    missing = None if owner is None else problem(name)
    return {
        "name": name,
        "is": says(load(name)) if missing is None else missing,
        "seconds": seen.table.slot(name),
        "granted": missing is None and (allowance is None or name in allowance),
        "origin": None if owner is None else str(owner),
    }


PAGES = (ConsolePage("GET", "/tables/{table}", table_page),)
