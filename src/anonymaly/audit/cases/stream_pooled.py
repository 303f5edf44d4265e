# SPDX-License-Identifier: Apache-2.0
"""What ``correction`` claims of windows over many sensors, by lemmas 8 and 9, and broken variants.

``ledger`` compares what left a sensor with what it was charged, at an ε so large that the noise is nil.
``replay`` has a corrector judge two windows that a detector must not be able to tell apart, and asks it about
a second list of sensors. Grid and noise are those of `stream`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from anonymaly.audit.cases.stream import LEAST, MOVES, few_suspects
from anonymaly.audit.report import Finding
from anonymaly.audit.stream_parts import Checks, StreamMutant, StreamParts
from anonymaly.core.arrays import Booleans, Integers
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.protocol.correction import split_suspects
from anonymaly.stream.protocol.declaration import Column
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Thresholds
from anonymaly.stream.protocol.notices import receipt_of
from anonymaly.stream.protocol.pool import declared_digest
from anonymaly.stream.protocol.pooled.corrector import PooledCorrector
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.messages import (
    Agreed,
    Gathered,
    PooledCandidates,
    PooledReading,
    PooledShift,
    PooledSuspects,
)
from anonymaly.stream.protocol.pooled.sensor import PooledSensor
from anonymaly.stream.protocol.timed_sensor import Chosen
from anonymaly.stream.protocol.windows import PooledWindows

NAMES = tuple(f"s{place}" for place in range(len(MOVES)))
START = "2026-01-01T00:00:00+00:00"
MINUTES = (0, 0, 1, 0, 3, 3)  # windows last a minute: the first is there three times, once late
FIRST = (7.0, 5.0, 2.0)  # of the readings that follow, those that are the first of their window
READINGS = (7.0, 9.0, 5.0, 1.0, 2.0, 8.0)
NO_NOISE = 1000  # of ε for one column of ten steps: a draw other than 0 has a probability below 10^-43


@dataclass(frozen=True)
class PooledCase(StreamParts):
    """The parts of a pool that can break its promise.

    Examples
    --------
    >>> PooledCase().audit().passed
    True
    """

    title: ClassVar[str] = "stream, windows over many sensors"
    sensor: type[PooledSensor] = PooledSensor
    corrector: type[PooledCorrector] = PooledCorrector

    @property
    def checks(self) -> Checks:
        """The attack of each layer; both are exact, so there is no false alarm."""
        return {"ledger": partial(_ledger, self), "replay": partial(_replay, self)}


def _declared(epsilon: int) -> PooledDeclaration:
    column = Column("x", range=Interval(0, 10), outer=Interval(-10, 20), step=1)
    windows = PooledWindows(start=START, seconds=60, lateness=0, least_sensors=2)
    return PooledDeclaration(
        pool="rooms", columns=[column], epsilon=epsilon, layer=1, least_suspects=LEAST, windows=windows
    )


def _ledger(case: PooledCase) -> Iterator[Finding]:
    """Lemma 8: one reading a window leaves, which one is decided by times, and each is charged."""
    declared = _declared(NO_NOISE)
    times = [f"2026-01-01T00:0{minute}:30+00:00" for minute in MINUTES]
    with tempfile.TemporaryDirectory() as folder:
        journal, ledger = Path(folder) / "journal", Path(folder) / "ledger"
        with case.sensor("s", declared, journal=journal, ledger=ledger, budget=10**6) as sensor:
            made: list[Message] = []
            for _ in range(2):  # the second time there is nothing that may leave
                sent = [item.message for item in sensor.send(READINGS, times)]
                for message in sent:
                    sensor.handle(receipt_of(message))
                made += sent
            spent = sensor.spent
    seen = [message for message in made if isinstance(message, PooledReading)]
    windows = [message.window for message in seen]
    words = f"readings of windows {', '.join(map(str, windows))} were sent, for {spent:g} ε"
    paid = spent >= NO_NOISE * len(windows)
    yield Finding("ledger", "one a window", len(set(windows)) == len(windows) and paid, words)
    values = tuple(float(message.values[0]) for message in seen)
    first = [value for value in values if value in FIRST]
    words = f"{len(first)} of {len(values)} are the first of their window, whatever they say"
    yield Finding("ledger", "by their times", values == FIRST, words)
    yield Finding("ledger", "power", len(windows) > 1, "several windows had a reading", power=True)


def _replay(case: PooledCase) -> Iterator[Finding]:
    """Lemma 9, and what few suspects must not tell."""
    yield from few_suspects(partial(_view, case.corrector))
    said = _said(case.corrector, [_suspects(ALL, ALL), _gathered(OTHERS), _suspects(OTHERS, OTHERS)], MOVES)
    lists = [message for message in said if isinstance(message, Agreed)]
    pairs = [message for message in said if isinstance(message, Thresholds)]
    words = f"{len(lists)} lists were agreed on, and {len(pairs)} pairs of distances told"
    yield Finding("replay", "one list", len(lists) == len(pairs) == 1, words)


ALL = np.ones(len(NAMES), np.bool_)
OTHERS = np.arange(len(NAMES)) > 0


def _shifts(moves: Sequence[int]) -> list[PooledShift]:
    return [
        PooledShift(name, 0, np.array([move]), bytes(16)) for name, move in zip(NAMES, moves, strict=True)
    ]


def _gathered(members: Booleans) -> Gathered:
    held = [shift.digest for shift, there in zip(_shifts(MOVES), members, strict=True) if there]
    declared = declared_digest(_declared(1).fingerprint(), NAMES)
    return Gathered("rooms", 0, declared, members, tuple(held))


def _suspects(members: Booleans, suspects: Booleans) -> PooledSuspects:
    return PooledSuspects("rooms", 0, members, suspects)


def _view(kind: type[PooledCorrector], suspects: Booleans, moves: Sequence[int]) -> tuple[bytes, ...]:
    """Return all that the corrector says about a window to a detector that asks for all it can."""
    asked = [_suspects(ALL, suspects), PooledCandidates("rooms", 0, ALL, ~suspects, ~suspects)]
    return tuple(message.to_bytes() for message in _said(kind, asked, moves))


def _said(kind: type[PooledCorrector], asked: Sequence[Message], moves: Sequence[int]) -> list[Message]:
    said: list[Message] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        kind(_declared(1), NAMES, Path(folder) / "corrector") as corrector,
    ):
        for message in [*_shifts(moves), _gathered(ALL), *asked]:
            with suppress(InputError):
                made = [item.message for item in corrector.handle(message)]
                for answer in made:
                    if not isinstance(answer, MessageReceipt):
                        corrector.handle(receipt_of(answer))
                said += made
    return said


class _ForgetsItsWindows(PooledSensor):
    @property
    def newest(self) -> int:
        return -1


class _TheLargestOfAWindow(PooledSensor):
    def _choose(self, windows: Integers) -> tuple[list[Chosen], dict[str, int]]:
        chosen, notes = super()._choose(windows)
        of = [np.flatnonzero(windows == item.window) for item in chosen]
        largest = [int(places[np.argmax(np.asarray(READINGS)[places])]) for places in of]
        return [item._replace(place=place) for item, place in zip(chosen, largest, strict=True)], notes


class _OneIsEnough(PooledCorrector):
    def _work_on(self, window: int, made: list[Message]) -> None:
        declared = self.declaration
        self.declaration = declared.model_copy(update={"least_suspects": 1})
        try:
            super()._work_on(window, made)
        finally:
            self.declaration = declared


class _AnyList(PooledCorrector):
    """Agrees on each list that it is told, and tells distances of it."""

    def _take(self, message: Message) -> list[Message]:
        if isinstance(message, Gathered):
            return [Agreed(message.sensor, message.window, message.members)]
        if isinstance(message, PooledSuspects):
            shifts = self._values(message.window, message.members)[:, 0]
            split = split_suspects(shifts, message.suspects[message.members], least_suspects=LEAST)
            far = split.beyond(self.declaration.layer_steps)
            return [Thresholds(message.sensor, message.window, split.least, far)]
        return super()._take(message)


POOLED_MUTANTS: tuple[StreamMutant, ...] = (
    StreamMutant("a window's reading sent again", "ledger", PooledCase(sensor=_ForgetsItsWindows)),
    StreamMutant("a window's largest reading", "ledger", PooledCase(sensor=_TheLargestOfAWindow)),
    StreamMutant("one sensor's move told", "replay", PooledCase(corrector=_OneIsEnough)),
    StreamMutant("a second list of a window", "replay", PooledCase(corrector=_AnyList)),
)
