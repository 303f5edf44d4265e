# SPDX-License-Identifier: Apache-2.0
"""What the parties say to each other: seven kinds of messages, each with one form in bytes.

A message begins with its version and kind; everything in it has a fixed place and a largest size, sets of
readings are bitmaps as long as the window whatever they hold, and numbers are integers. So equal messages are
equal bytes, and the length of a message says nothing that is not public. A message that does not parse to the
last bit is refused.

    sensor ── Readings ──► detector ── Suspects, Candidates ──► corrector ── Verdict ──► owner
    sensor ── Shifts ────► corrector ── Thresholds ───────────► detector

Each of these is answered by a ``MessageReceipt``, so that its sender need not send it again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import (
    LARGEST_MESSAGE,
    MOST_BATCHES,
    Batch,
    Distances,
    Fields,
    Layout,
    Sets,
    YesNo,
    read_name,
    refused,
    take,
)

VERSION = 1
_MAGIC = b"am"
_HEAD = struct.Struct("<2sBBQB")
_RECEIPT = struct.Struct("<IB")

KINDS: dict[int, type[Message]] = {}


@dataclass(frozen=True, eq=False)
class Message:
    """One message about one window of one sensor.

    Attributes
    ----------
    sensor
        Whose readings it is about.
    window
        Which window of that sensor, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> message = Suspects("room-1", 3, np.array([False, True]))
    >>> message.sender, message.recipient, read_message(message.to_bytes()) == message
    ('detector', 'corrector', True)
    """

    sensor: str
    window: int

    code: ClassVar[int]
    sender_role: ClassVar[str]
    recipient_role: ClassVar[str]
    body: ClassVar[tuple[Layout, ...]]

    def __init_subclass__(cls, code: int, body: tuple[Layout, ...], sender: str = "", to: str = "") -> None:
        cls.code, cls.body, cls.sender_role, cls.recipient_role = code, body, sender, to
        if code in KINDS:
            raise TypeError(f"{cls.__name__} and {KINDS[code].__name__} have the same code")
        KINDS[code] = cls

    @property
    def sequence(self) -> int:
        """Which part of the window, for messages of which a window has several."""
        part: int = getattr(self, "part", 0)
        return part

    @property
    def sender(self) -> str:
        """The address of the only party that may say this; a transport refuses it from any other."""
        return self.sender_of(self.sensor, self.sequence)

    @property
    def recipient(self) -> str:
        """The address of the only party that may read it."""
        return self.recipient_of(self.sensor, self.sequence)

    @classmethod
    def sender_of(cls, sensor: str, sequence: int) -> str:
        """Return who sends such a message; a receipt of it goes there."""
        return _address(cls.sender_role, sensor)

    @classmethod
    def recipient_of(cls, sensor: str, sequence: int) -> str:
        """Return who receives such a message; a receipt of it comes from there."""
        return _address(cls.recipient_role, sensor)

    def to_bytes(self) -> bytes:
        """Return the message's one form in bytes."""
        name = read_name(self.sensor).encode()
        head = _HEAD.pack(_MAGIC, VERSION, self.code, self.window, len(name)) + name
        return head + b"".join(layout.write(self) for layout in self.body)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())


@dataclass(frozen=True, eq=False)
class Readings(Message, code=1, sender="sensor", to="detector", body=(Batch(),)):
    """A batch of perturbed readings, for the detector alone: one row of grid points for each reading."""

    values: Integers
    part: int = 0
    last: bool = False


@dataclass(frozen=True, eq=False)
class Shifts(Message, code=2, sender="sensor", to="corrector", body=(Batch(columns=1),)):
    """How far each reading of a batch moved from the centre when perturbed, for the corrector alone."""

    values: Integers
    part: int = 0
    last: bool = False


@dataclass(frozen=True, eq=False)
class Suspects(Message, code=3, sender="detector", to="corrector", body=(Sets("members"),)):
    """Which readings of a window look like outliers after perturbation (O' in Böhler et al. 2017)."""

    members: Booleans


