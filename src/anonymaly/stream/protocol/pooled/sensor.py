# SPDX-License-Identifier: Apache-2.0
"""The sensor of a pool of ``correction``: charges, perturbs one reading a window, sends each server a share.

What leaves was paid for before, and has one version (`PayingSensor`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.noise import Noise
from anonymaly.stream.protocol.kept_readings import KeptReading
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.messages import NONCE_BYTES, PooledReading, PooledShift
from anonymaly.stream.protocol.pooled.promise import PooledPromise, promised
from anonymaly.stream.protocol.promise import batch_guarantee
from anonymaly.stream.protocol.timed_sensor import TimedSensor, kept_of


class PooledSensor(TimedSensor[PooledDeclaration]):
    """Contributes at most one perturbed reading to every window, within a budget.

    Parameters
    ----------
    name : str
        What the others call it.
    declaration : PooledDeclaration
        What is public about the pool.
    journal : path
        The sensor's own file: what was sent and not yet acknowledged.
    ledger : path or PostgreSQL URL
        Where charges are kept.
    budget : number, optional
        The most ε that all readings together may cost, T·d·ε. Needed the first time.
    anchor : path, optional
        A file elsewhere that shows whether the ledger was set back.
    keep, consent
        As of `Sensor`.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, PooledWindows
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> rooms = PooledDeclaration(
    ...     pool="rooms", columns=[celsius], epsilon=0.5, layer=2.0, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=2))
    >>> sensor = PooledSensor("room-1", rooms, journal=folder / "p.journal", ledger=folder / "p.ledger",
    ...                       budget=10)
    >>> moments = [f"2026-01-01T00:{minute}:00+00:00" for minute in ("00", "07", "16")]
    >>> [(item.recipient, item.message.window) for item in sensor.send([20.1, 20.3, 19.8], moments)]
    [('detector', 0), ('corrector', 0), ('detector', 1), ('corrector', 1)]
    >>> sensor.spent, sensor.repeated  # window 0 had a reading at 00:07
    (1.0, 1)
    """

    def _send_rows(self, rows: Floats, windows: Integers, kept: Sequence[KeptReading]) -> list[Outgoing]:
        chosen, notes = self._choose(windows)
        sent = rows[[item.place for item in chosen]]
        notes |= {"beyond": self.beyond + self.declaration.count_beyond(sent)}

        def make() -> tuple[list[Message], Mapping[str, str]]:
            noise, made = Noise.system(), list[Message]()
            perturbed = perturb(self.declaration, sent, noise)
            for place, item in enumerate(chosen):
                nonce = bytes(noise.uniform(256, NONCE_BYTES).tolist())
                values, shifts = perturbed.values[place], perturbed.shifts[place : place + 1]
                made += [
                    PooledReading(self.name, item.window, values, nonce, item.previous),
                    PooledShift(self.name, item.window, shifts, nonce, item.previous),
                ]
            return made, {name: str(number) for name, number in notes.items()}

        asks = f"{len(chosen)} readings, one a window, up to window {notes['newest']}"
        size = len(chosen) * (400 + 8 * len(self.declaration.columns))
        guarantee = batch_guarantee(self.declaration, len(chosen)) if chosen else None
        clear = kept_of(chosen, kept)
        return self._send(guarantee, len(chosen), asks, size, make, clear, notes["newest"])

    def warm_up(self) -> None:
        """Load compiled code before anything is charged."""
        perturb(self.declaration, np.zeros((1, len(self.declaration.columns))), Noise.system())

    @property
    def beyond(self) -> int:
        """How many of the readings so far lay beyond the declared ranges; only the sensor itself knows.

        Each of them lost more than it was charged (``promise().beyond``).
        """
        return self._noted("beyond")

    def promise(self) -> PooledPromise:
        """Say what is promised of the readings sent so far, and what is not."""
        return promised(self.declaration, self.accepted, self.given, self.keep)
