# SPDX-License-Identifier: Apache-2.0
"""What was granted under terms, for an account's statement: the sum over all periods is what counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.records import Entry
from anonymaly.ledger.terms import Terms


@dataclass(frozen=True, slots=True)
class Granted:
    """One analyst's newest grant, and what they were charged, in nano-ε."""

    analyst: str
    terms: Terms
    spent: int
    standing: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        total = self.terms.total
        return {
            "analyst": self.analyst,
            "total": None if total is None else to_text(total),
            "spent": to_text(self.spent),
            "standing": self.standing,
            "terms": self.terms.words(),
        }

    def __str__(self) -> str:
        if not self.standing:
            return f"{self.analyst}: revoked, ε = {to_text(self.spent)} spent"
        return f"{self.analyst}: ε = {to_text(self.spent)} spent; {'; '.join(self.terms.words())}"


def read_granted(entries: Iterable[Entry]) -> tuple[Granted, ...]:
    """Return what was granted under terms, by analyst, from an account's entries and the ledger's epochs.

    After a lost part a grant that stood counts as spent, as the ledger counts it: any of it may lie there.
    """
    terms: dict[str, Terms | None] = {}
    standing: dict[str, bool] = {}
    spent: dict[str, int] = {}
    for entry in entries:
        analyst = str(entry.data.get("analyst"))
        if entry.kind == "grant":
            terms[analyst], standing[analyst] = Terms.read(entry.data["terms"]), True
        elif entry.kind == "revocation":
            standing[analyst] = False
        elif entry.kind in ("reserve", "again"):
            spent[analyst] = spent.get(analyst, 0) + entry.data["cost"]
        elif entry.kind == "epoch":
            spent |= {
                name: agreed.total
                for name, agreed in terms.items()
                if agreed is not None and agreed.total is not None and standing[name]
            }
    return tuple(
        Granted(analyst, agreed, spent.get(analyst, 0), standing[analyst])
        for analyst, agreed in sorted(terms.items())
        if agreed is not None
    )
