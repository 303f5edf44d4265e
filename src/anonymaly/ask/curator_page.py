# SPDX-License-Identifier: Apache-2.0
"""A curator as a piece of a page, for notebooks: its table, its budget, and what is left over time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from anonymaly.declare.dataset_page import declared_html
from anonymaly.ledger.burn_down import budget_chart, burn_down_chart, steps_of
from anonymaly.pictures.page import figure, folded, fragment, heading

if TYPE_CHECKING:
    from anonymaly.ask.curator import Curator


def curator_html(curator: Curator) -> str:
    """Return the account's budget, and the declared columns; no row is read."""
    accountant, name = curator.accountant, curator.dataset.name
    account = accountant.account
    opened = name in accountant.ledger.accounts()
    steps = steps_of(accountant.ledger.entries(name), name) if opened else []
    now = datetime.now(UTC).isoformat()
    return fragment(
        heading(f"Account of {name}: ε = {curator.remaining:g} of {curator.budget:g} is left", 3),
        figure(budget_chart(account.spent, account.limit)),
        figure(burn_down_chart(steps, now)) if len(steps) > 1 else "",
        folded(f"{len(curator.declaration.columns):,} columns", declared_html(curator.declaration)),
    )
