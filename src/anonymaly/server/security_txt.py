# SPDX-License-Identifier: Apache-2.0
"""``security.txt`` (RFC 9116): whom somebody tells who found a weakness in a server."""

from __future__ import annotations

from datetime import UTC, date, datetime

from anonymaly.errors import InputError

SCHEMES = ("mailto:", "https://", "tel:")


def refuse_unusable(contact: str | None, expires: str | None) -> None:
    """Refuse a contact without a date, and what is none."""
    if contact is None and expires is None:
        return
    if contact is None or not contact.startswith(SCHEMES) or not contact.isprintable() or " " in contact:
        raise InputError(
            f"must begin with one of {', '.join(SCHEMES)}",
            field="security_contact",
            next_step="Write it as mailto:security@example.org.",
        )
    if _day(expires) is None:
        raise InputError(
            "must be the day until which the contact holds",
            field="security_expires",
            next_step="Write it as '2027-06-30', at most a year from now, and renew it.",
        )


def render(contact: str | None, expires: str | None) -> str | None:
    """Return the file; None without a contact, or when its day has come."""
    day = _day(expires)
    if contact is None or day is None or datetime.now(UTC).date() >= day:
        return None
    return f"Contact: {contact}\nExpires: {day.isoformat()}T00:00:00Z\nPreferred-Languages: en\n"


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        return None
