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
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.messages import Message, MessageReceipt

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
    has no other effect.

    Parameters
    ----------
    journal : path
        The party's own SQLite file.
    """

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
            made = self._take(message)
            for item in made:
                self._journal.keep(item)
        return [self._receipt(message), *map(_outgoing, made)]

    def resume(self) -> list[Outgoing]:
        """Return what was sent and not yet acknowledged, oldest first; at most 256 at a time."""
        return [_outgoing(message) for message in self._journal.unsettled(MOST_RESENT)]

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

    def _receipt(self, message: Message) -> Outgoing:
        return _outgoing(MessageReceipt.for_message(message))


def _outgoing(message: Message) -> Outgoing:
    return Outgoing(message.recipient, message)
