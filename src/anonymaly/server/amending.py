# SPDX-License-Identifier: Apache-2.0
"""An amendment that an owner proposes over HTTP: read, compared with what is in force, and put into words.

Web processes and workers compare by what is public and the ledger. Only the host carries it out
(`amending_files`): it alone has the table's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.ask.amendment import Amendment, propose
from anonymaly.ask.server_words import printable
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.manifest import refuse_undeclared
from anonymaly.errors import AnonymalyError, DeclarationChanged, InputError
from anonymaly.ledger import Account
from anonymaly.server.published import plain

FIELDS = ("columns", "rules", "key", "rows")  # what may be amended, by the names that a manifest has


@dataclass(frozen=True)
class Amended:
    """A changed declaration beside the one in force."""

    amendment: Amendment
    stays: tuple[str, ...]  # columns and rules that are as they were

    @property
    def differences(self) -> list[str]:
        """What differs, in words in which no name turns a line around or hides a letter."""
        return [printable(line) for line in self.amendment.differences]

    @property
    def rules(self) -> list[str]:
        """What changes for whom, in such words."""
        return [printable(line) for line in self.amendment.rules]

    def to_dict(self) -> dict[str, Any]:
        """Return what differs, what that means for whom, and what stays, as plain data."""
        return {
            **self.amendment.to_dict(),
            "differences": self.differences,
            "rules": self.rules,
            "stays": list(self.stays),
            "declaration": fields_of(self.amendment.declaration),
        }


def fields_of(declared: Declaration) -> dict[str, Any]:
    """Return what may be amended of a declaration, without what is not said of a column or rule."""
    found = {name: item for name, item in plain(declared).items() if name in FIELDS}
    said = {name: _said(found[name]) for name in ("columns", "rules") if found[name] != "any"}
    return {**found, **said}


def _said(items: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {part: value for part, value in item.items() if value is not None}
        for name, item in items.items()
    }


def amended(now: Declaration, fields: Mapping[str, Any]) -> Declaration:
    """Return a declaration with some of its fields changed; what is left out stays as it is."""
    for name in fields:
        if name not in FIELDS:
            raise InputError(
                "cannot be amended over HTTP",
                field=str(name),
                next_step=f"Give only {', '.join(FIELDS)}: all else is in the host's file.",
            )
    refuse_undeclared(dict(fields))
    changed = {**plain(now), **fields}
    for name in ("columns", "rules"):
        changed[name] = {} if changed[name] is None else changed[name]  # a name with nothing behind it
    return Declaration.read(**changed).with_adjacency(now.adjacency)


def compare(account: Account | None, now: Declaration, fields: Mapping[str, Any]) -> Amended:
    """Say what an amendment would change; refuse one that changes nothing, or what none may change."""
    if account is None:
        raise InputError(
            f"the account '{now.name}' is not opened yet, so nothing needs to be amended",
            field="declaration",
            next_step="Correct the table's file on the host; the first question writes it down.",
        )
    new = amended(now, fields)
    found = propose(account, new)
    if not found.differences:
        raise InputError(
            f"is what is in force since entry {found.replaces}: nothing differs",
            field="declaration",
            next_step="Change what is to be corrected, and look again.",
        )
    rules = {} if now.any_rule else now.rules
    stays = [printable(name) for name, domain in new.columns.items() if now.columns.get(name) == domain]
    stays += [printable(f"rule {name}") for name, rule in new.rules.items() if rules.get(name) == rule]
    return Amended(found, tuple(stays))


def refuse_amended_since(number: int | str, seen: Any) -> None:
    """Refuse what was looked at beside another declaration than that in force."""
    if seen != number:
        raise DeclarationChanged(
            f"the table was amended since: entry {number} is in force, not {seen}",
            field="declaration",
            next_step="Look at the difference again, and propose it anew; nothing was changed.",
        )


def compare_asked(account: Account | None, now: Declaration, asked: Mapping[str, Any]) -> Amended:
    """Compare what a job asks for; refuse one that was made for another declaration than that in force."""
    if account is not None:
        refuse_amended_since(account.number, asked.get("replaces"))
    return compare(account, now, asked.get("declaration") or {})


def lines_of(account: Account | None, now: Declaration, asked: Mapping[str, Any]) -> list[str]:
    """Say what a proposed amendment would change now, or why it cannot be carried out.

    In words that change no terminal: a web process may have signed any.
    """
    try:
        found = compare_asked(account, now, asked)
    except AnonymalyError as problem:
        return [printable(f"it would be refused: {problem}")]
    learned = ["it was learned from rows, as the owner says"] if asked.get("learned_from_rows") else []
    return [*found.differences, *found.rules, *learned]
