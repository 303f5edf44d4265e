# SPDX-License-Identifier: Apache-2.0
"""Periods of a grant: how much ε, how often, and from which day on, by the calendar in UTC."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "year": 12}
EVERY = (*DAYS, *MONTHS)


@dataclass(frozen=True, slots=True)
class Period:
    """What an analyst may spend in each period, in nano-ε; what is left of one is not kept for the next.

    Attributes
    ----------
    epsilon : int
        What each period allows.
    every : str
        How long one is: day, week, month or year.
    start : date
        When the first begins. Later ones begin on the same day of the week, month or year, or, where a month
        is too short for that, on its last day.
    begun : date, optional
        The beginning of the period that the newest grant is for; none, if that is before the first.

    Examples
    --------
    >>> month = Period(5, "month", date(2026, 1, 31))
    >>> month.at(datetime(2026, 3, 1, tzinfo=UTC)).isoformat(), month.after(date(2026, 2, 28)).isoformat()
    ('2026-02-28', '2026-03-31')
    >>> month.name(date(2026, 2, 28))
    '2026-02'
    """

    epsilon: int
    every: str
    start: date
    begun: date | None = None

    def at(self, now: datetime) -> date | None:
        """Return when the period that holds a moment began; None before the first."""
        today = now.astimezone(UTC).date()
        if today < self.start:
            return None
        if self.every in DAYS:
            passed = (today - self.start).days // DAYS[self.every]
            return self._beginning(passed)
        months = (today.year - self.start.year) * 12 + today.month - self.start.month
        passed = months // MONTHS[self.every]
        return self._beginning(passed if self._beginning(passed) <= today else passed - 1)

    def after(self, begun: date) -> date:
        """Return when the period after the one that began on a day begins."""
        if self.every in DAYS:
            return begun + timedelta(days=DAYS[self.every])
        months = (begun.year - self.start.year) * 12 + begun.month - self.start.month
        return self._beginning(months // MONTHS[self.every] + 1)

    def name(self, begun: date) -> str:
        """Return a period's name: its year, its month, or its first day."""
        return begun.isoformat()[: {"year": 4, "month": 7}.get(self.every, 10)]

    def _beginning(self, number: int) -> date:
        if self.every in DAYS:
            return self.start + timedelta(days=DAYS[self.every] * number)
        months = self.start.year * 12 + self.start.month - 1 + number * MONTHS[self.every]
        year, month = divmod(months, 12)
        return date(year, month + 1, min(self.start.day, monthrange(year, month + 1)[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the period as plain data, as terms hold it."""
        found = {"epsilon": self.epsilon, "every": self.every, "from": self.start.isoformat()}
        return found | ({} if self.begun is None else {"begun": self.begun.isoformat()})
