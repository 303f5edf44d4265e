# SPDX-License-Identifier: Apache-2.0
"""What a pool of ``correction`` promises: of each reading as ever; of who else learns what, over sensors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.promise import DAY, StreamPromise

OVER_SENSORS = (
    "Not covered by ε either: which sensors contributed to which window, and when, which both servers and "
    "the owner know. The owner learns names: each verdict says whose reading to look at, and by which rule."
)


@dataclass(frozen=True)
class PooledPromise(StreamPromise):
    """Both halves of the promise, for the readings that one sensor of a pool has sent so far.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, PooledWindows
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> rooms = PooledDeclaration(
    ...     pool="rooms", columns=[celsius], epsilon=0.5, layer=2.0, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=100))
    >>> PooledPromise(rooms, readings=4, readings_a_day=96).by_time
    {'day': '48', 'year': '17520'}
    """

    declaration: PooledDeclaration

    @property
    def not_covered(self) -> str:
        """What no ε bounds, by what the servers do, and by what sensors do that are with them."""
        least = self.declaration.least_suspects
        with_it = f"{least - 1} of the sensors" if least != 2 else "one of the sensors"
        counted = (
            f"Suspects are counted over sensors: the {least} are readings of {least} sensors, and the "
            f"distance is one sensor's. A detector that has {with_it} on its side needs no others: "
            "they send suspects that say they moved far."
        )
        return "\n".join(
            [
                super().not_covered,
                OVER_SENSORS,
                counted if least > 1 else "Where there is one suspect, the distance is that sensor's.",
                "A sensor that lies can hide faults of others, or have their ordinary readings looked at.",
            ]
        )

    def summary(self) -> str:
        """Say in a few lines what readings lose, also by time, and what averages out."""
        head, *averaged = super().summary().splitlines()
        if self.by_time is not None:
            day, year = self.by_time["day"], self.by_time["year"]
            head += f" A person with one sensor: ε = {day} a day and {year} a year."
        return "\n".join([head, *averaged])


def promised(declaration: PooledDeclaration, readings: int, given: int = 0, keep: int = 0) -> PooledPromise:
    """Return the promise for so many readings of a sensor that sends one in every window."""
    a_day = math.ceil(DAY / declaration.windows.seconds)
    return PooledPromise(declaration, readings, a_day, given=given, keep=keep)
