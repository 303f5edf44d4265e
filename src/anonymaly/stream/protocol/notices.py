# SPDX-License-Identifier: Apache-2.0
"""Messages about running a stream, whatever its protocol: alarms to the owner, the owner's decisions.

Both travel along the parties that know each other: an alarm from party to party up to the owner, a decision
from the owner down. So each says between which two parties it is.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from anonymaly.stream.protocol.encoding import MOST_BATCHES, Fields, Layout, refused, take
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Received

_PARTY = re.compile(rb"[a-z][a-z0-9-]{0,31}")
_ALARM = struct.Struct("<IB")
_SKIP = struct.Struct("<IQ")
LARGEST_WINDOW_NUMBER = 2**63 - 1


class AlarmReason(IntEnum):
    """What an alarm is about."""

    OTHER_VERSION = 1
    PASSED_OVER = 2

    @property
    def words(self) -> str:
        """The reason in a sentence."""
        seen = {
            AlarmReason.OTHER_VERSION: "sent a second version of a batch that is known",
            AlarmReason.PASSED_OVER: "says that it passed over a window to which it is known to contribute",
        }
        return (
            f"{seen[self]}: a copy of it runs, or it was set back. "
            "Stop both, and keep one: readings of both are charged, and verdicts may mix them"
        )


class _Route(Layout):
    """``source`` and ``target``: the two parties, by their addresses; none is a sensor."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def write(self, message: Any) -> bytes:
        texts = [getattr(message, name).encode("ascii") for name in self.names]
        return b"".join(bytes([len(text)]) + text for text in texts)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        found: Fields = {}
        for name in self.names:
            length, data = take(data, 1)
            text, data = take(data, length[0])
            if not _PARTY.fullmatch(text):
                raise refused("names no party")
            found[name] = text.decode("ascii")
        return found, data


class _Alarm(Layout):
    """``part`` and ``reason``."""

    def write(self, message: Any) -> bytes:
        return _ALARM.pack(message.part, message.reason)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _ALARM.size)
        part, reason = _ALARM.unpack(head)
        if part >= MOST_BATCHES or reason not in set(AlarmReason):
            raise refused("is an alarm about something unknown")
        return {"part": part, "reason": AlarmReason(reason)}, rest


class _Skip(Layout):
    """``part`` and ``last``."""

    def write(self, message: Any) -> bytes:
        return _SKIP.pack(message.part, message.last)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _SKIP.size)
        part, last = _SKIP.unpack(head)
        if part >= MOST_BATCHES or last > LARGEST_WINDOW_NUMBER:
            raise refused("is a decision that is too large")
        return {"part": part, "last": last}, rest


class _Between:
    """Says who writes to whom; the seal proves it."""

    source: str
    target: str

    @property
    def sender(self) -> str:
        """The party that writes."""
        return self.source

    @property
    def recipient(self) -> str:
        """The party that it is for."""
        return self.target


@dataclass(frozen=True, eq=False)
class Alarm(_Between, Message, code=40, body=(_Route("source", "target", "reporter"), _Alarm())):
    """Something is wrong with a sensor, as the party ``reporter`` has seen it.

    Examples
    --------
    >>> from anonymaly.stream.protocol.messages import read_message
    >>> alarm = Alarm("room-1", 3, "corrector", "owner", "detector", AlarmReason.OTHER_VERSION)
    >>> alarm.recipient, read_message(alarm.to_bytes()) == alarm
    ('owner', True)
    """

    sensor: str
    window: int
    source: str
    target: str
    reporter: str
    reason: AlarmReason
    part: int = 0


@dataclass(frozen=True, eq=False)
class Skip(_Between, Message, code=41, body=(_Route("source", "target"), _Skip())):
    """The owner gives up a sensor's windows from ``window`` to ``last``: nobody waits for them any more."""

    sensor: str
    window: int
    source: str
    target: str
    last: int
    part: int = 0


@dataclass(frozen=True, eq=False)
class NoticeReceipt(_Between, MessageReceipt, code=42, body=(Received(), _Route("source", "target"))):
    """Says that an alarm or a decision arrived."""

    sensor: str
    window: int
    of: type[Message]
    part: int = 0
    source: str = ""
    target: str = ""


def receipt_of(message: Message) -> MessageReceipt:
    """Return the receipt of any message.

    Examples
    --------
    >>> receipt_of(Skip("room-1", 0, "owner", "corrector", 9)).recipient
    'owner'
    """
    if isinstance(message, Alarm | Skip):
        return NoticeReceipt(
            message.sensor, message.window, type(message), message.sequence, message.target, message.source
        )
    return MessageReceipt.for_message(message)
