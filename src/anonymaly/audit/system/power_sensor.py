# SPDX-License-Identifier: Apache-2.0
"""A power cut after every step of a sensor: what it handed over stays paid for, and has one version."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from anonymaly.audit.system.disk import Disk, Image, watched
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.core.files import sync_folder
from anonymaly.declare.domain import Interval
from anonymaly.errors import AnonymalyError
from anonymaly.ledger import Ledger
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.sensor import Sensor

SEED = 14  # says what is saved of that which was not synced
SENDS = ([20.1, 20.3], [19.8, 22.0, 74.0])
_DECLARED = StreamDeclaration(
    columns=[Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)],
    epsilon=0.5,
    window=4,
    layer=2.0,
)
_PARTS = ("journal", "ledger")


@dataclass(frozen=True)
class SensorCut:
    """A moment at which the power may fail, and what was handed over by then."""

    after: str
    images: Sequence[Image]  # all that was not synced is lost, or a part of it
    told: frozenset[bytes]
    readings: int


@dataclass
class _Witness:
    disk: Disk | None = None
    told: set[bytes] = field(default_factory=set)
    readings: int = 0
    cuts: list[SensorCut] = field(default_factory=list)

    def step(self, what: str) -> None:
        if self.disk is not None:
            images = self.disk.image(), self.disk.image(random.Random(f"{SEED}:{len(self.cuts)}"))
            self.cuts.append(SensorCut(what, images, frozenset(self.told), self.readings))


def sensor_cuts(folder: Path) -> tuple[SensorCut, ...]:
    """Send readings from an empty folder, and return every moment at which the disk or the world changed."""
    witness = _Witness()
    for part in _PARTS:
        (folder / part).mkdir()
    with watched(folder, witness.step) as witness.disk:
        for existing in (folder, *folder.iterdir()):
            sync_folder(existing)
        for readings in SENDS:
            sensor = _sensor(folder)
            try:
                witness.told |= _bytes_of(sensor.send(readings))
                witness.readings += len(readings)
                witness.step("handed over a batch")
            finally:
                sensor.close()
    return tuple(witness.cuts)


def sensor_problems(*, first: int = 0, stride: int = 1) -> Problems:
    """Cut the power while a sensor sends, open what is left, and yield what must not be.

    Parameters
    ----------
    first, stride : int
        Which cuts are tried: all of them, unless told otherwise.
    """
    with TemporaryDirectory() as place:
        cuts = sensor_cuts(Path(place))
    for cut in cuts[first::stride]:
        for image in cut.images:
            with TemporaryDirectory() as place:
                image.restore(Path(place))
                for problem in _problems(cut, Path(place)):
                    saved = "" if image is cut.images[0] else ", with a part saved"
                    yield f"a sensor, after it {cut.after}{saved}: {problem}"


def _problems(cut: SensorCut, folder: Path) -> Iterator[str]:
    try:
        sensor = _sensor(folder)
    except AnonymalyError as problem:
        yield f"the sensor does not open: {problem}"
        return
    try:
        kept = _bytes_of(sensor.resume())
        if not cut.told <= kept:
            yield "a batch that was handed over is gone, and its place is free for another version"
        if sensor.accepted < cut.readings:
            yield f"{cut.readings} readings were taken, and {sensor.accepted} are known"
        if sensor.spent < sensor.accepted * float(_DECLARED.epsilon):
            yield f"{sensor.accepted} readings were taken, and {sensor.spent} is spent"
        made = {_place_of(it) for it in sensor.send([21.0])}
        if made & {_place_of(it) for it in sensor.resume() if it.message.to_bytes() in kept}:
            yield "a batch has the place of an earlier one"
    except AnonymalyError as problem:
        yield str(problem)
    finally:
        sensor.close()
    with Ledger.open(folder / "ledger" / "room.ledger") as ledger:
        yield from ledger.verify().problems


def _sensor(folder: Path) -> Sensor:
    return Sensor(
        "room",
        _DECLARED,
        journal=folder / "journal" / "room.journal",
        ledger=folder / "ledger" / "room.ledger",
        budget=20,
    )


def _bytes_of(sent: Sequence[Outgoing]) -> set[bytes]:
    return {item.message.to_bytes() for item in sent}


def _place_of(sent: Outgoing) -> tuple[int, int, int]:
    return sent.message.window, sent.message.code, sent.message.sequence


@contextmanager
def _journal_synced_seldom() -> Iterator[None]:
    connect = Journal._connect

    def connected(journal: Journal) -> sqlite3.Connection:
        connection = connect(journal)
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    with replaced(Journal, "_connect", connected):
        yield


SENSOR_FAULT = SystemFault("a sensor's journal with synchronous=NORMAL", "power cut", _journal_synced_seldom)
