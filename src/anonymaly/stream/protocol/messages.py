# SPDX-License-Identifier: Apache-2.0
"""What the parties say to each other: seven kinds of messages, each with one form in bytes.

A message begins with its version and kind; everything in it has a fixed place and a largest size, sets of
readings are bitmaps as long as the window whatever they hold, and numbers are integers. So equal messages are
equal bytes, and the length of a message says nothing that is not public. Whatever does not parse to the last
bit is refused.

    sensor ── Readings ──► detector ── Suspects, Candidates ──► corrector ── Verdict ──► owner
    sensor ── Shifts ────► corrector ── Thresholds ───────────► detector

Each of these is answered by a ``MessageReceipt``, so that its sender need not send it again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import (
    BATCH,
    HEAD,
    LARGEST_MESSAGE,
    LARGEST_NUMBER,
    LIMITS,
    MAGIC,
    MOST_BATCHES,
    MOST_COLUMNS,
    RECEIPT,
    SIZE,
    STATUS,
    VERSION,
    bits_to_bytes,
    broken,
    numbers_to_bytes,
    read_batch,
    read_bits,
    read_name,
    read_numbers,
    read_size,
    read_truth,
    unpack,
)


@dataclass(frozen=True, eq=False)
class Message(ABC):
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

    @property
    def sequence(self) -> int:
        """Which part of the window, for messages of which a window has several."""
        return 0

    @property
    def sender(self) -> str:
        """The address of the only party that may say this; a transport refuses it from any other."""
        return _address(self.sender_role, self.sensor)

    @property
    def recipient(self) -> str:
        """The address of the only party that may hear it."""
        return _address(self.recipient_role, self.sensor)

    def to_bytes(self) -> bytes:
        """Return the message's one form in bytes."""
        name = read_name(self.sensor).encode()
        return HEAD.pack(MAGIC, VERSION, self.code, self.window, len(name)) + name + self._body()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @abstractmethod
    def _body(self) -> bytes: ...

    @classmethod
    @abstractmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self: ...


@dataclass(frozen=True, eq=False)
class Readings(Message):
    """A batch of perturbed readings, for the detector alone: one row of grid points for each reading."""

    values: Integers
    part: int = 0
    last: bool = False

    code = 1
    sender_role = "sensor"
    recipient_role = "detector"

    @property
    def sequence(self) -> int:
        """Which batch of the window."""
        return self.part

    def _body(self) -> bytes:
        rows, columns = self.values.shape
        return BATCH.pack(self.part, self.last, columns, rows) + numbers_to_bytes(self.values)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, last, columns, rows, rest = read_batch(body)
        if not 1 <= columns <= MOST_COLUMNS:
            raise broken(f"has {columns} columns")
        return cls(sensor, window, read_numbers(rest, rows * columns).reshape(rows, columns), part, last)


@dataclass(frozen=True, eq=False)
class Shifts(Message):
    """How far each reading of a batch moved from the centre when perturbed, for the corrector alone."""

    values: Integers
    part: int = 0
    last: bool = False

    code = 2
    sender_role = "sensor"
    recipient_role = "corrector"

    @property
    def sequence(self) -> int:
        """Which batch of the window."""
        return self.part

    def _body(self) -> bytes:
        return BATCH.pack(self.part, self.last, 1, len(self.values)) + numbers_to_bytes(self.values)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, last, columns, rows, rest = read_batch(body)
        if columns != 1:
            raise broken(f"has {columns} columns, not 1")
        return cls(sensor, window, read_numbers(rest, rows), part, last)


@dataclass(frozen=True, eq=False)
class Suspects(Message):
    """Which readings of a window look like outliers after perturbation (the paper's O')."""

    members: Booleans

    code = 3
    sender_role = "detector"
    recipient_role = "corrector"

    def _body(self) -> bytes:
        return SIZE.pack(len(self.members)) + bits_to_bytes(self.members)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        size, rest = read_size(body)
        return cls(sensor, window, *read_bits(rest, size, 1))


@dataclass(frozen=True, eq=False)
class Thresholds(Message):
    """The two distances beyond which the detector looks for missed outliers (d_TP and d_TP + w).

    Both are None where no suspect is left to take them from; no reading is then beyond either.
    """

    near: int | None
    far: int | None

    code = 4
    sender_role = "corrector"
    recipient_role = "detector"

    def _body(self) -> bytes:
        return LIMITS.pack(self.near is not None, self.near or 0, self.far or 0)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        present, near, far = unpack(LIMITS, body)
        if present not in (0, 1) or (present == 0 and (near or far)):
            raise broken("says neither that it has distances nor that it has none")
        if max(abs(near), abs(far)) > LARGEST_NUMBER or far < near:
            raise broken("has distances out of order or too large")
        return cls(sensor, window, near, far) if present else cls(sensor, window, None, None)


