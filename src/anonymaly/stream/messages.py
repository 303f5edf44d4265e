# SPDX-License-Identifier: Apache-2.0
"""What the parties say to each other: seven kinds of messages, each with one form in bytes.

A message begins with its version and kind; everything in it has a fixed place and a largest size, sets of
readings are bitmaps as long as the window whatever they hold, and numbers are integers. So equal messages are
equal bytes, and the length of a message says nothing that is not public. Whatever does not parse to the last
bit is refused.

    sensor ── Readings ──► detector ── Suspects, Candidates ──► corrector ── Verdict ──► owner
    sensor ── Shifts ────► corrector ── Thresholds ───────────► detector

Each of these is answered by a ``Receipt``, so that its sender need not send it again.
"""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from anonymaly.errors import InputError

VERSION = 1
MAGIC = b"am"
LARGEST_MESSAGE = 4 * 2**20  # bytes
LARGEST_BATCH = 2**18  # values: readings times columns
LARGEST_WINDOW = 2**20  # readings
MOST_BATCHES = 2**16  # in one window
MOST_COLUMNS = 2**10
LARGEST_NUMBER = 2**62 - 1  # the sum or difference of two still fits 64 bits

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HEAD = struct.Struct("<2sBBQB")
_BATCH = struct.Struct("<IBHI")
_LIMITS = struct.Struct("<Bqq")
_RECEIPT = struct.Struct("<IB")
_SIZE = struct.Struct("<I")
_STATUS = struct.Struct("<B")


