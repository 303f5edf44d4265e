# SPDX-License-Identifier: Apache-2.0
"""An account's declarations: the one it was opened under, and those that amendments put in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymaly.declare.domain import Domain, read_domain
from anonymaly.ledger.records import Entry, Reservation, Rules

NEIGHBOURS_UNDER_EACH = (
    "The promise is about tables that are neighbours, as said above, under every one of them: whoever is not "
    "protected under one of them has no bound."
)


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration, in force from its entry on until the next one.

    Examples
    --------
    >>> first = Declared(1, "2026-01-01T00:00:00.000+00:00", "ab", {"columns": {}}, {})
    >>> str(first)
    'entry 1 (2026-01-01)'
    """

    number: int  # of the entry that holds it
    time: str
    hash: str  # of that entry
    declaration: Mapping[str, Any]
    rules: Rules  # with those that were added while it was in force
    amended: bool = False  # whether it took the place of another one
    reason: str | None = None
    by: str | None = None
    learned_from_rows: bool = False
    differences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is known about it as plain data, without the declaration itself."""
        first: dict[str, Any] = {"number": self.number, "time": self.time, "amended": self.amended}
        if not self.amended:
            return first
        return {
            **first,
            "reason": self.reason,
            "by": self.by,
            "learned_from_rows": self.learned_from_rows,
            "differences": list(self.differences),
        }

    def __str__(self) -> str:
        why = "" if not self.amended else f", amended by {self.by or 'the owner'}: {self.reason}"
        return f"entry {self.number} ({self.time[:10]}{why})"

    def outside(self) -> str | None:
        """Say what no promise covers, if it was learned from rows."""
        if not self.learned_from_rows:
            return None
        return (
            f"The declaration in force since entry {self.number} was learned from rows: what it shows of "
            "them is outside this promise."
        )


def read_declarations(entries: Iterable[Entry]) -> tuple[Declared, ...]:
    """Return the declarations of one account, oldest first, from its entries; others are passed over."""
    found: list[Declared] = []
    for entry in entries:
        data = entry.data
        if entry.kind in ("open", "amendment"):
            found.append(
                Declared(
                    number=entry.seq,
                    time=entry.time,
                    hash=entry.hash,
                    declaration=data["declaration"],
                    rules=data["rules"],
                    amended=entry.kind == "amendment",
                    reason=data.get("reason"),
                    by=data.get("by"),
                    learned_from_rows=data.get("learned_from_rows", False),
                    differences=tuple(data.get("differences", ())),
                )
            )
        elif entry.kind == "rule" and found and found[-1].rules != "any":
            rules = {**found[-1].rules, data["name"]: data["rule"]}
            found[-1] = replace(found[-1], rules=rules)
    return tuple(found)


def asked_under(declared: Sequence[Declared], charge: Reservation) -> Declared:
    """Return the declaration that a question was charged under: the newest one before it."""
    return next(item for item in reversed(declared) if item.number < charge.seq)


@dataclass(frozen=True)
class AskedUnder:
    """A declaration, and how many questions were asked under it."""

    declared: Declared
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain data."""
        return {**self.declared.to_dict(), "questions": self.questions}

    def __str__(self) -> str:
        return f"{self.declared}: {self.questions:,} question{'' if self.questions == 1 else 's'}"


def count_asked(declared: Sequence[Declared], charges: Iterable[Reservation]) -> tuple[AskedUnder, ...]:
    """Return how many of an account's questions were asked under each of its declarations."""
    if len(declared) == 1:
        return (AskedUnder(declared[0], len(list(charges))),)
    questions = Counter(asked_under(declared, item).number for item in charges) if declared else {}
    return tuple(AskedUnder(item, questions.get(item.number, 0)) for item in declared)


def common_columns(declarations: Iterable[Mapping[str, Any]]) -> dict[str, Domain]:
    """Return the columns that are declared alike in all of several declarations."""
    first, *others = [item.get("columns", {}) for item in declarations]
    return {
        name: read_domain(domain, field=name)
        for name, domain in first.items()
        if all(item.get(name) == domain for item in others)
    }