@dataclass(frozen=True, eq=False)
class Candidates(Message):
    """Which readings that are no suspects lie beyond the two distances (the paper's I2 and I3)."""

    near: Booleans
    far: Booleans

    code = 5
    sender_role = "detector"
    recipient_role = "corrector"

    def _body(self) -> bytes:
        return SIZE.pack(len(self.near)) + bits_to_bytes(self.near) + bits_to_bytes(self.far)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        size, rest = read_size(body)
        return cls(sensor, window, *read_bits(rest, size, 2))


@dataclass(frozen=True, eq=False)
class Verdict(Message):
    """Which readings to look at, for the owner: the paper's TP, FNL1, FNL2 and FNL3.

    ``complete`` is false if the parts of the window did not fit together, so that nothing could be said.
    """

    confirmed: Booleans
    inward: Booleans
    covered: Booleans
    covered_far: Booleans
    complete: bool = True

    code = 6
    sender_role = "corrector"
    recipient_role = "owner"

    @property
    def found(self) -> Booleans:
        """All readings to look at."""
        return self.confirmed | self.inward | self.covered | self.covered_far

    def _body(self) -> bytes:
        sets = (self.confirmed, self.inward, self.covered, self.covered_far)
        size = len(self.confirmed)
        return STATUS.pack(self.complete) + SIZE.pack(size) + b"".join(map(bits_to_bytes, sets))

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        complete = read_truth(body[:1])
        size, rest = read_size(body[1:])
        confirmed, inward, covered, covered_far = read_bits(rest, size, 4)
        return cls(sensor, window, confirmed, inward, covered, covered_far, complete)


@dataclass(frozen=True, eq=False)
class MessageReceipt(Message):
    """That a message arrived and is kept: its sender need not send it again."""

    of: type[Message]
    part: int = 0

    code = 7

    @property
    def sequence(self) -> int:
        """Which part of the window arrived."""
        return self.part

    @property
    def sender(self) -> str:
        """The one who received."""
        return _address(self.of.recipient_role, self.sensor)

    @property
    def recipient(self) -> str:
        """The one who sent."""
        return _address(self.of.sender_role, self.sensor)

    @classmethod
    def for_message(cls, message: Message) -> MessageReceipt:
        """Return the receipt of a message.

        Examples
        --------
        >>> MessageReceipt.for_message(Thresholds("room-1", 3, None, None)).recipient
        'corrector'
        """
        return cls(message.sensor, message.window, type(message), message.sequence)

    def _body(self) -> bytes:
        return RECEIPT.pack(self.part, self.of.code)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, code = unpack(RECEIPT, body)
        kind = KINDS.get(code)
        if kind is None or kind is MessageReceipt or part >= MOST_BATCHES:
            raise broken("is a receipt of something unknown")
        return cls(sensor, window, kind, part)


KINDS: dict[int, type[Message]] = {
    kind.code: kind for kind in (Readings, Shifts, Suspects, Thresholds, Candidates, Verdict, MessageReceipt)
}


def read_message(data: bytes) -> Message:
    """Read a message; whatever is cut off, too long, of another version or not to the letter is refused.

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
        raise broken(f"has {len(data)} bytes, more than {LARGEST_MESSAGE}")
    if len(data) < HEAD.size:
        raise broken(f"is cut off after {len(data)} bytes")
    magic, version, code, window, length = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise broken("is none of ours")
    if version != VERSION:
        raise InputError(
            f"is of version {version}, and this program speaks version {VERSION}",
            field="message",
            next_step="Install the same version for all parties.",
        )
    kind = KINDS.get(code)
    if kind is None:
        raise broken(f"is of the unknown kind {code}")
    if window >= 2**63:
        raise broken("has a window number that is too large")
    name = data[HEAD.size : HEAD.size + length]
    try:
        sensor = read_name(name.decode("ascii")) if len(name) == length else ""
    except (InputError, UnicodeDecodeError):
        sensor = ""
    if not sensor:
        raise broken("names no sensor")
    return kind._read(sensor, window, data[HEAD.size + length :])


def _address(role: str, sensor: str) -> str:
    return f"sensor/{sensor}" if role == "sensor" else role
