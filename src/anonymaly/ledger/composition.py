# SPDX-License-Identifier: Apache-2.0
"""What an account's charges come to: the relations used, what was charged under each, and the versions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.records import Reservation
from anonymaly.promise import Guarantee

# What `Curator.about` adds to the version of the table.
_PART = re.compile(r"( part [0-9a-f]{16})+\Z")


@dataclass(frozen=True)
class Line:
    """One relation that was used, and what was charged under it."""

    guarantee: Guarantee
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        relation = self.guarantee.relation
        return {
            "questions": self.questions,
            "epsilon": self.guarantee.epsilon,
            "relation": relation.to_dict(),
            "protected": relation.protects(),
            "not_protected": relation.does_not_protect(),
        }


@dataclass(frozen=True)
class Version:
    """One version of the table that was asked about, and how many parts of it were besides the whole."""

    name: str
    questions: int
    parts: int

    def to_dict(self) -> dict[str, Any]:
        """Return the version as plain data."""
        return {"version": self.name, "questions": self.questions, "parts": self.parts}

    def __str__(self) -> str:
        if not self.parts:
            return self.name
        several = "a part" if self.parts == 1 else f"{self.parts:,} parts"
        return f"{self.name} (or {several} of its rows)"


def compose_charges(charges: Iterable[Reservation]) -> tuple[Line, ...]:
    """Return a line for every relation that was used, in the order of their first use."""
    return compose_records(item.record for item in charges)


def compose_records(records: Iterable[Mapping[str, Any]]) -> tuple[Line, ...]:
    """Return a line for every relation in what the ledger keeps of questions."""
    # Few promises among many charges are different, and reading one takes longer than writing it.
    times: dict[str, int] = {}
    for record in records:
        text = json.dumps(record["guarantee"], sort_keys=True)
        times[text] = times.get(text, 0) + 1
    lines: dict[str, Line] = {}
    for text, number in times.items():
        guarantee = Guarantee.read(json.loads(text))
        relation = guarantee.relation
        before = lines.get(relation.to_json())
        nano = guarantee.nano * number + (0 if before is None else before.guarantee.nano)
        questions = number + (0 if before is None else before.questions)
        lines[relation.to_json()] = Line(Guarantee(relation, to_text(nano)), questions)
    return tuple(lines.values())


def whole(version: str) -> str:
    """Return the version of the table that rows with this version are, or are a part of."""
    return _PART.sub("", version)


def versions_asked(charges: Iterable[Reservation]) -> tuple[Version, ...]:
    """Return the versions asked about, in the order of the first question about each."""
    questions: dict[str, int] = {}
    parts: dict[str, set[str]] = {}
    for item in charges:
        version = item.record.get("version")  # a stream's readings have none
        if version is not None:
            name = whole(version)
            questions[name] = questions.get(name, 0) + 1
            parts.setdefault(name, set()).update({version} - {name})
    return tuple(Version(name, number, len(parts[name])) for name, number in questions.items())
