# SPDX-License-Identifier: Apache-2.0
"""What a stream promises: what ε bounds, what averages out, and what rests on what the two servers do."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.promise import Guarantee, ValuesWithin
from anonymaly.stream.protocol.averaging import Averaged, times_to_half_a_step
from anonymaly.stream.protocol.declaration import PerturbedColumns

ANY_NUMBER = 10**9  # a batch costs a person the same however many readings of theirs there are elsewhere
DAY = 86_400  # seconds
DAYS = 365  # in a year
NOT_COVERED = (
    "Not covered by ε: what the corrector holds (how far each reading moved, which readings are suspects or "
    "candidates), the two distances that the detector gets in return, and the verdicts."
)
TOGETHER = (
    "Both servers together know every distance from the centre, and with one column every reading up to its "
    "mirror image."
)


@dataclass(frozen=True)
class StreamPromise:
    """Both halves of the promise, for the readings sent so far.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, Declaration
    >>> column = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = Declaration(columns=[column], epsilon=0.5, window=1000, layer=2.0)
    >>> promise = StreamPromise(room, readings=60)
    >>> promise.reading.epsilon, promise.together.epsilon, promise.beyond.epsilon
    ('0.5', '30', '2.5')
    >>> StreamPromise(room, readings=60, readings_a_day=1440).by_time
    {'day': '720', 'year': '262800'}
    """

    declaration: PerturbedColumns
    readings: int
    readings_a_day: int | None = None
    earlier: tuple[tuple[PerturbedColumns, int], ...] = ()  # and how many readings were sent under each
    given: int = 0  # readings that may be handed over in clear, by consent
    keep: int = 0  # of how many windows the sensor keeps readings that the owner may ask for

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

    @property
    def by_time(self) -> dict[str, str] | None:
        """What one person's readings of a day and of a year lose together, if their number is known."""
        if self.readings_a_day is None:
            return None
        spans = {"day": self.readings_a_day, "year": DAYS * self.readings_a_day}
        return {name: to_text(self.declaration.cost_of(readings)) for name, readings in spans.items()}

    @property
    def not_covered(self) -> str:
        """What no ε bounds, by what the servers do: follow the protocol, deviate from it, share."""
        least = self.declaration.least_suspects
        others = f", if it names others beside it that moved farther, so that there are {least}"
        others = others if least > 1 else ""
        return "\n".join(
            [
                NOT_COVERED,
                "Honest but curious servers, which follow the protocol and do not share what they hold: the "
                "corrector learns that a reading lay at least as far from the centre as it moved inward. The "
                f"detector gets no distance for a window with fewer than {least} suspects; for any other it "
                "gets the smallest move of a suspect, and with it how far one of the suspects lay from the "
                "centre, to the precision. Sometimes only one of them can be meant.",
                "A server that deviates: a detector gets, once a window, the distance of a reading of its "
                f"choice{others}. A corrector that makes the two distances up learns which perturbed "
                "readings lie beyond them, and with the moves between which bounds the readings lay before.",
                TOGETHER,
                *asked_and_given(self.keep, self.given),
            ]
        )

    def summary(self) -> str:
        """Say in a few lines what readings lose, one by one and together, and what averages out."""
        one = to_text(self.declaration.cost_of(1))
        first = f"A reading loses at most ε = {one}"
        if self.together is not None:
            first += f", and {self.readings:,} of one person ε = {self.together.epsilon}"
        return "\n".join([f"{first}.", *self._averaged()])

    def describe(self) -> str:
        """Say both halves in plain words."""
        one = to_text(self.declaration.cost_of(1))
        lines = ["What the detector sees of one reading:", *_indented(self.reading)]
        lines += ["Of a reading beyond the ranges, which is moved into the outer domain:"]
        lines += [f"  ε = {self.beyond.epsilon} against any other reading."]
        if self.together is not None:
            lines += [f"Of all {self.readings:,} readings sent so far, if they are one person's:"]
            lines += [f"  ε = {self.together.epsilon}, which is {self.readings:,} times {one}."]
        lines += self._before()
        if self.by_time is not None:
            lines += [f"At {self.readings_a_day:,} readings a day, all of them one person's:"]
            lines += [f"  ε = {self.by_time['day']} a day, {self.by_time['year']} a year."]
        return "\n".join([*lines, *self._averaged(), self.not_covered])

    def _before(self) -> list[str]:
        """Say what readings lost under earlier declarations, and all together."""
        if not self.earlier:
            return []
        lines = [
            f"Of {sent:,} readings under the declaration {number} before, within its ranges: "
            f"ε = {to_text(declared.cost_of(sent))}."
            for number, (declared, sent) in zip(range(len(self.earlier), 0, -1), self.earlier, strict=True)
        ]
        total = sum(declared.cost_of(sent) for declared, sent in self.earlier)
        total += self.declaration.cost_of(self.readings)
        return [*lines, f"  Together, if all are one person's: ε = {to_text(total)}."]

    def _averaged(self) -> list[str]:
        found = Averaged.of(self.declaration)
        alone = self.declaration.names[0] if len(self.declaration.columns) == 1 else "in units of the scales"
        lines = [
            "The noise on a reading that stays the same averages out. Sent "
            f"{found.times:,} times it is known, half of the time or more often:"
        ]
        for column in self.declaration.columns:
            exact = float(f"{times_to_half_a_step(column, self.declaration.nano):.2g}")
            lines += [
                f"  to the detector within {found.detector[column.name]:.3g} {column.name} "
                f"(within half a step after about {exact:,.0f} times)"
            ]
        lines += [f"  to the corrector, its distance from the centre within {found.corrector:.3g} {alone}"]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the promise as plain data."""
        together = self.together
        return {
            "readings": self.readings,
            "reading": self.reading.to_dict(),
            "beyond": self.beyond.to_dict(),
            "together": None if together is None else together.to_dict(),
            **(
                {}
                if not self.earlier
                else {
                    "earlier": [
                        {"readings": sent, "epsilon": to_text(declared.cost_of(sent))}
                        for declared, sent in self.earlier
                    ]
                }
            ),
            "by_time": self.by_time,
            **({"given_in_clear": self.given} if self.given else {}),
            "averaged": Averaged.of(self.declaration).to_dict(),
            "not_covered": self.not_covered,
        }

    @property
    def _ranges(self) -> dict[str, Any]:
        return {column.name: column.range for column in self.declaration.columns}


def asked_and_given(keep: int, readings: int) -> list[str]:
    """Say what requests show, if there may be any, and what was consented to hand over, if anything was."""
    asked = [
        "The owner may ask for readings that are kept. Whoever sees messages travel, such as the broker, "
        "then sees that it asks this sensor, and so that a verdict named one of its readings. A server that "
        "sees it, too, knows of that verdict what the owner knows."
    ]
    given = [
        f"Handed over in clear to the owner, by a consent that is in the ledger: up to {readings:,} of the "
        "sensor's readings. No ε bounds them, nor what they say about others that are like them; the bounds "
        "above are of the others."
    ]
    return [*(asked if keep else []), *(given if readings else [])]


def batch_guarantee(declaration: PerturbedColumns, readings: int, rows: int = ANY_NUMBER) -> Guarantee:
    """Return what a batch costs a person with up to ``rows`` readings in the stream, all in range."""
    ranges = {column.name: column.range for column in declaration.columns}
    return Guarantee(ValuesWithin(ranges, rows=rows), to_text(declaration.cost_of(readings)))


def _indented(guarantee: Guarantee) -> list[str]:
    return [f"  {line}" for line in guarantee.describe().splitlines()]
