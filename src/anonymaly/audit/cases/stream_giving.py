# SPDX-License-Identifier: Apache-2.0
"""What a stream claims about readings that its owner asks for, by lemmas F1 to F4, and broken variants.

``replay`` has two sensors, which differ in the reading that is asked for, answer the same owner: without a
consent nothing may tell them apart. ``ledger`` compares what was handed over with what the ledger says.
Both are exact, so there is no false alarm.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from anonymaly.audit.report import Finding
from anonymaly.audit.stream_parts import Checks, StreamMutant, StreamParts
from anonymaly.declare.domain import Interval
from anonymaly.ledger import Ledger
from anonymaly.ledger.given import ConsentDecision
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.requests import AnswerState, ReadingAnswer, ReadingRequest
from anonymaly.stream.protocol.sensor import Sensor

NAME, WINDOW = "s", 2
ASKED = ReadingRequest(NAME, 0, 1, 0, "why?")
Deciding = Callable[[Sensor], list[Outgoing]]
Readings = Sequence[tuple[float, str]]
ONE: Readings = ((20.0, "09:00"), (21.0, "09:15"))
OTHER: Readings = ((20.0, "09:00"), (74.0, "09:20"))
LATER: Readings = (*ONE, *ONE, *ONE)  # so that the reading is not kept any more


@dataclass(frozen=True)
class GivingCase(StreamParts):
    """The part of a stream that may hand over readings.

    Examples
    --------
    >>> GivingCase().audit().passed
    True
    """

    title: ClassVar[str] = "stream, readings asked for"
    sensor: type[Sensor] = Sensor

    @property
    def checks(self) -> Checks:
        """The attack of each layer."""
        return {"ledger": partial(_ledger, self), "replay": partial(_replay, self)}


def _replay(case: GivingCase) -> Iterator[Finding]:
    """Without a consent, what leaves depends neither on the reading nor on whether it is kept."""
    for name, decide in (("no decision", _nothing), ("a refusal", _refusal)):
        views = [_said(case, readings, decide)[0] for readings in (ONE, OTHER, LATER)]
        same = views[0] == views[1] == views[2]
        words = "say the same" if same else "can be told apart"
        yield Finding("replay", name, same, f"sensors with different readings, or none, {words}")
    differ = _said(case, ONE, _consent)[0] != _said(case, OTHER, _consent)[0]
    yield Finding("replay", "power", differ, "with a consent they can be told apart", power=True)


def _ledger(case: GivingCase) -> Iterator[Finding]:
    """What was handed over is in the ledger, with words that there is no bound, and nothing is charged."""
    messages, entries = _said(case, ONE, _consent)
    given = [item for item in messages if isinstance(item, ReadingAnswer) and item.state == AnswerState.GIVEN]
    known = [entry["subject"].get("given_in_clear", {}) for entry in entries]
    named = [item["request"] for item in known if str(item.get("bound", "")).startswith("none")]
    words = f"{len(given)} readings were handed over, and the ledger names {len(named)}"
    yield Finding("ledger", "a consent", named == [ASKED.name] * len(given), words)
    yield Finding("ledger", "power", len(given) == 1, "a reading was handed over", power=True)


def _said(case: GivingCase, readings: Readings, decide: Deciding) -> tuple[list[Message], list[Any]]:
    """Return what a sensor says to the owner who asks, in one run and in the next; and the entries."""
    column = Column("x", range=Interval(0, 100), outer=Interval(-10, 110), step=1)
    declared = StreamDeclaration(columns=[column], epsilon=1, window=WINDOW, layer=1)
    with tempfile.TemporaryDirectory() as folder:
        journal, ledger = Path(folder) / "journal", Path(folder) / "ledger"

        def opened() -> Sensor:
            return case.sensor(NAME, declared, journal=journal, ledger=ledger, budget=10**6, keep=1)

        with opened() as sensor:
            sensor.send([value for value, _ in readings], [time for _, time in readings])
            said = [*sensor.handle(ASKED), *decide(sensor), *sensor.answer()]
        with opened() as sensor:
            said += sensor.resume()
        with Ledger.audit(ledger) as book:
            entries = [entry.data for entry in book.consents(NAME)]
    return [item.message for item in said if item.recipient == "owner"], entries


def _nothing(sensor: Sensor) -> list[Outgoing]:
    return []


def _refusal(sensor: Sensor) -> list[Outgoing]:
    return sensor.refuse(ASKED.name, reason="no")


def _consent(sensor: Sensor) -> list[Outgoing]:
    sensor.consent(ASKED.name, reason="yes")
    return []  # it is said again in the next run


class _SilenceIsConsent(Sensor):
    def _decisions(self) -> dict[str, ConsentDecision]:
        silent = {item.name: ConsentDecision(0, "", item.name, True, "", "") for item in self._undecided()}
        return silent | super()._decisions()


class _SaysWhatIsGone(Sensor):
    """Answers at once where it has nothing to decide about."""

    def handle(self, message: Message) -> list[Outgoing]:
        made = super().handle(message)
        if isinstance(message, ReadingRequest) and self._kept.find(message.window, message.place) is None:
            made.append(Outgoing("owner", self._answer_to(message, gives=True)))
        return made


class _RefusesWithTheTime(Sensor):
    def _answer_to(self, request: ReadingRequest, gives: bool) -> ReadingAnswer:
        found, made = self._kept.find(request.window, request.place), super()._answer_to(request, gives)
        time = "" if found is None else found.time
        return ReadingAnswer(made.sensor, made.window, made.part, made.state, made.values, time)


class _NotInTheLedger(Sensor):
    _memory: dict[str, bool] = {}  # noqa: RUF012  (a fault)

    def _decide_one(self, request: str, *, gives: bool, reason: str) -> list[Outgoing]:
        self._memory = {request: gives}
        return self.answer()

    def _decisions(self) -> dict[str, ConsentDecision]:
        return {
            name: ConsentDecision(0, "", name, gives, "", reason="") for name, gives in self._memory.items()
        }


GIVING_MUTANTS: tuple[StreamMutant, ...] = (
    StreamMutant("silence taken for consent", "replay", GivingCase(_SilenceIsConsent)),
    StreamMutant("what is not kept said without a decision", "replay", GivingCase(_SaysWhatIsGone)),
    StreamMutant("a refusal with the reading's time", "replay", GivingCase(_RefusesWithTheTime)),
    StreamMutant("a consent that the ledger does not know", "ledger", GivingCase(_NotInTheLedger)),
)
