# SPDX-License-Identifier: Apache-2.0
"""How the fields of messages become bytes, and back: everything has a fixed place and a largest size."""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.errors import InputError

LARGEST_MESSAGE = 4 * 2**20  # bytes
LARGEST_BATCH = 2**18  # values: readings times columns
LARGEST_WINDOW = 2**20  # readings
MOST_BATCHES = 2**16  # in one window
MOST_COLUMNS = 2**10
DIGEST_BYTES = 32
LARGEST_NUMBER = 2**62 - 1  # the sum or difference of two still fits 64 bits

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_BATCH = struct.Struct("<IBHI")
_DISTANCES = struct.Struct("<Bqq")
_SIZE = struct.Struct("<I")

Fields = dict[str, Any]


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


class NotYet(InputError):
    """A message that its recipient takes later: its sender keeps it and sends it again."""


def refused(reason: str) -> InputError:
    """Say why a message has no effect."""
    # Never with a value of it: what a message holds is for its recipient alone, and this goes to a log.
    return InputError(reason, field="message", next_step="It was ignored; nothing else is affected.")


def take(data: bytes, length: int) -> tuple[bytes, bytes]:
    """Return the first bytes, and the rest."""
    if len(data) < length:
        raise refused(f"is cut off: it has {len(data)} bytes where {length} belong")
    return data[:length], data[length:]


class Layout(ABC):
    """The place of some fields in a message."""

    @abstractmethod
    def write(self, message: Any) -> bytes:
        """Return the fields of a message as bytes."""

    @abstractmethod
    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Return the fields that the data begin with, and the rest of the data."""


@dataclass(frozen=True)
class Batch(Layout):
    """``part``, ``last`` and ``values``: eight bytes for each number."""

    columns: int | None = None  # values are rows of any number of columns, or plain numbers if this is 1

    def write(self, message: Any) -> bytes:
        """Return number, last, columns, rows and the values."""
        values = message.values
        columns = values.shape[1] if self.columns is None else self.columns
        head = _BATCH.pack(message.part, message.last, columns, len(values))
        return head + np.ascontiguousarray(values, dtype="<i8").tobytes()

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse a batch that is too large, before anything is made of it."""
        head, rest = take(data, _BATCH.size)
        part, last, columns, rows = _BATCH.unpack(head)
        if part >= MOST_BATCHES or rows * columns > LARGEST_BATCH:
            raise refused("is a batch that is too large")
        if not 1 <= columns <= (self.columns or MOST_COLUMNS):
            raise refused(f"has {columns} columns")
        body, rest = take(rest, 8 * rows * columns)
        values = np.frombuffer(body, dtype="<i8").astype(np.int64)
        if len(values) and max(int(values.max()), -int(values.min())) > LARGEST_NUMBER:
            raise refused("has numbers beyond 62 bits")
        shaped = values if self.columns == 1 else values.reshape(rows, columns)
        return {"values": shaped, "part": part, "last": _truth(last)}, rest


class Sets(Layout):
    """Sets of a window's readings: bitmaps, whose length does not depend on their members."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def write(self, message: Any) -> bytes:
        """Return the number of readings and the bitmaps."""
        sets = [getattr(message, name) for name in self.names]
        return _SIZE.pack(len(sets[0])) + b"".join(np.packbits(members).tobytes() for members in sets)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse members beyond the window's end: a set has one form."""
        head, rest = take(data, _SIZE.size)
        (size,) = _SIZE.unpack(head)
        if size > LARGEST_WINDOW:
            raise refused(f"is about {size} readings, more than {LARGEST_WINDOW}")
        length = (size + 7) // 8
        body, rest = take(rest, len(self.names) * length)
        bytes_of_sets = np.frombuffer(body, np.uint8).reshape(len(self.names), length)
        bits = np.unpackbits(bytes_of_sets, axis=1).astype(np.bool_)
        if bits[:, size:].any():
            raise refused("has members beyond its size")
        return {name: row[:size].copy() for name, row in zip(self.names, bits, strict=True)}, rest


@dataclass(frozen=True)
class YesNo(Layout):
    """One yes or no."""

    name: str

    def write(self, message: Any) -> bytes:
        """Return one byte."""
        return bytes([getattr(message, self.name)])

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse everything but 0 and 1."""
        head, rest = take(data, 1)
        return {self.name: _truth(head[0])}, rest


class Digest(Layout):
    """A digest of 32 bytes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, message: Any) -> bytes:
        """Return the digest."""
        return bytes(getattr(message, self.name))

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Take what has a digest's length."""
        head, rest = take(data, DIGEST_BYTES)
        return {self.name: head}, rest


class Digests(Layout):
    """``digests``: a row of them."""

    def write(self, message: Any) -> bytes:
        """Return their number, and all of them."""
        return _SIZE.pack(len(message.digests)) + b"".join(message.digests)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Take as many as there are."""
        head, rest = take(data, _SIZE.size)
        (count,) = _SIZE.unpack(head)
        body, rest = take(rest, DIGEST_BYTES * count)
        starts = range(0, len(body), DIGEST_BYTES)
        return {"digests": tuple(body[start : start + DIGEST_BYTES] for start in starts)}, rest


class Distances(Layout):
    """``near`` and ``far``, or neither."""

    def write(self, message: Any) -> bytes:
        """Return whether there are distances, and both; 0 in place of None."""
        return _DISTANCES.pack(message.near is not None, message.near or 0, message.far or 0)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse distances out of order, and others than 0 where there are none."""
        head, rest = take(data, _DISTANCES.size)
        present, near, far = _DISTANCES.unpack(head)
        if not _truth(present):
            if near or far:
                raise refused("says that it has no distances, and has some")
            return {"near": None, "far": None}, rest
        if max(abs(near), abs(far)) > LARGEST_NUMBER or far < near:
            raise refused("has distances out of order or too large")
        return {"near": near, "far": far}, rest


def _truth(number: int) -> bool:
    if number not in (0, 1):
        raise refused("has something else where yes or no belongs")
    return number == 1
