# SPDX-License-Identifier: Apache-2.0
"""What a sensor does with a request for one of its readings: it waits for its holder's consent.

A decision is an entry of the sensor's ledger. The sensor looks there, so that its holder may decide while it
runs, and the entry is on the disk before anything is made of it. Without an entry nothing leaves.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from anonymaly.errors import InputError
from anonymaly.ledger import Ledger
from anonymaly.ledger.given import ConsentDecision, decisions_in, subject_of
from anonymaly.stream.protocol.encoding import NotYet, refused
from anonymaly.stream.protocol.kept_readings import KeptReadings
from anonymaly.stream.protocol.messages import Message, MessageReceipt, read_message
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.requests import AnswerState, ReadingAnswer, ReadingRequest

MOST_WAITING = 256  # requests without a decision; later ones are refused until some are decided
MOST_ON_THEIR_WAY = 16  # answers without a receipt
HOLDER, DECLARED = "the sensor's holder", "the sensor's configuration"
ALWAYS = "The sensor's holder declared consent: always."
Consent = Literal["ask", "always"]
CONSENTS: tuple[Consent, ...] = ("ask", "always")


@dataclass(frozen=True)
class WaitingRequest:
    """A request that nobody decided yet.

    Attributes
    ----------
    name
        What its holder calls it when deciding.
    window, place
        Which reading is asked for.
    reason
        Why, as the owner says.
    kept
        Whether the sensor still has the reading.
    """

    name: str
    window: int
    place: int
    reason: str
    kept: bool


class GivingSensor(Party):
    """A sensor that can be asked for readings that it keeps.

    Attributes
    ----------
    keep : int
        Of how many of its newest windows it keeps readings; 0 for none.
    always : bool
        Whether its holder declared to consent to every request.
    """

    name: str
    _ledger: Ledger

    def _prepare(self, keep: int, consent: Consent) -> None:
        """Open what is kept, and close what was open if nothing is kept any more."""
        if consent not in CONSENTS:
            raise InputError("must be ask or always", field="consent", next_step="Give one of the two.")
        if consent == "always" and not keep:
            raise InputError(
                "goes with keep", field="consent", next_step="Say how many windows are kept, or leave it out."
            )
        self._one_answer = threading.RLock()
        self.keep, self.always = keep, consent == "always"
        self._kept = KeptReadings(self._journal, keep)
        if not keep:  # there is no way to the owner any more, and nobody to wait for
            with self._journal.transaction():
                self._journal.withdraw_all(ReadingAnswer)

    def handle(self, message: Message) -> list[Outgoing]:
        """Take a message in and return what to send; see `Party.handle`."""
        made = super().handle(message)
        arrived = isinstance(message, MessageReceipt) and message.of is ReadingAnswer
        if arrived:
            self._journal.tidy()  # the reading has left SQLite's log, too
        if arrived or (isinstance(message, ReadingRequest) and self.always):
            made += self.answer()
        return made

    @property
    def waiting(self) -> int:
        """How many messages to the servers were not yet acknowledged: readings wait for no owner."""
        return super().waiting - self._journal.count_of(ReadingAnswer)

    def resume(self) -> list[Outgoing]:
        """Return what was sent and not yet acknowledged, oldest first; at most 256 at a time."""
        self.answer()
        return super().resume()

    def requests(self) -> list[WaitingRequest]:
        """Return the requests that nobody decided yet, oldest first.

        Examples
        --------
        >>> from anonymaly import Interval
        >>> from anonymaly.stream import Column, Declaration, Owner, Sensor
        >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
        >>> room = Declaration(columns=[celsius], epsilon=0.5, window=2, layer=2.0)
        >>> sensor = Sensor("room-1", room, journal=folder / "g.journal", ledger=folder / "g.ledger",
        ...                 budget=2, keep=8)
        >>> _ = sensor.send([20.1, 74.0])
        >>> _ = sensor.handle(ReadingRequest("room-1", 0, 1, 0, "is the window open?"))
        >>> [(item.name[:4], item.reason, item.kept) for item in sensor.requests()]
        [('0-1-', 'is the window open?', True)]
        >>> (given,) = sensor.consent(sensor.requests()[0].name, reason="it was")
        >>> given.recipient, given.message.values, sensor.given
        ('owner', (74.0,), 1)
        >>> print(str(sensor.statement()).splitlines()[-2])  # doctest: +ELLIPSIS
          In clear, by consent: 1 reading may be handed over. No ε bounds it; all else that is said here ...
        """
        return [
            WaitingRequest(
                item.name,
                item.window,
                item.place,
                item.reason,
                self._kept.find(item.window, item.place) is not None,
            )
            for item in (self._undecided() if self.keep else ())
        ]

    def consent(self, request: str, *, reason: str) -> list[Outgoing]:
        """Hand over the reading that a request asks for: no ε bounds it from then on, and the ledger says so.

        Parameters
        ----------
        request
            The request's name.
        reason
            Why; the ledger keeps it.
        """
        return self._decide_one(request, gives=True, reason=reason)

    def refuse(self, request: str, *, reason: str) -> list[Outgoing]:
        """Refuse a request; the owner learns that it was refused, and not why."""
        return self._decide_one(request, gives=False, reason=reason)

    def answer(self) -> list[Outgoing]:
        """Return the answers to requests that were decided by now; call it now and then.

        A request has one answer: it is in the journal together with what came of the request.
        """
        self._journal.refuse_in_child()
        with self._one_answer:
            # An owner that is away must not fill what a sensor has on its way.
            room = MOST_ON_THEIR_WAY - self._journal.count_of(ReadingAnswer)
            waiting = self._undecided() if self.keep and room > 0 else []
            if not waiting:
                return []
            decided = self._decisions()
            if self.always:
                for item in waiting[:room]:
                    if item.name not in decided:
                        decide(self._ledger, self.name, item.name, gives=True, by=DECLARED, reason=ALWAYS)
                decided = self._decisions()
            ready = [item for item in waiting if item.name in decided][:room]
            made = [self._answer_to(item, decided[item.name].gives) for item in ready]
            with self._journal.transaction():
                for message in made:
                    self._journal.keep(message)
                    self._journal.execute(
                        "UPDATE requests SET state = ? WHERE window = ? AND sequence = ?",
                        (int(message.state), message.window, message.sequence),
                    )
            return [Outgoing(message.recipient, message) for message in made]

    @property
    def given(self) -> int:
        """How many of its readings were consented to be handed over in clear."""
        return sum(decision.gives for decision in self._decisions().values())

    def _decisions(self) -> dict[str, ConsentDecision]:
        return decisions_in(self._ledger.consents(self.name))

    def _decide_one(self, request: str, *, gives: bool, reason: str) -> list[Outgoing]:
        self._journal.refuse_in_child()
        with self._one_answer:
            self.find_waiting(request)
            decide(self._ledger, self.name, request, gives=gives, by=HOLDER, reason=reason)
            return self.answer()

    def find_waiting(self, request: str) -> WaitingRequest:
        """Return a request that nobody decided yet, or say that there is none of that name."""
        found = next((item for item in self.requests() if item.name == request), None)
        if found is None:
            raise InputError(
                f"{request} does not wait for a decision",
                field="request",
                next_step="See those that wait with `anonymaly stream requests`.",
            )
        return found

    def _answer_to(self, request: ReadingRequest, gives: bool) -> ReadingAnswer:
        nothing = (0.0,) * self._columns
        about = self.name, request.window, request.part
        if not gives:
            return ReadingAnswer(*about, AnswerState.REFUSED, nothing)
        found = self._kept.find(request.window, request.place)
        # One of an earlier declaration could tell by its length that it was given (GUARANTEE, lemma F4).
        if found is None or len(found.values) != self._columns:
            return ReadingAnswer(*about, AnswerState.NOT_KEPT, nothing)
        return ReadingAnswer(*about, AnswerState.GIVEN, found.values, found.time)

    def _act(self, message: Message) -> list[Message]:
        if not isinstance(message, ReadingRequest):
            return super()._act(message)
        # Nothing here may depend on readings, not even whether there is one: a receipt is no decision.
        if not self.keep:
            raise refused("asks for a reading, and this sensor keeps none")
        row = self._journal.execute(
            "SELECT body FROM requests WHERE name = ? OR (window = ? AND sequence = ?)",
            (message.name, message.window, message.part),
        ).fetchone()
        if row is not None and row[0] != message.to_bytes():
            raise refused("is another request under the name or number of one before")
        if row is None:
            if self._count_undecided() >= MOST_WAITING:
                raise NotYet(
                    f"came when {MOST_WAITING} requests wait for a decision",
                    field="message",
                    next_step="It will be sent again.",
                )
            self._journal.execute(
                "INSERT INTO requests (name, body, window, sequence) VALUES (?, ?, ?, ?)",
                (message.name, message.to_bytes(), message.window, message.part),
            )
        return []

    def _undecided(self) -> list[ReadingRequest]:
        with self._journal.lock:
            rows = self._journal.execute(
                "SELECT body FROM requests WHERE state IS NULL ORDER BY id"
            ).fetchall()
        return [item for (body,) in rows if isinstance(item := read_message(body), ReadingRequest)]

    def _count_undecided(self) -> int:
        query = "SELECT COUNT(*) FROM requests WHERE state IS NULL"
        return int(self._journal.execute(query).fetchone()[0])

    @property
    @abstractmethod
    def _columns(self) -> int:
        """How many numbers a reading has."""


def decide(ledger: Ledger, account: str, request: str, *, gives: bool, by: str, reason: str) -> None:
    """Enter what was decided about a request, before anything is made of it; the first decision stands."""
    ledger.consent(account, subject_of(request, to="owner", gives=gives), by=by, reason=reason)
