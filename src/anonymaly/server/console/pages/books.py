# SPDX-License-Identifier: Apache-2.0
"""The books of a table: who asked what, entries, their check, and the statement for a regulator."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from anonymaly.ledger.burn_down import steps_of
from anonymaly.server.bookkeeping import entries_of, verification_of
from anonymaly.server.console.burn_down import burn_down
from anonymaly.server.console.entry_words import charges_of, entry_line
from anonymaly.server.console.pages.grants import promised_by
from anonymaly.server.console.rule_words import promise_in_words, rules_in_words
from anonymaly.server.console.table_head import head_of, seen_by
from anonymaly.server.console.visit import ConsolePage, Shown, Visit
from anonymaly.server.looking import statement_of

LISTED = 50


def asked_page(visit: Visit) -> Shown:
    """Show who asked what, the newest first."""
    seen = seen_by(visit)
    found = charges_of(entries_of(visit.services, visit.caller, seen.table.name))[::-1]
    return Shown("asked.html", {"table": head_of(seen), **_part(visit, found, "charges")})


def entries_page(visit: Visit) -> Shown:
    """Show the ledger's entries, the newest first."""
    seen = seen_by(visit)
    found = entries_of(visit.services, visit.caller, seen.table.name)[::-1]
    part = _part(visit, found, "entries")
    return Shown(
        "entries.html",
        {"table": head_of(seen), **part, "entries": [entry_line(item) for item in part["entries"]]},
    )


def verification_page(visit: Visit) -> Shown:
    """Check the whole ledger, and show what was found."""
    seen = seen_by(visit)
    data: dict[str, Any] = {"table": head_of(seen), "checked_at": _now()}
    if visit.services.ledgers.of(seen.table) is None:
        return Shown("verification.html", {**data, "found": None})
    found = verification_of(visit.services, visit.caller, seen.table.name)
    return Shown("verification.html", {**data, "found": found})


def rules_page(visit: Visit) -> Shown:
    """Show the rules in words, with whom they leave unprotected."""
    seen = seen_by(visit)
    return Shown(
        "rules.html",
        {
            "table": head_of(seen),
            "promise": promise_in_words(seen.table.declaration),
            "rules": rules_in_words(seen.table.declaration),
        },
    )


def full_statement_page(visit: Visit) -> Shown:
    """Show what was spent and what is promised, to be printed."""
    seen = seen_by(visit)
    data: dict[str, Any] = {"table": head_of(seen), "at": _now(), "declaration": seen.table.plain}
    ledger = visit.services.ledgers.of(seen.table)
    if ledger is None or seen.account is None:
        return Shown("full_statement.html", {**data, "statement": None}, pictures={"picture": ""})
    name = seen.table.name
    steps = steps_of(entries_of(visit.services, visit.caller, name), name)
    data |= {
        "statement": statement_of(visit.services, visit.caller, name),
        "promised": promised_by(seen, visit.services.ledgers.grants(seen.table)),
        "rules": rules_in_words(seen.table.declaration),
        "promise": promise_in_words(seen.table.declaration),
        "head_of_chain": ledger.head().to_dict(),
    }
    return Shown("full_statement.html", data, pictures={"picture": burn_down(steps, data["at"])})


def _part(visit: Visit, found: list[Any], name: str) -> dict[str, Any]:
    """Return one page of a list, and which it is; a page that is not there is the last one."""
    text = visit.query.get("page", "1")
    wanted = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1
    pages = max(1, -(-len(found) // LISTED))
    page = min(max(wanted, 1), pages)
    return {
        name: found[(page - 1) * LISTED : page * LISTED],
        "page": page,
        "pages": pages,
        "count": len(found),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


PAGES = (
    ConsolePage("GET", "/tables/{table}/rules", rules_page),
    ConsolePage("GET", "/tables/{table}/asked", asked_page),
    ConsolePage("GET", "/tables/{table}/ledger", entries_page),
    ConsolePage("GET", "/tables/{table}/ledger/verification", verification_page),
    ConsolePage("GET", "/tables/{table}/full-statement", full_statement_page),
)
