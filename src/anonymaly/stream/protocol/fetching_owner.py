# SPDX-License-Identifier: Apache-2.0
"""What an owner does beside taking verdicts: ask a sensor for one reading that a verdict names.

Whoever has the sensor decides. The servers are not asked, and learn nothing of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import MOST_BATCHES, refused
from anonymaly.stream.protocol.messages import Message, read_message
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.requests import LONGEST_REASON, AnswerState, ReadingAnswer, ReadingRequest

FetchState = Literal["waiting", "given", "refused", "not kept", "withdrawn"]
_STATES: dict[AnswerState, FetchState] = {
    AnswerState.GIVEN: "given",
    AnswerState.REFUSED: "refused",
    AnswerState.NOT_KEPT: "not kept",
}


@dataclass(frozen=True, repr=False)
class Fetch:
    """A reading that the owner asked for, and what came of it.

    Attributes
    ----------
    number
        Counted from 1 in the order of asking.
    sensor, window, place
        Which reading.
    reason
        Why the owner asked.
    state
        ``waiting``, ``given``, ``refused`` by the sensor's holder, ``not kept`` any more by the sensor, or
        ``withdrawn`` because the sensor cannot be asked any more.
    values, time
        The reading, by column, and its time, where it was given.
    answered
        Counted from 1 in the order of answers; None without one.
    """

    number: int
    sensor: str
    window: int
    place: int
    reason: str
    state: FetchState
    values: tuple[float, ...] | None
    time: str | None
    answered: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "number": self.number, "sensor": self.sensor, "window": self.window, "place": self.place,
            "reason": self.reason, "state": self.state,
            "values": None if self.values is None else list(self.values), "time": self.time,
        }  # fmt: skip


class FetchingOwner(Party):
    """An owner that may ask sensors for readings."""

    fetchable: frozenset[str]
    """The sensors that can be asked."""

    def fetch(self, sensor: str, window: int, place: int = 0, *, reason: str) -> list[Outgoing]:
        """Ask a sensor for a reading that a verdict names; return what to send.

        Parameters
        ----------
        sensor
            Its name.
        window
            The window, as its verdict has it.
        place
            Where in the window; in a pool a sensor has one reading in a window.
        reason
            Why, for whoever has the sensor and decides.

        Raises
        ------
        InputError
            No verdict here names that reading, the sensor cannot be asked, or it was asked for and waits.
        """
        if sensor not in self.fetchable:
            raise InputError(
                f"{sensor} cannot be asked for readings: its holder keeps none, or it is not declared",
                field="sensor",
                next_step="Its holder may keep some: anonymaly stream keep.",
            )
        if not reason.strip() or len(reason.encode()) > LONGEST_REASON or not _is_printable(reason):
            raise InputError(
                f"must be one line of at most {LONGEST_REASON} bytes",
                field="reason",
                next_step="Say why in a sentence: whoever has the sensor decides by it.",
            )
        with self._journal.transaction():
            if not self._is_flagged(sensor, window, place):
                raise InputError(
                    f"no verdict names the reading at place {place} of window {window} of {sensor}",
                    field="window",
                    next_step="Ask for readings that a verdict says to look at, and no others.",
                )
            self._refuse_known(sensor, window, place)
            asked = self._journal.execute(
                "SELECT COUNT(*) FROM fetches WHERE sensor = ? AND window = ?", (sensor, window)
            ).fetchone()[0]
            if asked >= MOST_BATCHES:
                raise InputError(
                    "was asked about too often", field="window", next_step="Ask about another window."
                )
            request = ReadingRequest(sensor, window, place, asked, reason)
            self._journal.execute(
                "INSERT INTO fetches (sensor, window, sequence, body, withdrawn) VALUES (?, ?, ?, ?, 0)",
                (sensor, window, asked, request.to_bytes()),
            )
            self._journal.keep(request)
        return [Outgoing(request.recipient, request)]

    def fetches(self) -> list[Fetch]:
        """Return all that was asked for, oldest first."""
        with self._journal.lock:
            rows = self._journal.execute(
                "SELECT id, body, withdrawn, answer, answered FROM fetches ORDER BY id"
            ).fetchall()
        return [_read_fetch(*row) for row in rows]

    def _set_fetchable(self, sensors: Iterable[str]) -> None:
        """Say which sensors can be asked, and withdraw what waits for others."""
        self.fetchable = frozenset(sensors)
        lost = [
            item for item in self.fetches() if item.state == "waiting" and item.sensor not in self.fetchable
        ]
        if not lost:
            return
        with self._journal.transaction():
            for item in lost:
                row = self._journal.execute("SELECT body FROM fetches WHERE id = ?", (item.number,))
                self._journal.withdraw(read_message(row.fetchone()[0]))
                self._journal.execute("UPDATE fetches SET withdrawn = 1 WHERE id = ?", (item.number,))

    def _refuse_known(self, sensor: str, window: int, place: int) -> None:
        for item in self.fetches():
            if (item.sensor, item.window, item.place) != (sensor, window, place):
                continue
            if item.state in ("waiting", "given"):
                raise InputError(
                    f"was asked for before, and {'is here' if item.state == 'given' else 'waits'}",
                    field="window",
                    next_step="See it with `anonymaly stream fetched`.",
                )

    def _act(self, message: Message) -> list[Message]:
        if not isinstance(message, ReadingAnswer):
            return super()._act(message)
        key = message.sensor, message.window, message.part
        row = self._journal.execute(
            "SELECT answer FROM fetches WHERE sensor = ? AND window = ? AND sequence = ?", key
        ).fetchone()
        if row is None:
            raise refused("answers what was not asked")
        if row[0] is None:
            self._journal.execute(
                "UPDATE fetches SET answer = ?, answered = 1 + (SELECT COALESCE(MAX(answered), 0) FROM "
                "fetches) WHERE sensor = ? AND window = ? AND sequence = ?",
                (message.to_bytes(), *key),
            )
        return []

    @abstractmethod
    def _is_flagged(self, sensor: str, window: int, place: int) -> bool:
        """Say whether a verdict in the journal names a reading."""


def _read_fetch(
    number: int, body: bytes, withdrawn: int, answer: bytes | None, answered: int | None
) -> Fetch:
    request, found = read_message(body), None if answer is None else read_message(answer)
    if not isinstance(request, ReadingRequest):
        raise TypeError("the journal has another message where a request belongs")
    state: FetchState = "withdrawn" if withdrawn else "waiting"
    values = time = None
    if isinstance(found, ReadingAnswer):
        state = _STATES[found.state]
        if found.state == AnswerState.GIVEN:
            values, time = found.values, found.time
    about = request.sensor, request.window, request.place, request.reason
    return Fetch(number, *about, state, values, time, answered)


def _is_printable(text: str) -> bool:
    return all(letter.isprintable() for letter in text)
