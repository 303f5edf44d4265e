# SPDX-License-Identifier: Apache-2.0
"""A pool of ``correction`` in a folder, and what its servers got, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from anonymaly import Interval
from anonymaly.stream import (
    Column,
    LocalTransport,
    Message,
    Party,
    PooledCorrector,
    PooledDeclaration,
    PooledDetector,
    PooledOwner,
    PooledSensor,
    PooledWindows,
)
from anonymaly.stream.protocol.perturb import Perturbed
from anonymaly.stream.protocol.pooled.messages import PooledReading, PooledShift
from anonymaly.stream.protocol.suggest import Corrected, correct

START = 1767225600.0  # 2026-01-01, in seconds since 1970
LEAST = 6
WINDOWS = PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=60, lateness=30, least_sensors=LEAST)
POOL = PooledDeclaration(
    pool="rooms",
    columns=[Column("celsius", range=Interval(10, 30), outer=Interval(-20, 800), step=0.1, scale=1)],
    windows=WINDOWS,
    epsilon=5,
    layer=60,
    model="radius",
    parameters={"radius": 25},
    least_suspects=3,
)
NAMES = [f"room-{number}" for number in range(10)]
USUAL, FAULT = 20.0, 700.0


class Seen:
    """What went over the transport, for comparison with the form of one process."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def __call__(self, message: Message) -> None:
        self.messages.append(message)

    def corrected(
        self, window: int, names: Iterable[str], declaration: PooledDeclaration = POOL
    ) -> Corrected:
        """Return what `suggest.correct` makes of the perturbed values that the servers got."""
        readings, shifts = (
            {
                item.sensor: item.values
                for item in self.messages
                if type(item) is kind and item.window == window
            }
            for kind in (PooledReading, PooledShift)
        )
        values = np.array([readings[name] for name in names])
        return correct(declaration, Perturbed(values, np.array([shifts[name][0] for name in names])))


class Pool:
    """All parties of a pool, with journals in a folder; any of them may be killed and started again."""

    def __init__(
        self, folder: Path, declaration: PooledDeclaration = POOL, names: Iterable[str] = NAMES
    ) -> None:
        self.folder, self.declaration, self.names = folder, declaration, list(names)
        self.seen = Seen()
        addresses = ["detector", "corrector", "owner", *(f"sensor/{name}" for name in self.names)]
        self.transport = LocalTransport([self._make(address) for address in addresses], self.seen)

    @property
    def parties(self) -> dict[str, Party]:
        return self.transport.parties

    def kill(self, address: str) -> None:
        """Forget all of a party but its journal and ledger."""
        self.parties[address].close()
        self.parties[address] = self._make(address)

    def sensor(self, name: str) -> PooledSensor:
        party = self.parties[f"sensor/{name}"]
        assert isinstance(party, PooledSensor)
        return party

    def server(self, address: str) -> PooledDetector | PooledCorrector:
        party = self.parties[address]
        assert isinstance(party, PooledDetector | PooledCorrector)
        return party

    @property
    def owner(self) -> PooledOwner:
        party = self.parties["owner"]
        assert isinstance(party, PooledOwner)
        return party

    def send(self, window: int, **faults: float) -> None:
        """Have every sensor send a reading of a window: the usual one, but for some; names with _ for -."""
        self.send_some(window, self.names, **faults)

    def send_some(self, window: int, names: Iterable[str], **faults: float) -> None:
        for name in names:
            celsius = faults.get(name.replace("-", "_"), USUAL)
            self.transport.carry(self.sensor(name).send([celsius], [START + 60 * window]))

    def tick(self, seconds: float) -> None:
        for address in ("detector", "corrector"):
            self.transport.carry(self.server(address).tick(seconds))

    def close(self) -> None:
        for party in self.parties.values():
            party.close()

    def _make(self, address: str) -> Party:
        journal = self.folder / f"{address.replace('/', '-')}.journal"
        if address == "detector":
            return PooledDetector(self.declaration, self.names, journal)
        if address == "corrector":
            return PooledCorrector(self.declaration, self.names, journal)
        if address == "owner":
            return PooledOwner(self.declaration, self.names, journal)
        name = address.removeprefix("sensor/")
        ledger = self.folder / f"{name}.ledger"
        return PooledSensor(name, self.declaration, journal=journal, ledger=ledger, budget=10**6)
