# SPDX-License-Identifier: Apache-2.0
"""What an owner gives, checked and written as HTTP has it before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from anonymaly.core.epsilon import LARGEST, LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.errors import InputError


def amount_text(value: Number, field: str, largest: int = LARGEST) -> str:
    """Return ε as exact decimal text, or say why it is none."""
    return to_text(to_nano(value, field=field, largest=largest))


def said_reason(reason: str) -> str:
    """Return why something is done; refuse to do it without."""
    if not isinstance(reason, str) or not reason.strip():
        raise InputError(
            "must be said", field="reason", next_step="Say why in a few words: it is kept for good."
        )
    return reason


def period_body(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a period as HTTP has it; it begins today if no day is given."""
    if not {"epsilon", "every"} <= given.keys() <= {"epsilon", "every", "from"}:
        raise InputError(
            "must have epsilon and every, and may have from",
            field="period",
            next_step='Give, for instance, {"epsilon": 0.5, "every": "month"}.',
        )
    begins = given.get("from") or datetime.now(UTC).date()
    return {
        "epsilon": amount_text(given["epsilon"], "period.epsilon", LARGEST_TOTAL),
        "every": given["every"],
        "from": moment_text(begins, "period.from")[:10],
    }


def moment_text(value: date | str, field: str) -> str:
    """Write a moment as the server reads it; without an offset it is UTC, as the ledger's are."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        return found.isoformat()
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            "must be a day or a moment",
            field=field,
            next_step="Write it as 2027-01-31 or 2027-01-31T18:00.",
        ) from None


def path_part(name: str, field: str) -> str:
    """Return a name as a part of an address; a slash would lead elsewhere."""
    if not name or "/" in name or name in (".", ".."):
        raise InputError(
            "must be a name without a slash",
            field=field,
            next_step="Give it as the list of keys or grants has it.",
        )
    return quote(name, safe="")
