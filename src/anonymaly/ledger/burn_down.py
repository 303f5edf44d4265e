# SPDX-License-Identifier: Apache-2.0
"""What a table has left over time, from the ledger's entries, as data and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from anonymaly.core.epsilon import NANO, to_text
from anonymaly.ledger.records import Entry
from anonymaly.pictures.chart import Bar, Chart, ChartAxis, ChartLine
from anonymaly.pictures.ticks import linear, times

MOST_DRAWN = 800  # more steps than that are not told apart in a picture


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """An entry that changed what is left, in nano-ε, and what was left after it."""

    entry: int
    time: str
    what: str
    change: int
    left: int
    limit: int

    def to_dict(self) -> dict[str, object]:
        """Return the step with ε as decimal text."""
        sign = "+" if self.change > 0 else "−"
        return {
            "entry": self.entry,
            "time": self.time,
            "what": self.what,
            "change": f"{sign}{to_text(abs(self.change))}",
            "left": to_text(self.left),
            "limit": to_text(self.limit),
        }


def steps_of(entries: Iterable[Entry], table: str) -> list[BudgetStep]:
    """Return the entries that changed what a table has left, oldest first."""
    limit = spent = 0
    steps: list[BudgetStep] = []
    for entry in entries:
        data, left = entry.data, limit - spent
        match entry.kind:
            case "open":
                limit, spent, what = data["limit"], data.get("spent", 0), "opened"
            case "limit" if "counter" not in data:
                limit, what = data["to"], f"raised by {data.get('by', 'the owner')}"
            case "reserve":
                spent, what = spent + data["cost"], f"asked by {data['analyst']}"
            case "epoch":
                limit = spent = data.get("accounts", {}).get(table, limit)
                what = "a part of the ledger was lost: all counts as spent"
            case _:
                continue
        if limit - spent != left:
            steps.append(BudgetStep(entry.seq, entry.time, what, limit - spent - left, limit - spent, limit))
    return steps


def burn_down_chart(steps: Sequence[BudgetStep], now: str) -> Chart:
    """Return what was left as steps that fall with each charge and rise with the budget, up to now.

    Examples
    --------
    >>> opened = BudgetStep(1, "2026-01-01T00:00:00+00:00", "opened", 2 * NANO, 2 * NANO, 2 * NANO)
    >>> burn_down_chart([opened], "2026-01-31T00:00:00+00:00").words
    'ε = 2 at first; 2 of 2 is left now, after 0 changes.'
    """
    drawn = _thinned(steps)
    end = max(_seconds(now), _seconds(steps[-1].time))
    left = [(_seconds(step.time), step.left / NANO) for step in drawn]
    limit = [(_seconds(step.time), step.limit / NANO) for step in drawn]
    last = steps[-1]
    return Chart(
        title="What is left of the budget",
        words=f"ε = {to_text(steps[0].left)} at first; {to_text(last.left)} of {to_text(last.limit)} is left "
        f"now, after {len(steps) - 1:,} changes.",
        x=times(left[0][0], end),
        marks=(
            ChartLine("budget", (*limit, (end, limit[-1][1])), stepped=True, dashed=True),
            ChartLine(f"left: {to_text(last.left)}", (*left, (end, left[-1][1])), stepped=True, filled=True),
        ),
        y=linear("left", "ε", [height for _, height in limit]),
    )


def budget_chart(spent: int, limit: int) -> Chart:
    """Return what is spent of a budget as a bar; both in nano-ε.

    Examples
    --------
    >>> print(budget_chart(3 * NANO, 4 * NANO))
    spent  ██████████████████████████████            ε = 3 of 4; ε = 1 is left
    """
    said = f"ε = {to_text(spent)} of {to_text(limit)}; ε = {to_text(limit - spent)} is left"
    bar = Bar("spent", spent / NANO, said, of=limit / NANO)
    return Chart("", f"Spent: {said}.", ChartAxis("", "ε", 0.0, max(limit, 1) / NANO), (bar,))


def _thinned(steps: Sequence[BudgetStep]) -> list[BudgetStep]:
    """Return so many steps that can be told apart, the first and the last among them."""
    every = max(1, -(-len(steps) // MOST_DRAWN))
    return [*steps[:-1:every], steps[-1]]


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
