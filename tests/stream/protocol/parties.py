# SPDX-License-Identifier: Apache-2.0
"""Four parties in a folder, for tests of the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymaly import Interval
from anonymaly.stream import Column, Corrector, Declaration, Detector, Owner, Party, Sensor

CELSIUS = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
WATT = Column("watt", range=Interval(0, 500), outer=Interval(0, 5000), step=1)
ROOM = Declaration(columns=[CELSIUS], epsilon=2, window=10, layer=2.0, model="radius")
HOUSE = Declaration(columns=[CELSIUS, WATT], epsilon=1, window=7, layer=3.0)


def make(
    folder: Path, sensors: Sequence[str] = ("room-1",), declaration: Declaration = ROOM, budget: int = 10**6
) -> dict[str, Party]:
    """Return all parties by their address, with journals in the folder; again after a crash."""
    streams = dict.fromkeys(sensors, declaration)
    made: list[Party] = [
        Sensor(
            name,
            declaration,
            journal=folder / f"{name}.journal",
            ledger=folder / f"{name}.ledger",
            budget=budget,
        )
        for name in sensors
    ]
    made += [
        Detector(streams, folder / "detector.journal"),
        Corrector(streams, folder / "corrector.journal"),
        Owner(sensors, folder / "owner.journal"),
    ]
    return {party.address: party for party in made}


def close(parties: dict[str, Party]) -> None:
    for party in parties.values():
        party.close()
