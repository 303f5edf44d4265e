# SPDX-License-Identifier: Apache-2.0
"""What a table has left over time, from the ledger's entries, as data and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.records import Entry

WIDTH, HEIGHT = 1000.0, 300.0
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
                limit = spent = data["accounts"].get(table, limit)
                what = "a part of the ledger was lost: all counts as spent"
            case _:
                continue
        if limit - spent != left:
            steps.append(BudgetStep(entry.seq, entry.time, what, limit - spent - left, limit - spent, limit))
    return steps


def burn_down(steps: Sequence[BudgetStep], now: str) -> Markup:
    """Draw what was left as steps that fall with each charge and rise with the budget, up to now.

    Numbers and days are beside the picture, in text that keeps its size on a phone.
    """
    if not steps:
        return Markup("")
    drawn = _thinned(steps)
    begin, end = _seconds(steps[0].time), _seconds(now)
    top = max(1, *(step.limit for step in steps))

    def across(time: str) -> float:
        share = (_seconds(time) - begin) / (end - begin) if end > begin else 0.0
        return WIDTH * min(max(share, 0.0), 1.0)

    def down(amount: int) -> float:
        return HEIGHT * (1 - amount / top)

    left = _stairs([(across(step.time), down(step.left)) for step in drawn])
    limit = _stairs([(across(step.time), down(step.limit)) for step in drawn])
    last = steps[-1]
    words = (
        f"What is left over time: ε = {to_text(steps[0].left)} at first, "
        f"{to_text(last.left)} of {to_text(last.limit)} now, after {len(steps) - 1} changes."
    )
    return Markup(
        '<svg class="burn" viewBox="0 0 {width:.0f} {height:.0f}" preserveAspectRatio="none" role="img" '
        'aria-label="{words}"><title>{words}</title>'
        '<path class="area" d="M0,{height:.0f} L{left} L{width:.0f},{height:.0f} Z"/>'
        '<polyline class="limit" points="{limit}"/><polyline class="line" points="{left}"/></svg>'
    ).format(width=WIDTH, height=HEIGHT, words=words, left=left, limit=limit)


def _stairs(points: Sequence[tuple[float, float]]) -> str:
    """Write points of stairs: level until the next one, and on to the right end."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    corners.append((WIDTH, corners[-1][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _thinned(steps: Sequence[BudgetStep]) -> list[BudgetStep]:
    """Return so many steps that can be told apart, the first and the last among them."""
    every = max(1, -(-len(steps) // MOST_DRAWN))
    return [*steps[:-1:every], steps[-1]]


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
