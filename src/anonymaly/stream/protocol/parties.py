# SPDX-License-Identifier: Apache-2.0
"""What every party is: a state machine that turns messages into messages, durable through its journal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import MOST_BATCHES, refused
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.messages import Message, MessageReceipt
from anonymaly.stream.protocol.notices import Alarm, AlarmReason, Skip, receipt_of
from anonymaly.stream.protocol.versions import is_other_version, remember

MOST_OPEN = 256  # windows of one sensor that a party keeps at a time; later ones are refused until it is done
MOST_RESENT = 256  # messages that one call of `resume` returns


@dataclass(frozen=True)
class Outgoing:
    """A message and the address of the party that it is for: ``detector``, or ``sensor/room-1``."""

    recipient: str
    message: Message


class Party(ABC):
    """A party of the protocol; how its messages travel is not its concern.

    ``handle`` returns what to send, after its effects are on disk. A message stays in the journal until its
    recipient's receipt arrives, so that a party may be killed at any moment: ``resume`` returns what may have
    to be sent again, byte for byte. Call it after a restart, after a lost connection, and now and then.
    Messages may arrive twice, in any order, or much later; what was seen before is answered by a receipt and
    has no other effect. Another version of a sensor's batch has no receipt, but an alarm for the owner.

    Parameters
    ----------
    journal : path
        The party's own SQLite file.
    """

    overseer: str = "owner"
    """The party that alarms go to, and whose decisions are followed."""
    followers: tuple[str, ...] = ()
    """The parties to which this one hands the owner's decisions on."""

    def __init__(self, address: str, journal: str | Path) -> None:
        self.address = address
        self._journal = Journal(journal, address)

    def handle(self, message: Message) -> list[Outgoing]:
        """Take a message in and return what to send.

        Raises
        ------
        InputError
            The message is not for this party, or does not fit the stream. It has no effect and no receipt.
        """
        if not isinstance(message, Message) or message.recipient != self.address:
            raise InputError(
                f"is not for {self.address}", field="message", next_step="It was ignored; check the topics."
            )
        with self._journal.transaction():
            if isinstance(message, MessageReceipt):
                self._journal.settle(message)
                return []
            from_sensor = message.sender.startswith("sensor/")
            of_a_copy = self._of_a_copy(message) if from_sensor else None
            made = (
                self._act(message)
                if of_a_copy is None
                else self._raise_alarm(message, self.address, of_a_copy)
            )
            if from_sensor and of_a_copy is None:
                remember(self._journal, message)
            for item in made:
                self._journal.keep(item)
        # Without a receipt a copied sensor stops soon, instead of taking for arrived what nobody keeps.
        return [*([_outgoing(receipt_of(message))] if of_a_copy is None else []), *map(_outgoing, made)]

    def resume(self) -> list[Outgoing]:
        """Return what was sent and not yet acknowledged, oldest first; at most 256 at a time."""
        return [_outgoing(message) for message in self._journal.unsettled(MOST_RESENT)]

    @property
    def journal(self) -> Journal:
        """What the party remembers."""
        return self._journal

    @property
    def waiting(self) -> int:
        """How many messages were not yet acknowledged."""
        return self._journal.count_unsettled()

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What went wrong inside must not be hidden by what goes wrong at the end.
        with suppress(*([] if kind is None else [Exception])):
            self.close()

    @abstractmethod
    def _take(self, message: Message) -> list[Message]:
        """Enter a message that is for this party into the journal; return what follows from it."""

    def _of_a_copy(self, message: Message) -> AlarmReason | None:
        """Say why a sensor's message cannot be of the sensor whose messages are known, if it cannot."""
        return AlarmReason.OTHER_VERSION if is_other_version(self._journal, message) else None

    def _act(self, message: Message) -> list[Message]:
        if isinstance(message, Alarm):
            return self._raise_alarm(message, message.reporter, message.reason)
        if isinstance(message, Skip):
            return self._skip(message)
        return self._take(message)

    def _raise_alarm(self, about: Message, reporter: str, reason: AlarmReason) -> list[Message]:
        """Enter an alarm, once for each window; return it for the next party on the way to the owner."""
        number = self._journal.add_alarm(about.sensor, about.window, reporter, reason)
        if number is None or self.overseer == self.address:
            return []
        to = self.overseer
        return [Alarm(about.sensor, about.window, self.address, to, reporter, reason, number % MOST_BATCHES)]

    def _skip(self, message: Skip) -> list[Message]:
        """Give up windows by the owner's decision, and hand it on."""
        if message.source != self.overseer or message.last < message.window:
            raise refused("is no decision of the owner's")
        if message.window > self._journal.floor(message.sensor) and message.last - message.window > MOST_OPEN:
            raise refused(f"is about more than {MOST_OPEN} windows behind one that is not finished")
        self._journal.finish_all(message.sensor, message.window, message.last)
        return self._hand_on(message.sensor, message.window, message.last, message.part)

    def _hand_on(self, sensor: str, first: int, last: int, number: int) -> list[Message]:
        return [
            Skip(sensor, first, self.address, follower, last, number * len(self.followers) + place)
            for place, follower in enumerate(self.followers)
        ]


def _outgoing(message: Message) -> Outgoing:
    return Outgoing(message.recipient, message)
