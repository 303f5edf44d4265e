# SPDX-License-Identifier: Apache-2.0
"""What a table has left over time, as a picture of the console."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from anonymaly.ledger.burn_down import BudgetStep, burn_down_chart


def burn_down(steps: Sequence[BudgetStep], now: str) -> Markup:
    """Draw what was left up to now; nothing, if the table was never opened."""
    return Markup(burn_down_chart(steps, now).to_svg()) if steps else Markup("")  # noqa: S704  (escaped there)
