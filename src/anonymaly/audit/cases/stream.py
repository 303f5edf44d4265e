# SPDX-License-Identifier: Apache-2.0
"""What ``stream`` claims, written from its GUARANTEE.md and not from its code, and broken variants.

A stream is no question of a curator, so its layers have checks of their own: ``bound`` takes the loss from
the exact rate of the noise and the grid points of readings; ``replay`` has a corrector judge two windows that
a detector must not be able to tell apart.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from anonymaly.audit.report import Finding
from anonymaly.audit.stream_parts import Checks, StreamMutant, StreamParts
from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.core.epsilon import NANO
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.protocol.correction import Split, split_suspects
from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.messages import Candidates, Shifts, Suspects

LEAST = 3
COLUMNS = {
    "an ordinary column": (Interval(18, 26), Interval(-50, 400), 0.01),
    "ends off the grid": (Interval(0, 10), Interval(-1, 11), 3),
    "far from zero": (Interval(1e15 + 0.125, 1e15 + 0.25), Interval(1e15, 1e15 + 1), 0.01),
    "as fine as doubles": (
        Interval(1000000000000009.8, 1000000000000012.2),
        Interval(1000000000000009.8, 1000000000000012.2),
        0.15,
    ),
}
MOVES = (-40, 900, -3, 55, 1200, 0)


@dataclass(frozen=True)
class StreamCase(StreamParts):
    """The parts of a stream that can break its promise: columns and their grid, what a corrector tells.

    Examples
    --------
    >>> StreamCase().audit().passed
    True
    """

    title: ClassVar[str] = "stream"
    column: type[Column] = Column
    corrector: type[Corrector] = Corrector

    @property
    def checks(self) -> Checks:
        """The attack of each layer; both are exact, so there is no false alarm."""
        return {"bound": partial(_bound, self), "replay": partial(_replay, self)}


def _bound(case: StreamCase) -> Iterator[Finding]:
    """Lemmas 1 to 4: in range at most ε; anywhere at most what ``beyond`` states."""
    largest = Fraction(0)
    for name, (inside, outer, step) in COLUMNS.items():
        try:
            column = case.column("x", range=inside, outer=outer, step=step)
        except InputError:
            yield Finding("bound", name, True, "is refused before anything is spent")
            continue
        rate = column.rate(NANO)
        in_range = rate * _apart(column, _readings(inside))
        anywhere = rate * _apart(column, [-1e300, *_readings(outer), 1e300])
        stated = Fraction(column.worst_steps, column.steps)
        largest = max(largest, in_range)
        words = (
            f"loses {float(in_range):.4g} ε in range, {float(anywhere):.4g} of {float(stated):.4g} ε anywhere"
        )
        yield Finding("bound", name, in_range <= 1 and anywhere <= stated, words)
    seen = f"the worst pair in range loses {float(largest):.4g} ε"
    yield Finding("bound", "power", largest >= 1, seen, power=True)


def _readings(ends: Interval) -> Floats:
    """Return the ends, the doubles beside them and some readings between, all inside."""
    low, high = float(ends.low), float(ends.high)
    some = [low, np.nextafter(low, high), *np.linspace(low, high, 101), np.nextafter(high, low), high]
    return np.asarray(np.clip(some, low, high), np.float64)


def _apart(column: Column, readings: Sequence[float] | Floats) -> int:
    points = column.to_grid(np.asarray(readings, np.float64))
    return int(points.max()) - int(points.min())


def _replay(case: StreamCase) -> Iterator[Finding]:
    yield from few_suspects(partial(_view, case.corrector))


def few_suspects(view: Callable[[Booleans, Sequence[int]], tuple[bytes, ...]]) -> Iterator[Finding]:
    """With fewer suspects than declared, nothing told of them depends on how far they moved."""
    differ = False
    for named in range(len(MOVES) + 1):
        suspects = np.arange(len(MOVES)) < named
        other = tuple(2000 - 300 * place if place < named else move for place, move in enumerate(MOVES))
        same = view(suspects, MOVES) == view(suspects, other)
        if named < LEAST:
            words = "are told the same of" if same else "can be told apart by what is said of"
            yield Finding("replay", f"{named} suspects", same, f"two windows {words} them")
        differ |= not same
    yield Finding(
        "replay", "power", differ, "enough suspects give a distance that depends on them", power=True
    )


def _view(kind: type[Corrector], suspects: Booleans, moves: Sequence[int]) -> tuple[bytes, ...]:
    """Return all that the corrector says about a window to a detector that asks for all it can."""
    column = Column("x", range=Interval(0, 10), outer=Interval(-10, 20), step=1)
    declared = StreamDeclaration(
        columns=[column], epsilon=1, window=len(moves), layer=1, least_suspects=LEAST
    )
    everybody_else = ~suspects
    with tempfile.TemporaryDirectory() as folder, kind({"s": declared}, Path(folder) / "c") as corrector:
        said = []
        for message in (
            Shifts("s", 0, np.array(moves), last=True),
            Suspects("s", 0, suspects),
            Candidates("s", 0, everybody_else, everybody_else),
        ):
            said += [item.message.to_bytes() for item in corrector.handle(message)]
    return tuple(said)


class _WrittenWidth(Column):
    @property
    def steps(self) -> int:
        return self.written_steps


class _Unclamped(Column):
    def to_grid(self, values: Floats) -> Integers:
        # Far enough beyond the outer domain to be seen, and near enough not to overflow.
        inside = np.clip(values, self.outer.low - 1000 * self.step, self.outer.high + 1000 * self.step)
        return np.rint((inside - self.range.low) / self.step).astype(np.int64)


class _HalfTheWidth(Column):
    @property
    def steps(self) -> int:
        return max(1, super().steps // 2)


class _OneIsEnough(Corrector):
    def _split(self, sensor: str, window: int, shifts: Integers, suspects: Booleans) -> Split:
        return split_suspects(shifts, suspects, self.streams[sensor].gap, 1)


class _FewAreDivided(Corrector):
    """Tells the detector nothing of few suspects, and the owner which of them hardly moved."""

    def _split(self, sensor: str, window: int, shifts: Integers, suspects: Booleans) -> Split:
        least = super()._split(sensor, window, shifts, suspects).least
        return Split(split_suspects(shifts, suspects).confirmed, least)


class _OneTooFew(Corrector):
    def _split(self, sensor: str, window: int, shifts: Integers, suspects: Booleans) -> Split:
        return split_suspects(shifts, suspects, self.streams[sensor].gap, LEAST - 1)


STREAM_MUTANTS: tuple[StreamMutant, ...] = (
    StreamMutant(
        "widths as they are written, not as they are held", "bound", StreamCase(column=_WrittenWidth)
    ),
    StreamMutant("noise for half the width", "bound", StreamCase(column=_HalfTheWidth)),
    StreamMutant("not moved into the outer domain", "bound", StreamCase(column=_Unclamped)),
    StreamMutant("one suspect told", "replay", StreamCase(corrector=_OneIsEnough)),
    StreamMutant("told with one suspect too few", "replay", StreamCase(corrector=_OneTooFew)),
    StreamMutant("few suspects divided by their moves", "replay", StreamCase(corrector=_FewAreDivided)),
)
