# SPDX-License-Identifier: Apache-2.0
"""Windows by time, pooled over sensors: which window a reading belongs to, and when a window is over.

A window is a span of time, the same for all sensors; windows follow each other and never overlap. Each sensor
contributes at most one reading to a window:

- *Sensors of different rate*: the first reading of a window that reaches the sensor counts, and it leaves at
  once; a crash can lose no reading that waits for the window's end. Others of the same window are repeated.
- *Repeated*: a further reading of a window that has one is not sent.
- *Out of order*: windows of one sensor only go up. A reading of a window before the newest one is late.
- *Late* at the sensor: not sent. Late at a server, where the window is closed: has a receipt and no effect.
- *Missing*: a sensor that says nothing is not in the window. Each contribution names the window of the one
  before it, so that servers know which windows a sensor passed over and need not wait for them.
- *Closed*: a window is over when every sensor contributed or passed it over, at the latest ``lateness``
  seconds after its end. With fewer than ``least_sensors`` nothing is released and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, StrictInt, StrictStr, field_validator

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.value import Number, Value
from anonymaly.errors import InputError

LAST_WINDOW = 2**62
MICROSECONDS = 1_000_000
Moment = datetime | float | int | str


class PooledWindows(Value):
    """Windows by time over many sensors.

    Examples
    --------
    >>> quarters = PooledWindows(
    ...     start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=500)
    >>> quarters.number_of("2026-01-01T00:31:00+00:00")
    2
    >>> quarters.closes(2) - seconds_of("2026-01-01T00:45:00+00:00")
    60.0
    """

    takes_positions = False

    type: Literal["pooled_windows"] = "pooled_windows"
    start: StrictStr
    """When window 0 begins: a date and time with its offset from UTC."""
    seconds: Number = Field(ge=0.001, le=10**9)
    """How long a window is."""
    lateness: Number = Field(ge=0, le=10**9)
    """How many seconds after its end a window waits for sensors that are missing."""
    least_sensors: StrictInt = Field(ge=2, le=2**20)
    """With fewer contributions that pass the check, a window is neither counted nor judged."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            start: str,
            seconds: float,
            lateness: float,
            least_sensors: int,
            type: str = "pooled_windows",
        ) -> None: ...

    @field_validator("start")
    @classmethod
    def _start(cls, text: str) -> str:
        seconds_of(text, field="start")
        return text

    def number_of(self, moment: Moment) -> int:
        """Return the number of the window that a moment lies in."""
        return int(self.numbers_of([moment])[0])

    def numbers_of(self, moments: Iterable[Moment] | Floats) -> Integers:
        """Return the number of each moment's window; moments before the first window are refused."""
        times = np.array([seconds_of(moment) for moment in moments], np.float64)
        # In whole microseconds: a quotient of seconds could fall to either side of a window's end.
        since = np.rint((times - seconds_of(self.start)) * MICROSECONDS).astype(np.int64)
        if len(since) and since.min() < 0:
            raise InputError(
                f"lies before the first window, which begins {self.start}",
                field="times",
                next_step="Check the sensor's clock, or declare an earlier start.",
            )
        return np.asarray(since // round(self.seconds * MICROSECONDS), np.int64)

    def begins(self, window: int) -> float:
        """Return when a window begins, in seconds since 1970."""
        return seconds_of(self.start) + window * self.seconds

    def closes(self, window: int) -> float:
        """Return when a window waits no longer, in seconds since 1970."""
        return self.begins(window + 1) + self.lateness


def seconds_of(moment: Moment | Any, field: str = "times") -> float:
    """Return a moment as seconds since 1970; a text or date needs its offset from UTC.

    Examples
    --------
    >>> seconds_of("1970-01-02T01:00:00+01:00"), seconds_of(datetime(1970, 1, 2, tzinfo=UTC)), seconds_of(7)
    (86400.0, 86400.0, 7.0)
    """
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            moment = None
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).timestamp()
    if isinstance(moment, int | float | np.integer | np.floating) and not isinstance(moment, bool):
        number = float(moment)
        if abs(number) < 2**42:
            return number
    raise InputError(
        "must be dates with their offset from UTC, or seconds since 1970",
        field=field,
        next_step="Give, for instance, 2026-01-01T00:00:00+00:00.",
    )
