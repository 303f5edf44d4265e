# SPDX-License-Identifier: Apache-2.0
"""What a stream promises: what ε bounds, and what rests on the two servers not sharing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.promise import Guarantee, ValuesWithin
from anonymaly.stream.protocol.declaration import StreamDeclaration

ANY_NUMBER = 10**9  # a batch costs a person the same however many readings of theirs there are elsewhere
NOT_COVERED = (
    "Not covered by ε: what the corrector holds (how far each reading moved, which readings are suspects or "
    "candidates), the two distances that the detector gets in return, and the verdicts. That these give "
    "nothing away rests on the detector and the corrector not sharing what they hold: together they know "
    "every distance from the centre, and with one column every reading up to its mirror image."
)


@dataclass(frozen=True)
class StreamPromise:
    """Both halves of the promise, for the readings sent so far.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column
    >>> column = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = StreamDeclaration(columns=[column], epsilon=0.5, window=1000, layer=2.0)
    >>> promise = StreamPromise(room, readings=60)
    >>> promise.reading.epsilon, promise.together.epsilon, promise.beyond.epsilon
    ('0.5', '30', '2.5')
    """

    declaration: StreamDeclaration
    readings: int

    @property
    def reading(self) -> Guarantee:
        """What holds of each single reading: d·ε within the ranges."""
        return Guarantee(ValuesWithin(self._ranges), to_text(self.declaration.cost_of(1)))

    @property
    def together(self) -> Guarantee | None:
        """What holds of one person's readings together: T·d·ε for all T that were sent."""
        if self.readings == 0:
            return None
        return batch_guarantee(self.declaration, self.readings, rows=self.readings)

    @property
    def beyond(self) -> Guarantee:
        """What holds of a single reading anywhere: ε·outer/width for each column, rounded up."""
        nano = sum(
            Fraction(self.declaration.nano * column.worst_steps, column.steps)
            for column in self.declaration.columns
        )
        ranges = {column.name: column.outer for column in self.declaration.columns}
        return Guarantee(ValuesWithin(ranges), to_text(-(-nano.numerator // nano.denominator)))

    def describe(self) -> str:
        """Say both halves in plain words."""
        lines = ["What the detector sees of one reading:", *_indented(self.reading)]
        lines += ["Of a reading beyond the ranges, which is moved into the outer domain:"]
        lines += _indented(self.beyond)[:1]
        if self.together is not None:
            lines += [f"Of all {self.readings:,} readings sent so far, if they are one person's:"]
            lines += _indented(self.together)[:1]
        return "\n".join([*lines, NOT_COVERED])

    def to_dict(self) -> dict[str, Any]:
        """Return the promise as plain data."""
        together = self.together
        return {
            "readings": self.readings,
            "reading": self.reading.to_dict(),
            "beyond": self.beyond.to_dict(),
            "together": None if together is None else together.to_dict(),
            "not_covered": NOT_COVERED,
        }

    @property
    def _ranges(self) -> dict[str, Any]:
        return {column.name: column.range for column in self.declaration.columns}


def batch_guarantee(declaration: StreamDeclaration, readings: int, rows: int = ANY_NUMBER) -> Guarantee:
    """Return what a batch costs a person with up to ``rows`` readings in the stream, all in range."""
    ranges = {column.name: column.range for column in declaration.columns}
    return Guarantee(ValuesWithin(ranges, rows=rows), to_text(declaration.cost_of(readings)))


def _indented(guarantee: Guarantee) -> list[str]:
    return [f"  {line}" for line in guarantee.describe().splitlines()]
