# SPDX-License-Identifier: Apache-2.0
"""A pool of sensors, both counters and the owner in a folder, for tests of counting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymaly import Interval
from anonymaly.noise import Noise
from anonymaly.stream import (
    CountedColumn,
    Counter,
    CountingDeclaration,
    LocalTransport,
    PooledWindows,
    PoolOwner,
)
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.protocol.parties import Outgoing

KEY = bytes(range(32))
LEAST = 20
WINDOWS = PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=60, lateness=30, least_sensors=LEAST)
POOL = CountingDeclaration(
    columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=20)],
    windows=WINDOWS,
    epsilon=20,  # so that noise hides nothing and tests can count
    period=1,
    share=0.3,
    radius=1,
)
NAMES = [f"room-{number:02}" for number in range(LEAST + 4)]
USUAL, FAULT = 8, 17  # cells


def counters(
    folder: Path, declaration: CountingDeclaration = POOL, kinds: Sequence[type[Counter]] = (Counter, Counter)
) -> list[Counter]:
    return [
        kind(number, declaration, NAMES, check_key=KEY, journal=folder / f"counter-{number}")
        for number, kind in enumerate(kinds, 1)
    ]


def owner(folder: Path, declaration: CountingDeclaration = POOL) -> PoolOwner:
    return PoolOwner(declaration, NAMES, folder / "owner")


class Given:
    """Stands for the sensors, which only take receipts."""

    def __init__(self, name: str) -> None:
        self.address = f"sensor/{name}"
        self.receipts = 0

    def handle(self, message: object) -> list[Outgoing]:
        self.receipts += 1
        return []

    def resume(self) -> list[Outgoing]:
        return []


def transport(*parties: object) -> LocalTransport:
    return LocalTransport([*parties, *map(Given, NAMES)])  # type: ignore[list-item]


def window(
    number: int,
    cells: dict[str, int | None],
    pool: CountingDeclaration = POOL,
    previous: int | None = None,
    bits: int | None = None,
) -> list[Outgoing]:
    """Return the contributions of some sensors to a window."""
    noise = Noise.system()
    before = number - 1 if previous is None else previous
    return [
        Outgoing(message.recipient, message)
        for name, cell in cells.items()
        for message in contribute(name, number, cell, bits or pool.bits, noise, before, pool.fingerprint())
    ]


def usual(**others: int | None) -> dict[str, int | None]:
    """Return everybody's cell: the usual one, but for some; names with _ for -."""
    return dict.fromkeys(NAMES, USUAL) | {name.replace("_", "-"): cell for name, cell in others.items()}
