# SPDX-License-Identifier: Apache-2.0
"""An analyst's own statement: what they may spend, what they were charged, and what that promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.allowance import Allowance, find_allowance
from anonymaly.ledger.charges import list_charges
from anonymaly.ledger.composition import Line, compose_records
from anonymaly.ledger.records import Charge

YOURS_ALONE = (
    "This is about what you asked. Others may have asked, too, and every answer counts for the table."
)


@dataclass(frozen=True)
class OwnStatement:
    """What one analyst asked of a table, and what all of it together costs; nothing of others."""

    account: str
    analyst: str
    allowance: Allowance | None  # none in an account without grants
    charges: tuple[Charge, ...]
    lines: tuple[Line, ...]  # the relations of their answers, and what was charged under each

    @property
    def spent(self) -> int:
        """What is spent, over all periods, in nano-ε; with what a lost ledger may have held."""
        charged = sum(charge.cost for charge in self.charges)
        return charged if self.allowance is None else max(charged, self.allowance.spent)

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        mine = self.allowance
        total = None if mine is None or mine.terms is None else mine.terms.total
        return {
            "account": self.account,
            "analyst": self.analyst,
            "spent": to_text(self.spent),
            "limit": None if mine is None or mine.limit is None else to_text(mine.limit),
            "remaining": None if mine is None or mine.remaining is None else to_text(mine.remaining),
            "total": None if total is None else to_text(total),
            "terms": [] if mine is None or mine.terms is None else mine.terms.words(),
            "questions": len(self.charges),
            "charges": [{**item.to_dict(), "cost": to_text(item.cost)} for item in self.charges],
            "relations": [line.to_dict() for line in self.lines],
            "meaning": [YOURS_ALONE],
        }

    def __str__(self) -> str:
        data = self.to_dict()
        several = "question" if len(self.charges) == 1 else "questions"
        of = "" if data["limit"] is None else f" of {data['limit']}"
        return "\n".join(
            [
                f"{self.analyst} on {self.account}: ε = {data['spent']}{of} spent by {len(self.charges)} "
                f"{several}",
                *(f"  {line}" for line in data["terms"]),
                *(
                    f"  {item.number}: ε = {to_text(item.cost)}, {item.time[:19]}, {item.asks}"
                    for item in self.charges
                ),
                f"  {YOURS_ALONE}",
            ]
        )


def own_statement(connection: sa.Connection, account: str, analyst: str) -> OwnStatement:
    """Return an analyst's statement, from one snapshot of the ledger; refuse whoever has no grant."""
    allowance = find_allowance(connection, account, analyst)
    charges = tuple(list_charges(connection, account, analyst))
    lines = compose_records([item.record for item in charges if "guarantee" in item.record])
    return OwnStatement(account, analyst, allowance, charges, lines)