def read_name(name: str, field: str = "sensor") -> str:
    """Return a sensor's name, which is also part of topics and file names, if it may be one.

    Examples
    --------
    >>> read_name("room-413")
    'room-413'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            "must be 1 to 64 letters, digits, dots, dashes and underscores",
            field=field,
            next_step="Begin with a letter or digit, such as room-413.",
        )
    return name


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
        return _HEAD.pack(MAGIC, VERSION, self.code, self.window, len(name)) + name + self._body()

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
        return _BATCH.pack(self.part, self.last, columns, rows) + _numbers(self.values)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, last, columns, rows, rest = _read_batch(body)
        if not 1 <= columns <= MOST_COLUMNS:
            raise _broken(f"has {columns} columns")
        return cls(sensor, window, _read_numbers(rest, rows * columns).reshape(rows, columns), part, last)


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
        return _BATCH.pack(self.part, self.last, 1, len(self.values)) + _numbers(self.values)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, last, columns, rows, rest = _read_batch(body)
        if columns != 1:
            raise _broken(f"has {columns} columns, not 1")
        return cls(sensor, window, _read_numbers(rest, rows), part, last)


@dataclass(frozen=True, eq=False)
class Suspects(Message):
    """Which readings of a window look like outliers after perturbation (the paper's O')."""

    members: Mask

    code = 3
    sender_role = "detector"
    recipient_role = "corrector"

    def _body(self) -> bytes:
        return _SIZE.pack(len(self.members)) + _bits(self.members)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        size, rest = _read_size(body)
        return cls(sensor, window, *_read_bits(rest, size, 1))


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
        return _LIMITS.pack(self.near is not None, self.near or 0, self.far or 0)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        present, near, far = _unpack(_LIMITS, body)
        if present not in (0, 1) or (present == 0 and (near or far)):
            raise _broken("says neither that it has distances nor that it has none")
        if max(abs(near), abs(far)) > LARGEST_NUMBER or far < near:
            raise _broken("has distances out of order or too large")
        return cls(sensor, window, near, far) if present else cls(sensor, window, None, None)


@dataclass(frozen=True, eq=False)
class Candidates(Message):
    """Which readings that are no suspects lie beyond the two distances (the paper's I2 and I3)."""

    near: Mask
    far: Mask

    code = 5
    sender_role = "detector"
    recipient_role = "corrector"

    def _body(self) -> bytes:
        return _SIZE.pack(len(self.near)) + _bits(self.near) + _bits(self.far)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        size, rest = _read_size(body)
        return cls(sensor, window, *_read_bits(rest, size, 2))


@dataclass(frozen=True, eq=False)
class Verdict(Message):
    """Which readings to look at, for the owner: the paper's TP, FNL1, FNL2 and FNL3.

    ``complete`` is false if the parts of the window did not fit together, so that nothing could be said.
    """

    confirmed: Mask
    inward: Mask
    covered: Mask
    covered_far: Mask
    complete: bool = True

    code = 6
    sender_role = "corrector"
    recipient_role = "owner"

    @property
    def found(self) -> Mask:
        """All readings to look at."""
        return self.confirmed | self.inward | self.covered | self.covered_far

    def _body(self) -> bytes:
        sets = (self.confirmed, self.inward, self.covered, self.covered_far)
        size = len(self.confirmed)
        return _STATUS.pack(self.complete) + _SIZE.pack(size) + b"".join(map(_bits, sets))

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        complete = _truth(body[:1])
        size, rest = _read_size(body[1:])
        confirmed, inward, covered, covered_far = _read_bits(rest, size, 4)
        return cls(sensor, window, confirmed, inward, covered, covered_far, complete)


@dataclass(frozen=True, eq=False)
class Receipt(Message):
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
    def for_message(cls, message: Message) -> Receipt:
        """Return the receipt of a message.

        Examples
        --------
        >>> Receipt.for_message(Thresholds("room-1", 3, None, None)).recipient
        'corrector'
        """
        return cls(message.sensor, message.window, type(message), message.sequence)

    def _body(self) -> bytes:
        return _RECEIPT.pack(self.part, self.of.code)

    @classmethod
    def _read(cls, sensor: str, window: int, body: bytes) -> Self:
        part, code = _unpack(_RECEIPT, body)
        kind = KINDS.get(code)
        if kind is None or kind is Receipt or part >= MOST_BATCHES:
            raise _broken("is a receipt of something unknown")
        return cls(sensor, window, kind, part)


KINDS: dict[int, type[Message]] = {
    kind.code: kind for kind in (Readings, Shifts, Suspects, Thresholds, Candidates, Verdict, Receipt)
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
        raise _broken(f"has {len(data)} bytes, more than {LARGEST_MESSAGE}")
    if len(data) < _HEAD.size:
        raise _broken(f"is cut off after {len(data)} bytes")
    magic, version, code, window, length = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _broken("is none of ours")
    if version != VERSION:
        raise InputError(
            f"is of version {version}, and this program speaks version {VERSION}",
            field="message",
            next_step="Install the same version for all parties.",
        )
    kind = KINDS.get(code)
    if kind is None:
        raise _broken(f"is of the unknown kind {code}")
    if window >= 2**63:
        raise _broken("has a window number that is too large")
    name = data[_HEAD.size : _HEAD.size + length]
    try:
        sensor = read_name(name.decode("ascii")) if len(name) == length else ""
    except (InputError, UnicodeDecodeError):
        sensor = ""
    if not sensor:
        raise _broken("names no sensor")
    return kind._read(sensor, window, data[_HEAD.size + length :])


def _address(role: str, sensor: str) -> str:
    return f"sensor/{sensor}" if role == "sensor" else role


def _broken(reason: str) -> InputError:
    # Never with a value of it: what a message holds is for its recipient alone, and this goes to a log.
    return InputError(reason, field="message", next_step="It was ignored; nothing else is affected.")


def _numbers(values: Integers) -> bytes:
    return np.ascontiguousarray(values, dtype="<i8").tobytes()


def _read_numbers(data: bytes, count: int) -> Integers:
    if len(data) != 8 * count:
        raise _broken(f"has {len(data)} bytes of numbers where {8 * count} belong")
    values = np.frombuffer(data, dtype="<i8").astype(np.int64)
    if count and max(int(values.max()), -int(values.min())) > LARGEST_NUMBER:
        raise _broken("has numbers beyond 62 bits")
    return values


def _read_batch(body: bytes) -> tuple[int, bool, int, int, bytes]:
    part, last, columns, rows = _unpack(_BATCH, body[: _BATCH.size])
    if part >= MOST_BATCHES or rows * columns > LARGEST_BATCH:
        raise _broken("is a batch that is too large")
    return part, _truth(bytes([last])), columns, rows, body[_BATCH.size :]


def _truth(data: bytes) -> bool:
    if data not in (b"\0", b"\1"):
        raise _broken("has something else where yes or no belongs")
    return data == b"\1"


def _read_size(body: bytes) -> tuple[int, bytes]:
    (size,) = _unpack(_SIZE, body[: _SIZE.size])
    if size > LARGEST_WINDOW:
        raise _broken(f"is about {size} readings, more than {LARGEST_WINDOW}")
    return size, body[_SIZE.size :]


def _bits(mask: Mask) -> bytes:
    return np.packbits(mask).tobytes()


def _read_bits(data: bytes, size: int, sets: int) -> list[Mask]:
    length = (size + 7) // 8
    if len(data) != sets * length:
        raise _broken(f"has {len(data)} bytes of sets where {sets * length} belong")
    bits = np.unpackbits(np.frombuffer(data, np.uint8).reshape(sets, length), axis=1).astype(np.bool_)
    if bits[:, size:].any():
        raise _broken("has members beyond its size")
    return [row[:size].copy() for row in bits]


def _unpack(form: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) != form.size:
        raise _broken(f"has {len(data)} bytes where {form.size} belong")
    return form.unpack(data)
