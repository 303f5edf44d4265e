# SPDX-License-Identifier: Apache-2.0
"""An account and an analyst's part of it, as they stood at one moment: one look in place of four."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from anonymaly.errors import Refused
from anonymaly.ledger.accounts import find_account
from anonymaly.ledger.allowance import Allowance, find_allowance
from anonymaly.ledger.grants import find_grant
from anonymaly.ledger.records import Account, Grant


@dataclass(frozen=True)
class SeenAccount:
    """An account, an analyst's grant that stands, and what they may spend now, or why they may not."""

    account: Account
    grant: Grant | None
    allowance: Allowance | None
    refusal: Refused | None


def see_account(connection: sa.Connection, name: str, analyst: str) -> SeenAccount | None:
    """Return an account as an analyst sees it; None before it is opened."""
    account = find_account(connection, name)
    if account is None:
        return None
    newest = find_grant(connection, name, analyst)
    grant = newest if newest is not None and newest.standing else None
    try:
        return SeenAccount(account, grant, find_allowance(connection, name, analyst), None)
    except Refused as refusal:
        return SeenAccount(account, grant, None, refusal)
