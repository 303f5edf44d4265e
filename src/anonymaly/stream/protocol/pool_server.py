# SPDX-License-Identifier: Apache-2.0
"""What servers of pools do alike, whatever their protocol: look at the clock, recall, find copied sensors.

The journal holds everything; what is in memory beside it is made anew after a step that failed.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.notices import AlarmReason
from anonymaly.stream.protocol.open_windows import Contributed, OpenWindows
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.versions import is_known_between
from anonymaly.stream.protocol.windows import Moment, seconds_of


class Waits(Exception):
    """Something that the next step needs is not there: the other server has not said it yet."""


class ServerOfPool(Party):
    """A server that gathers contributions of many sensors into windows by time.

    Parameters
    ----------
    address : str
        What the others call it.
    journal : path
        The server's own file.
    """

    share: ClassVar[type[Message]]
    """What it gets of a sensor."""

    def __init__(self, address: str, journal: str | Path) -> None:
        self._now = 0.0
        super().__init__(address, journal)
        self._open = self._find_open()
        self._is_sure = True

    def handle(self, message: Message) -> list[Outgoing]:
        """Take a message in and return what to send."""
        self._recall()
        made = super().handle(message)
        self._is_sure = True
        return made

    def tick(self, now: Moment) -> list[Outgoing]:
        """Say what time it is; return what to send because windows are over. Call it every few seconds."""
        self._now = max(self._now, seconds_of(now, field="now"))
        self._recall()
        with self._journal.transaction():
            made = self._advance()
            for message in made:
                self._journal.keep(message)
        self._is_sure = True
        return [Outgoing(message.recipient, message) for message in made]

    @property
    def floor(self) -> int:
        """The first window that is not finished."""
        return int(self._journal.read_note("floor") or 0)

    def _recall(self) -> None:
        """See to it that what is in memory is what is on the disk, also after a step that failed."""
        if not self._is_sure:
            self._open = self._find_open()
        self._is_sure = False

    def _of_a_copy(self, message: Message) -> AlarmReason | None:
        """Find two that contribute by turns, too: each names the window of its own last contribution."""
        reason = super()._of_a_copy(message)
        if reason is None and isinstance(message, self.share) and isinstance(message, Contributed):
            beside = is_known_between(self._journal, message, message.previous)
            return AlarmReason.PASSED_OVER if beside else None
        return reason

    @abstractmethod
    def _find_open(self) -> OpenWindows:
        """Return what the journal holds of windows that are not finished."""

    @abstractmethod
    def _advance(self) -> list[Message]:
        """Do every step that can be done."""
