# SPDX-License-Identifier: Apache-2.0
"""What is shown of answers, receipts, grants and accounts: what is not named here is not.

Previews and plans as an analyst may see them are made by `anonymaly.ask.seen`, from the declaration and the
analyst's own charges.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.ledger import Allowance
from anonymaly.ledger.records import Grant
from anonymaly.ledger.terms import Terms

ANSWER = (
    "invented",
    "rehearsed_on",
    "number",
    "question",
    "asks",
    "value",
    "charged",
    "remaining",
    "expected",
    "guarantee",
    "origin",
    "labels",
    "query",
    "again",
    "bytes",
)
RECEIPT = ("ledger", "account", "charge", "digest", "cost")
_AMOUNTS = ("total", "question_limit")


def answer(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer's fields that whoever asked may see."""
    return {name: found[name] for name in ANSWER if name in found}


def receipt(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a receipt's fields that whoever asked may see."""
    return None if found is None else {name: found[name] for name in RECEIPT if name in found}


def own(held: Grant | Allowance) -> dict[str, Any]:
    """Return what somebody may spend, as decimal text."""
    agreed = held.terms.to_dict() if isinstance(held.terms, Terms) else held.terms or {}
    left = None if held.limit is None else max(held.limit - held.spent, 0)
    return {
        "limit": None if held.limit is None else to_text(held.limit),
        "spent": to_text(held.spent),
        "remaining": None if left is None else to_text(left),
        "terms": terms(agreed),
    }


def terms(agreed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms of a grant with ε as decimal text."""
    found = dict(agreed)
    for name in _AMOUNTS:
        if isinstance(found.get(name), int):
            found[name] = to_text(found[name])
    period = found.get("period")
    if isinstance(period, Mapping) and isinstance(period.get("epsilon"), int):
        found["period"] = {**period, "epsilon": to_text(period["epsilon"])}
    return found


def grant(found: Grant) -> dict[str, Any]:
    """Return a grant as owner and auditor see it."""
    return {
        "analyst": found.analyst,
        **own(found),
        "by": found.by,
        "reason": found.reason,
        "time": found.time,
        "entry": found.seq,
        "standing": found.standing,
    }


def account(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an account as owner and auditor see it, from its plain data."""
    amounts = {name: to_text(found[name]) for name in ("limit", "spent", "remaining")}
    return {"name": found["name"], **amounts, "paused": found["paused"]}


def moment(seconds: float | None) -> str | None:
    """Write a moment of the database's clock."""
    return (
        None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    )
