# SPDX-License-Identifier: Apache-2.0
"""Asking a sensor for one reading, and its answer: between owner and sensor, past the servers.

    owner ── ReadingRequest ──► sensor ── ReadingAnswer ──► owner

Both have the same length whatever they hold: who sees them pass, sealed, cannot tell a reading that was given
from one that was refused.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from anonymaly.stream.protocol.encoding import (
    LARGEST_WINDOW,
    MOST_BATCHES,
    MOST_COLUMNS,
    Fields,
    Layout,
    refused,
    take,
)
from anonymaly.stream.protocol.messages import Message

LONGEST_REASON = 500  # bytes, so that a request has one length
LONGEST_TIME = 64  # bytes
_PLACE = struct.Struct("<II")
_STATE = struct.Struct("<IBH")
_LENGTH = struct.Struct("<H")


class AnswerState(IntEnum):
    """What came of a request."""

    GIVEN = 1
    REFUSED = 2
    NOT_KEPT = 3


class _Text(Layout):
    """A text in a place of fixed size."""

    def __init__(self, name: str, longest: int) -> None:
        self.name = name
        self.longest = longest

    def write(self, message: Any) -> bytes:
        encoded = str(getattr(message, self.name)).encode()
        if len(encoded) > self.longest:
            raise refused(f"has a {self.name} of more than {self.longest} bytes")
        return _LENGTH.pack(len(encoded)) + encoded.ljust(self.longest, b"\0")

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _LENGTH.size)
        (length,) = _LENGTH.unpack(head)
        body, rest = take(rest, self.longest)
        if length > self.longest or any(body[length:]):
            raise refused(f"has a {self.name} that is too long")
        try:
            text = body[:length].decode()
        except UnicodeDecodeError:
            raise refused(f"has a {self.name} that is no text") from None
        if not all(letter.isprintable() for letter in text):  # it is shown on a terminal
            raise refused(f"has a {self.name} with signs that cannot be printed")
        return {self.name: text}, rest


class _Asked(Layout):
    """``place`` and ``part``."""

    def write(self, message: Any) -> bytes:
        return _PLACE.pack(message.place, message.part)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _PLACE.size)
        place, part = _PLACE.unpack(head)
        if place >= LARGEST_WINDOW or part >= MOST_BATCHES:
            raise refused("asks for a reading that cannot be")
        return {"place": place, "part": part}, rest


class _Answered(Layout):
    """``part``, ``state`` and ``values``: eight bytes for each column, zeros where nothing is given."""

    def write(self, message: Any) -> bytes:
        values = message.values
        return _STATE.pack(message.part, message.state, len(values)) + struct.pack(
            f"<{len(values)}d", *values
        )

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _STATE.size)
        part, state, columns = _STATE.unpack(head)
        if part >= MOST_BATCHES or state not in set(AnswerState) or not 1 <= columns <= MOST_COLUMNS:
            raise refused("answers something unknown")
        body, rest = take(rest, 8 * columns)
        values = struct.unpack(f"<{columns}d", body)
        if any(map(math.isnan, values)) or (state != AnswerState.GIVEN and any(body)):
            raise refused("has values where none belong")
        return {"part": part, "state": AnswerState(state), "values": values}, rest


@dataclass(frozen=True, eq=False)
class ReadingRequest(
    Message, code=50, sender="owner", to="sensor", body=(_Asked(), _Text("reason", LONGEST_REASON))
):
    """The owner asks for the reading at a place of a window, of which it says why.

    ``part`` counts the owner's requests to the sensor about the window.

    Examples
    --------
    >>> from anonymaly.stream.protocol.messages import read_message
    >>> request = ReadingRequest("room-1", 12, 3, 0, "is the window open?")
    >>> request.sender, request.recipient, read_message(request.to_bytes()) == request
    ('owner', 'sensor/room-1', True)
    """

    place: int
    part: int
    reason: str

    @property
    def name(self) -> str:
        """What a person calls it: window, place, and some of its digest, so that no other is meant."""
        return f"{self.window}-{self.place}-{hashlib.sha256(self.to_bytes()).hexdigest()[:10]}"


@dataclass(frozen=True, eq=False, repr=False)
class ReadingAnswer(
    Message, code=51, sender="sensor", to="owner", body=(_Answered(), _Text("time", LONGEST_TIME))
):
    """What the sensor's holder decided about a request; with consent, the reading and its time."""

    part: int
    state: AnswerState
    values: tuple[float, ...]
    time: str = ""
