# SPDX-License-Identifier: Apache-2.0
"""How an asker's questions stand in the ledger before they are asked."""

from __future__ import annotations

from typing import NamedTuple

from anonymaly.ask.answer import Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.ledger import Reservation


class Attempt(NamedTuple):
    """Which repeat of a question would be asked, what it would give, and what it would cost at most."""

    repeat: int
    preview: Preview
    charge: Reservation | None  # of before: open, or with an answer
    cost: int


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
        self._curator, self._analyst = curator, analyst

    def attempt(self, query: Query) -> Attempt:
        """Return the first repeat of a question that did not fail before."""
        accountant, repeat = self._curator.accountant, 0
        bound = accountant.accept(query)
        while True:
            charge = accountant.find(accountant.as_charged(bound, repeat), repeat)
            if charge is None or charge.state != "failed":
                preview = self._curator.preview(query, repeat=repeat)
                return Attempt(repeat, preview, charge, self._cost(preview, charge))
            repeat += 1

    def _cost(self, preview: Preview, charge: Reservation | None) -> int:
        """Return the most that it costs: another's open charge still counts in the asker's own grant."""
        anothers = charge is not None and charge.state == "reserved" and charge.analyst != self._analyst
        granted = anothers and _left_of_grant(self._curator, self._analyst)
        return preview.query.cost if granted else preview.cost


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
