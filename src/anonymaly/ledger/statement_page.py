# SPDX-License-Identifier: Apache-2.0
"""A statement as a piece of a page, for notebooks: what is left over time, and what is promised to whom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from anonymaly.ledger.burn_down import budget_chart, burn_down_chart
from anonymaly.pictures.page import cells, figure, fragment, heading, paragraph

if TYPE_CHECKING:
    from anonymaly.ledger.statement import Statement


def statement_html(statement: Statement) -> str:
    """Return the title, the budget, what was left over time, each relation, and the meaning in words."""
    now = datetime.now(UTC).isoformat()
    rows = [
        [f"ε = {line.guarantee.epsilon}", f"{line.questions:,}", line.guarantee.relation.protects()]
        for line in statement.lines
    ]
    return fragment(
        heading(f"Statement of {statement.title}", 3),
        figure(budget_chart(statement.spent_nano, statement.limit_nano)),
        figure(burn_down_chart(statement.steps, now)) if len(statement.steps) > 1 else "",
        cells(["charged", "questions", "protected"], rows, numbers=(0, 1)) if rows else "",
        *map(paragraph, statement.meaning()),
    )
