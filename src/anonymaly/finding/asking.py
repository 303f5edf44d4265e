# SPDX-License-Identifier: Apache-2.0
"""How an asker's questions stand in the ledger before they are asked."""

from __future__ import annotations

from anonymaly.ask.answer import Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query


class Asking:
    """What one asker's questions would cost, and which of them were charged before.

    Parameters
    ----------
    curator : Curator
        The account.
    analyst : str
        Who asks.
    """

    def __init__(self, curator: Curator, analyst: str) -> None:
        accountant = curator.accountant
        known = accountant.name in accountant.ledger.accounts()
        charged = accountant.ledger.reservations(accountant.name) if known else []
        self._curator, self._analyst = curator, analyst
        self._charged = {item.seq: item for item in charged}

    def state(self, preview: Preview) -> str | None:
        """Return how an earlier charge ended: reserved, committed or failed; None if there is none."""
        return None if preview.charged_before is None else self._charged[preview.charged_before].state

    def attempt(self, query: Query) -> tuple[int, Preview]:
        """Return the first repeat of a question that did not fail before, and what it would cost."""
        repeat = 0
        while self.state(preview := self._curator.preview(query, repeat=repeat)) == "failed":
            repeat += 1
        return repeat, preview

    def cost(self, preview: Preview) -> int:
        """Return the most that a question costs: another's open charge still counts in the asker's grant."""
        number = preview.charged_before
        if number is None or self._charged[number].state != "reserved":
            return preview.cost
        anothers = self._charged[number].analyst != self._analyst
        return (
            preview.query.cost if anothers and _left_of_grant(self._curator, self._analyst) else preview.cost
        )


def remaining_of(curator: Curator, analyst: str) -> int:
    """Return what the account still holds, and no more than the analyst's grant does."""
    return min([curator.accountant.account.remaining, *_left_of_grant(curator, analyst)])


def _left_of_grant(curator: Curator, analyst: str) -> list[int]:
    account, ledger = curator.accountant.account, curator.accountant.ledger
    grants = ledger.grants(account.name) if account.name in ledger.accounts() else []
    return [
        grant.limit - grant.spent
        for grant in grants
        if grant.analyst == analyst and grant.limit is not None and grant.revoked is None
    ]
