# SPDX-License-Identifier: Apache-2.0
"""The ledger: accounts of what was spent, on a disk; nothing is answered that was not charged first.

``Ledger`` is the only name with a connection behind it; the others are frozen values it hands out.
"""

from __future__ import annotations

from anonymaly.ledger.allowance import Allowance
from anonymaly.ledger.book import refuse_if_too_expensive
from anonymaly.ledger.ledger import Ledger
from anonymaly.ledger.records import (
    Account,
    Charge,
    ChargeReceipt,
    Counter,
    Entry,
    Grant,
    Head,
    Receipt,
    Reservation,
    Verification,
)

__all__ = [
    "Account",
    "Allowance",
    "Charge",
    "ChargeReceipt",
    "Counter",
    "Entry",
    "Grant",
    "Head",
    "Ledger",
    "Receipt",
    "Reservation",
    "Verification",
    "refuse_if_too_expensive",
]
