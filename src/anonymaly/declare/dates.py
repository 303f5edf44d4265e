# SPDX-License-Identifier: Apache-2.0
"""A column of dates cut by the calendar: years, quarters, months, or days of the week."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import StrictStr

from anonymaly.core.value import Value

By = Literal["year", "quarter", "month", "weekday"]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS_OF_A_YEAR = {"year": 1, "quarter": 4, "month": 12}


class Dates(Value):
    """A column of dates and times, cut into years, quarters, months or days of the week, in their order.

    Examples
    --------
    >>> Dates("admitted", by="quarter").number(datetime(2003, 5, 31))
    8013
    >>> Dates("admitted", by="quarter").label(8013)
    '2003 Q2'
    """

    type: Literal["dates"] = "dates"
    column: StrictStr
    """The column of dates and times."""
    by: By = "month"
    """What it is cut into: year, quarter, month or weekday."""

    if TYPE_CHECKING:

        def __init__(self, column: str, by: By = "month", *, type: str = "dates") -> None: ...

    @property
    def parts(self) -> int:
        """How many of them a year has; 0 for days of the week, which come again."""
        return PARTS_OF_A_YEAR.get(self.by, 0)

    def number(self, moment: datetime) -> int:
        """Return which year, quarter or month of all a moment is in, or which day of the week, Monday 0."""
        if not self.parts:
            return moment.weekday()
        return moment.year * self.parts + (moment.month - 1) * self.parts // 12

    def label(self, number: int) -> str:
        """Return its name."""
        if not self.parts:
            return WEEKDAYS[number]
        year, part = divmod(number, self.parts)
        match self.by:
            case "year":
                return f"{year:04}"
            case "quarter":
                return f"{year:04} Q{part + 1}"
            case _:
                return f"{year:04}-{part + 1:02}"

    def begin(self, number: int) -> datetime | None:
        """Return when it begins; None for a day of the week, and after the last year that there is."""
        if not self.parts or number >= 10_000 * self.parts:
            return None
        year, part = divmod(number, self.parts)
        return datetime(year, part * (12 // self.parts) + 1, 1)
