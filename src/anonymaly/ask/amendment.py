# SPDX-License-Identifier: Apache-2.0
"""A correction of an account's declaration: what differs, and whom changed rules leave unprotected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.ask.loosening import effects
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import Rule, SameContexts, read_rule
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.accounts import find_differences
from anonymaly.ledger.counters import counter_of
from anonymaly.ledger.records import Rules


@dataclass(frozen=True)
class Amendment:
    """What an account's declaration would become, field by field; made without reading a row."""

    account: str
    replaces: int  # the entry of the declaration that it takes the place of
    declaration: Declaration
    differences: tuple[str, ...]
    rules: tuple[str, ...]  # what changes for whom, a sentence for each rule that differs
    counters: Mapping[str, int]  # of rules that allow more questions than before

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
            counters=self.counters,
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
        counters=_raised(account.rules, declaration.rules),
    )


def _raised(before: Rules, now: Mapping[str, Rule]) -> dict[str, int]:
    """Return how many questions rules allow that allow more than they did, or are new, by counter."""
    found: dict[str, int] = {}
    for name, rule in now.items():
        old = None if isinstance(before, str) or name not in before else read_rule(before[name], field=name)
        if isinstance(rule, SameContexts) and not (
            isinstance(old, SameContexts) and old.questions >= rule.questions
        ):
            found[counter_of(name)] = rule.questions
    return found
