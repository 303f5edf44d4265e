# SPDX-License-Identifier: Apache-2.0
"""The detector of a pool: sees one perturbed reading of each sensor, and never how far it was moved."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Message, Thresholds
from anonymaly.stream.protocol.pool_server import Waits
from anonymaly.stream.protocol.pooled.messages import (
    Agreed,
    Gathered,
    PooledCandidates,
    PooledReading,
    PooledSuspects,
)
from anonymaly.stream.protocol.pooled.server import PooledServer, spread


class PooledDetector(PooledServer):
    """Closes windows, and finds suspects among all sensors' perturbed readings.

    Parameters
    ----------
    declaration, sensors, journal, retired
        As of `PooledCorrector`.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, PooledDeclaration, PooledWindows
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> rooms = PooledDeclaration(
    ...     pool="rooms", columns=[celsius], epsilon=0.5, layer=2.0, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=2))
    >>> detector = PooledDetector(rooms, ["room-1", "room-2"], folder / "pooled-detector.journal")
    >>> readings = [PooledReading(name, 0, np.array([100]), bytes(16)) for name in ("room-1", "room-2")]
    >>> _ = detector.handle(readings[0])
    >>> receipt, gathered = detector.handle(readings[1])  # the last that was missing closes the window
    >>> gathered.recipient, gathered.message.members.tolist()
    ('corrector', [True, True])
    """

    overseer = "corrector"  # it has no key of the owner's
    role = "detector"
    share = PooledReading
    answers = (Agreed, Thresholds)

    @property
    def _width(self) -> int:
        return len(self.declaration.columns)

    def _check(self, message: Message) -> None:
        if isinstance(message, Agreed):
            ours = self._said(message.window, Gathered)
            if ours is None or len(message.members) != len(ours.members):
                raise refused("answers a list that was never named")
            if (message.members & ~ours.members).any():
                raise refused("agrees on a sensor that was not on the list")
        elif self._said(message.window, PooledSuspects) is None:
            raise refused("answers suspects that were never named")

    def _next_window(self) -> int | None:
        """Return the first window that somebody contributed to, and pass over those before it."""
        window, floor = self._open.first, self.floor
        if window is None or window == floor:
            return window
        if not self._open.passed_over(floor) and not self._is_late(window - 1):
            return None
        self._journal.note("floor", str(window))
        return window

    def _work_on(self, window: int, made: list[Message]) -> None:
        self._say(made, window, Gathered, lambda: self._close(window))
        members = self._await(window, Agreed).members
        if not self._is_enough(members):
            return
        suspects = self._say(made, window, PooledSuspects, lambda: self._name(window, members)).suspects
        made.append(self._look_beyond(self._await(window, Thresholds), members, suspects[members]))

    def _close(self, window: int) -> Gathered:
        if not self._open.is_complete(window) and not self._is_late(window):
            raise Waits
        return self._held(window)

    def _name(self, window: int, members: Booleans) -> PooledSuspects:
        places = self.declaration.places(self._values(window, members))
        suspects = self.declaration.make_model().suspects(places)
        return PooledSuspects(self.declaration.pool, window, members, spread(suspects, members))

    def _look_beyond(self, told: Thresholds, members: Booleans, suspects: Booleans) -> PooledCandidates:
        declared = self.declaration
        near = far = np.zeros(len(suspects), np.bool_)
        if told.near is not None and told.far is not None:
            distances = declared.distances(self._values(told.window, members))
            near = ~suspects & (distances >= told.near * declared.precision)
            far = ~suspects & (distances >= told.far * declared.precision)
        return PooledCandidates(
            declared.pool, told.window, members, spread(near, members), spread(far, members)
        )
