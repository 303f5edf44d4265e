# SPDX-License-Identifier: Apache-2.0
"""What a pool promises: what ε bounds, whoever lies, and what it does not bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.declare.domain import Interval
from anonymaly.promise import Guarantee, ValuesWithin
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration
from anonymaly.stream.protocol.promise import ANY_NUMBER, DAY, DAYS, asked_and_given

NOT_COVERED = (
    "Not covered by ε: which sensors contributed, and when; and the sensor's own verdicts, one bit a window, "
    "which the owner learns."
)
LYING = (
    "A server that lies chooses what counts as usual. Together with the owner it learns one bit of its "
    "choice of each reading in a window, and as what is usual changes once a period, one bit a period of a "
    "reading that stays the same. Alone it can make the owner take a usual reading for a fault. Verdicts are "
    "right if both servers are honest."
)
TOGETHER = "Both servers together know every reading's cell."


@dataclass(frozen=True)
class CountingPromise:
    """Both halves of the promise, for the readings sent so far.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import CountedColumn, PooledWindows
    >>> declared = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)], epsilon=0.1, period=4,
    ...     share=0.1, radius=1, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=500))
    >>> promise = CountingPromise(declared, counted=3)
    >>> promise.reading.epsilon, promise.together.epsilon, promise.by_time
    ('0.1', '0.3', {'day': '2.4', 'year': '876'})
    """

    declaration: CountingDeclaration
    counted: int
    earlier: tuple[tuple[EarlierDeclaration, int], ...] = ()  # and the windows counted under each
    given: int = 0  # readings that may be handed over in clear, by consent
    keep: int = 0  # of how many windows the sensor keeps readings that the owner may ask for

    @property
    def reading(self) -> Guarantee:
        """What holds of a reading in a counted window, against any other; in other windows it loses 0."""
        return windows_guarantee([(self.declaration, 1)])

    @property
    def together(self) -> Guarantee | None:
        """What holds of all readings that were sent, if they are one person's."""
        before = [(change.declared, counted) for change, counted in self.earlier]
        sent = [item for item in [*before, (self.declaration, self.counted)] if item[1]]
        return windows_guarantee(sent) if sent else None

    @property
    def by_time(self) -> dict[str, str]:
        """What a person with one sensor loses in a day and in a year of unbroken readings.

        A span that begins amid a window that is counted may touch one more.
        """
        period = self.declaration.windows.seconds * self.declaration.period
        spans = {"day": DAY, "year": DAYS * DAY}
        return {
            name: to_text(self.declaration.cost_of(math.ceil(seconds / period)))
            for name, seconds in spans.items()
        }

    @property
    def not_covered(self) -> str:
        """What no ε bounds."""
        return "\n".join([NOT_COVERED, LYING, TOGETHER, *asked_and_given(self.keep, self.given)])

    def summary(self) -> str:
        """Say in a few lines what readings lose."""
        period, by_time = self.declaration.period, self.by_time
        often = "every window" if period == 1 else f"one window of {period}"
        since = f"From window {self.earlier[-1][0].until} on, a" if self.earlier else "A"
        return (
            f"{since} reading loses at most ε = {self.declaration.epsilon} in {often}, and nothing in "
            f"others: ε = {by_time['day']} a day and {by_time['year']} a year for a person with one sensor."
        )

    def describe(self) -> str:
        """Say both halves in plain words."""
        lines = [
            "What one server sees of a reading in a window that is counted, whatever it does and whichever "
            "sensors lie, if the other server is honest:",
            f"  ε = {self.reading.epsilon} against any other reading, or none. Rests on nobody being able to "
            "tell ChaCha20's key stream from random numbers.",
            self.summary(),
            *self._told_before(),
        ]
        if self.together is not None:
            lines.append(f"Sent so far, if all is one person's: ε = {self.together.epsilon}.")
        lines.append("The owner sees the same of all other sensors, through what counts as usual.")
        return "\n".join([*lines, self.not_covered])

    def _told_before(self) -> list[str]:
        begins, lines = 0, []
        for number, (change, counted) in enumerate(self.earlier, 1):
            lost = to_text(change.declared.cost_of(counted))
            lines.append(
                f"Under declaration {number}, of the windows {begins} to {change.until - 1}, it lost at most "
                f"ε = {change.declared.epsilon} in one window of {change.declared.period}; in {counted:,} "
                f"that were paid for, together ε = {lost}."
            )
            begins = change.until
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the promise as plain data."""
        together = self.together
        return {
            "counted": self.counted,
            "reading": self.reading.to_dict(),
            "together": None if together is None else together.to_dict(),
            "by_time": self.by_time,
            **({"given_in_clear": self.given} if self.given else {}),
            **(
                {}
                if not self.earlier
                else {
                    "earlier": [
                        {
                            "until": change.until,
                            "counted": counted,
                            "epsilon": to_text(change.declared.cost_of(counted)),
                        }
                        for change, counted in self.earlier
                    ]
                }
            ),
            "not_covered": self.not_covered,
        }


def windows_guarantee(counted: Sequence[tuple[CountingDeclaration, int]]) -> Guarantee:
    """Return what contributions to so many counted windows under each declaration cost a person together.

    Readings may be anything: one beyond an outer domain belongs to its last cell.
    """
    ranges: dict[str, Interval] = {}
    for declaration, _ in counted:
        for column in declaration.columns:
            known = ranges.get(column.name, column.outer)
            low, high = min(known.low, column.outer.low), max(known.high, column.outer.high)
            ranges[column.name] = known if known == column.outer else Interval(low, high)
    cost = sum(declaration.cost_of(windows) for declaration, windows in counted)
    return Guarantee(ValuesWithin(ranges, rows=ANY_NUMBER), to_text(cost))
