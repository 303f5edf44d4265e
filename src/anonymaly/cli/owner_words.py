# SPDX-License-Identifier: Apache-2.0
"""Keys, grants and accounts of a server, in words for its owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from anonymaly.cli.output import plain
from anonymaly.errors import AnonymalyError
from anonymaly.ledger.terms import words_of

# What a server calls a field → the option that it was typed as.
OPTIONS: Mapping[str, str] = {
    "total": "epsilon",
    "limit": "epsilon",
    "period.epsilon": "each-period",
    "period.every": "every",
    "period.from": "from",
    "question_limit": "each-question",
    "questions": "question",
    "rules": "rule",
    "expires_in_days": "days",
    "budget": "to",
}


@contextmanager
def as_typed() -> Iterator[None]:
    """Name options in errors as they were typed, not as a server has them."""
    try:
        yield
    except AnonymalyError as error:
        field = (error.field or "").removeprefix("body.").removeprefix("terms.")
        found = next(
            (option for name, option in OPTIONS.items() if f"{field}.".startswith(f"{name}.")), field
        )
        raise type(error)(error.problem, field=found or None, next_step=error.next_step) from None


def keys_table(keys: Sequence[Mapping[str, Any]]) -> Table:
    """Return keys, one in each line."""
    table = _table("id", "person", "role", "label", "made", "expires", "last used", "state")
    for key in sorted(keys, key=lambda item: (item["person"], item["created_at"])):
        moments = (day(key["created_at"]), day(key["expires_at"]), day(key["used_at"]))
        table.add_row(*plain(key["id"], key["person"], key["role"], key["label"], *moments, state_of(key)))
    return table


def state_of(key: Mapping[str, Any]) -> str:
    """Say whether a key is valid."""
    if key["revoked_at"] is not None:
        return "revoked"
    ends = key["expires_at"]
    return "expired" if ends is not None and datetime.fromisoformat(ends) <= datetime.now(UTC) else "valid"


def grants_table(grants: Sequence[Mapping[str, Any]]) -> Table:
    """Return grants, one for each analyst."""
    table = _table("analyst", "ε spent", "of", "state", "may ask", "reason")
    for item in grants:
        state = "granted" if item["standing"] else "revoked"
        agreed = "; ".join(words_of(item["terms"]))
        table.add_row(
            *plain(
                item["analyst"], item["spent"], item["limit"] or "any", state, agreed, item["reason"] or ""
            )
        )
    return table


def grant_in_words(grant: Mapping[str, Any], table: str) -> str:
    """Say what an analyst may do from now on."""
    if not grant["standing"]:
        return (
            f"{grant['analyst']} may ask {table} nothing more; the ε = {grant['spent']} that they spent stand"
        )
    spent = [] if grant["spent"] == "0" else [f"ε = {grant['spent']} of it are spent"]
    lines = [f"{grant['analyst']} may ask {table}:", *words_of(grant["terms"]), *spent]
    return "\n  ".join(lines)


def account_in_words(account: Mapping[str, Any]) -> str:
    """Say what a table has."""
    paused = "; it is paused, and nothing is charged until it is resumed" if account["paused"] else ""
    return "{name}: ε = {spent} of {limit} spent, {remaining} remaining".format(**account) + paused


def day(moment: str | None) -> str:
    """Return the day and the minute of a moment in UTC; nothing for none."""
    return "" if moment is None else datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M")


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table
