# SPDX-License-Identifier: Apache-2.0
"""A correction of an account's declaration: what differs, and whom changed rules leave unprotected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymaly.ask.loosening import effects
from anonymaly.declare.declaration import Declaration
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.accounts import find_differences


@dataclass(frozen=True)
class Amendment:
    """What an account's declaration would become, field by field; made without reading a row."""

    account: str
    replaces: int  # the entry of the declaration that it takes the place of
    declaration: Declaration
    differences: tuple[str, ...]
    rules: tuple[str, ...]  # what changes for whom, a sentence for each rule that differs

    def write(self, ledger: Ledger, *, reason: str, learned_from_rows: bool, by: str) -> Account:
        """Put it in force: one entry, or none if another amendment came first."""
        return ledger.amend(
            self.account,
            self.declaration.to_dict(),
            rules=self.declaration.rules_to_dict(),
            reason=reason,
            learned_from_rows=learned_from_rows,
            by=by,
            replaces=self.replaces,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what differs as plain data."""
        return {
            "account": self.account,
            "replaces": self.replaces,
            "differences": list(self.differences),
            "rules": list(self.rules),
        }

    def __str__(self) -> str:
        if not self.differences:
            return f"nothing to amend: {self.account} is declared so since entry {self.replaces}"
        return "\n".join([*self.differences, *self.rules])


def propose(account: Account, declaration: Declaration) -> Amendment:
    """Compare a declaration with the one in force; refuse a difference in what cannot be amended."""
    found = find_differences(account, declaration.to_dict(), declaration.rules_to_dict())
    return Amendment(
        account=account.name,
        replaces=account.number,
        declaration=declaration,
        differences=tuple(found),
        rules=tuple(effects(account.declaration, account.rules, declaration)) if found else (),
    )