@dataclass(frozen=True, eq=False)
class Thresholds(Message, code=4, sender="corrector", to="detector", body=(Distances(),)):
    """The two distances beyond which the detector looks for missed outliers (d_TP and d_TP + w in the paper).

    Both are None if no suspect is left to take them from; no reading is then beyond either.
    """

    near: int | None
    far: int | None


@dataclass(frozen=True, eq=False)
class Candidates(Message, code=5, sender="detector", to="corrector", body=(Sets("near", "far"),)):
    """Which readings that are no suspects lie beyond the two distances (I2 and I3 in Böhler et al. 2017)."""

    near: Booleans
    far: Booleans


_FOUND = Sets("confirmed", "inward", "covered", "covered_far")


@dataclass(frozen=True, eq=False)
class Verdict(Message, code=6, sender="corrector", to="owner", body=(YesNo("complete"), _FOUND)):
    """Which readings to look at, for the owner (TP, FNL1, FNL2 and FNL3 in Böhler et al. 2017).

    ``complete`` is false if the parts of the window did not fit together, so that nothing could be said.
    """

    confirmed: Booleans
    inward: Booleans
    covered: Booleans
    covered_far: Booleans
    complete: bool = True

    @property
    def found(self) -> Booleans:
        """All readings to look at."""
        return self.confirmed | self.inward | self.covered | self.covered_far


class Received(Layout):
    """``of`` and ``part``: which message arrived."""

    def write(self, message: Any) -> bytes:
        """Return number and kind."""
        return _RECEIPT.pack(message.part, message.of.code)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse the receipt of a receipt."""
        head, rest = take(data, _RECEIPT.size)
        part, code = _RECEIPT.unpack(head)
        kind = KINDS.get(code)
        if kind is None or issubclass(kind, MessageReceipt) or part >= MOST_BATCHES:
            raise refused("is a receipt of something unknown")
        return {"of": kind, "part": part}, rest


@dataclass(frozen=True, eq=False)
class MessageReceipt(Message, code=7, body=(Received(),)):
    """Says that a message arrived and is kept, so that its sender need not send it again."""

    of: type[Message]
    part: int = 0

    @property
    def sender(self) -> str:
        """The party that received the message."""
        return self.of.recipient_of(self.sensor, self.sequence)

    @property
    def recipient(self) -> str:
        """The party that sent the message."""
        return self.of.sender_of(self.sensor, self.sequence)

    @classmethod
    def for_message(cls, message: Message) -> MessageReceipt:
        """Return the receipt of a message.

        Examples
        --------
        >>> MessageReceipt.for_message(Thresholds("room-1", 3, None, None)).recipient
        'corrector'
        """
        return cls(message.sensor, message.window, type(message), message.sequence)


def read_message(data: bytes) -> Message:
    """Read a message; one that is cut off, too long, of another version or not exactly in form is refused.

    Examples
    --------
    >>> read_message(Thresholds("room-1", 0, 5, 9).to_bytes()).far
    9
    >>> read_message(b"am" + bytes([9]) + bytes(20))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    anonymaly.errors.InputError: message: is of version 9, and this program speaks version 1. Install the ...
    """
    if len(data) > LARGEST_MESSAGE:
        raise refused(f"has {len(data)} bytes, more than {LARGEST_MESSAGE}")
    head, rest = take(data, _HEAD.size)
    magic, version, code, window, length = _HEAD.unpack(head)
    if magic != _MAGIC:
        raise refused("is not a message of a stream")
    if version != VERSION:
        raise InputError(
            f"is of version {version}, and this program speaks version {VERSION}",
            field="message",
            next_step="Install the same version for all parties.",
        )
    kind = KINDS.get(code)
    if kind is None:
        raise refused(f"is of the unknown kind {code}")
    if window >= 2**63:
        raise refused("has a window number that is too large")
    name, rest = take(rest, length)
    try:
        sensor = read_name(name.decode("ascii"))
    except (InputError, UnicodeDecodeError):
        raise refused("names no sensor") from None
    fields: Fields = {}
    for layout in kind.body:
        found, rest = layout.read(rest)
        fields |= found
    if rest:
        raise refused(f"has {len(rest)} bytes behind its end")
    return kind(sensor, window, **fields)


def _address(role: str, sensor: str) -> str:
    return f"sensor/{sensor}" if role == "sensor" else role
