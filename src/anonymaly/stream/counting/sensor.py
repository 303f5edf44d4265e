# SPDX-License-Identifier: Apache-2.0
"""The sensor of ``counting``: charges, shares its reading's cell, and sends one share to each counter.

What leaves was paid for before (`PayingSensor`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.promise import Guarantee
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.promise import CountingPromise, window_guarantee
from anonymaly.stream.protocol.kept_readings import KeptReading
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.perturb import read_readings
from anonymaly.stream.protocol.timed_sensor import TimedSensor, kept_of
from anonymaly.stream.protocol.windows import Moment

CONTRIBUTION_BYTES = 1200  # two shares in the journal, at most


class CountingSensor(TimedSensor[CountingDeclaration]):
    """Contributes at most one reading to every window, within a budget.

    Parameters
    ----------
    name : str
        What the others call it.
    declaration : CountingDeclaration
        What is public about the pool.
    journal : path
        The sensor's own file: what was sent and not yet acknowledged.
    ledger : path or PostgreSQL URL
        Where charges are kept.
    budget : number, optional
        The most ε that all readings together may cost. Needed the first time.
    anchor : path, optional
        A file elsewhere that shows whether the ledger was set back.
    keep, consent
        As of `Sensor`.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import CountedColumn, PooledWindows
    >>> pool = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)], epsilon=0.5, period=2,
    ...     share=0.1, radius=1, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=2))
    >>> sensor = CountingSensor("room-1", pool, journal=folder / "c.journal", ledger=folder / "c.ledger",
    ...                         budget=10)
    >>> moments = [f"2026-01-01T00:{minute}:00+00:00" for minute in ("00", "07", "16")]
    >>> [(item.recipient, item.message.window) for item in sensor.send([20.1, 20.3, 19.8], moments)]
    [('counter-1', 0), ('counter-2', 0), ('counter-1', 1), ('counter-2', 1)]
    >>> sensor.spent, sensor.repeated  # window 1 is not counted, and window 0 had a reading at 00:07
    (0.5, 1)
    """

    def send(self, readings: Any, times: Iterable[Moment] | None = None) -> list[Outgoing]:
        """Charge the account, share the readings' cells, and return what to send; all of them or none.

        The first reading of a window counts, and windows only go up; others are left out and counted in
        ``repeated`` and ``late``.

        Parameters
        ----------
        readings
            A frame or mapping with the declared columns, or rows in their order; for one column also a list.
        times
            When each was taken: dates with their offset from UTC, or seconds since 1970. Now, if not given.

        Raises
        ------
        BudgetExceeded
            Nothing was spent and nothing is sent: the budget does not suffice for these readings.
        InputError
            The readings are not what was declared; nothing was spent.
        LedgerError
            The journal cannot be written: nothing was spent. Or the ledger cannot be written, or does not
            say whether it was: the charge may stand, nothing was sent unless ``accepted`` has grown, and
            readings that are sent again are charged again.
        """
        self._journal.refuse_in_child()
        rows = read_readings(self.declaration, readings)
        moments = None if times is None else list(times)
        windows = self._windows(moments, len(rows))
        cells = self.declaration.cells_of(rows).tolist() if len(rows) else []
        kept = self._in_clear(rows, moments)
        with self._one_send:
            return self._contribute(cells, windows, kept)

    def send_nothing(self, times: Iterable[Moment] | None = None) -> list[Outgoing]:
        """Contribute without a reading, so that nobody learns that there was none; costs as much as one."""
        self._journal.refuse_in_child()
        moments = [time.time()] if times is None else list(times)
        windows = self._windows(moments, len(moments))
        with self._one_send:
            return self._contribute([None] * len(moments), windows)

    def warm_up(self) -> None:
        """Load compiled code before anything is charged."""
        contribute(self.name, 0, 0, self.declaration.bits, Noise.system())

    @property
    def counted(self) -> int:
        """To how many windows that are counted it contributed: those that cost."""
        return self._noted("counted")

    def promise(self) -> CountingPromise:
        """Say what is promised of the readings sent so far, and what is not."""
        return CountingPromise(self.declaration, self.counted, self.given)

    def _contribute(
        self, cells: Sequence[int | None], windows: Integers, readings: Sequence[KeptReading] = ()
    ) -> list[Outgoing]:
        chosen, notes = self._choose(windows)
        counted = sum(self.declaration.is_counted(item.window) for item in chosen)
        notes |= {"counted": self.counted + counted}

        def make() -> tuple[list[Message], Mapping[str, str]]:
            noise, made = Noise.system(), list[Message]()
            for place, window, previous in chosen:
                made += contribute(self.name, window, cells[place], self.declaration.bits, noise, previous)
            return made, {name: str(number) for name, number in notes.items()}

        asks = f"{len(chosen)} contributions, {counted} of them counted, up to window {notes['newest']}"
        size = CONTRIBUTION_BYTES * len(chosen)
        return self._send(counted, asks, size, make, kept_of(chosen, readings), notes["newest"])

    def _guarantee(self, readings: int) -> Guarantee:
        return window_guarantee(self.declaration, readings)
