# SPDX-License-Identifier: Apache-2.0
"""Receipts: whether a ledger has the charge that one is of, for those who may see its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymaly.ledger.records import Receipt
from anonymaly.server.authentication import Caller
from anonymaly.server.published import find_table
from anonymaly.server.services import Services, try_view


def verify_receipt(services: Services, caller: Caller, receipt: Mapping[str, Any]) -> bool:
    """Say whether a receipt is of a charge in the ledger of a table that the caller may see."""
    account = receipt.get("account")
    if not isinstance(account, str) or not account.isprintable():
        return False
    table = find_table(services.state, account)
    if table is None or try_view(services, caller, table) is None:
        return False
    ledger = services.ledgers.of(table)
    if ledger is None:
        return False
    if "charge" in receipt:
        return ledger.verify_charge(receipt)
    # A receipt of the library names entries, which only those who may read the ledger know.
    if caller.role == "analyst":
        return False
    return ledger.verify_receipt(Receipt.from_dict(receipt))
