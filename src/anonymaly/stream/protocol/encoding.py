# SPDX-License-Identifier: Apache-2.0
"""Numbers, sets and names in bytes: everything has a fixed place and a largest size."""

from __future__ import annotations

import re
import struct

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError

VERSION = 1
MAGIC = b"am"
LARGEST_MESSAGE = 4 * 2**20  # bytes
LARGEST_BATCH = 2**18  # values: readings times columns
LARGEST_WINDOW = 2**20  # readings
MOST_BATCHES = 2**16  # in one window
MOST_COLUMNS = 2**10
LARGEST_NUMBER = 2**62 - 1  # the sum or difference of two still fits 64 bits


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
HEAD = struct.Struct("<2sBBQB")
BATCH = struct.Struct("<IBHI")
LIMITS = struct.Struct("<Bqq")
RECEIPT = struct.Struct("<IB")
SIZE = struct.Struct("<I")
STATUS = struct.Struct("<B")


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


def broken(reason: str) -> InputError:
    """Say what is wrong with a message, without a value of it."""
    # Never with a value of it: what a message holds is for its recipient alone, and this goes to a log.
    return InputError(reason, field="message", next_step="It was ignored; nothing else is affected.")


def numbers_to_bytes(values: Integers) -> bytes:
    """Return numbers, eight bytes each."""
    return np.ascontiguousarray(values, dtype="<i8").tobytes()


def read_numbers(data: bytes, count: int) -> Integers:
    """Read exactly so many numbers."""
    if len(data) != 8 * count:
        raise broken(f"has {len(data)} bytes of numbers where {8 * count} belong")
    values = np.frombuffer(data, dtype="<i8").astype(np.int64)
    if count and max(int(values.max()), -int(values.min())) > LARGEST_NUMBER:
        raise broken("has numbers beyond 62 bits")
    return values


def read_batch(body: bytes) -> tuple[int, bool, int, int, bytes]:
    """Read a batch's number, whether it is the last, its columns and rows, and the rest."""
    part, last, columns, rows = unpack(BATCH, body[: BATCH.size])
    if part >= MOST_BATCHES or rows * columns > LARGEST_BATCH:
        raise broken("is a batch that is too large")
    return part, read_truth(bytes([last])), columns, rows, body[BATCH.size :]


def read_truth(data: bytes) -> bool:
    """Read a yes or no."""
    if data not in (b"\0", b"\1"):
        raise broken("has something else where yes or no belongs")
    return data == b"\1"


def read_size(body: bytes) -> tuple[int, bytes]:
    """Read the number of readings of a window, and the rest."""
    (size,) = unpack(SIZE, body[: SIZE.size])
    if size > LARGEST_WINDOW:
        raise broken(f"is about {size} readings, more than {LARGEST_WINDOW}")
    return size, body[SIZE.size :]


def bits_to_bytes(mask: Booleans) -> bytes:
    """Return a set as a bitmap, as long whatever it holds."""
    return np.packbits(mask).tobytes()


def read_bits(data: bytes, size: int, sets: int) -> list[Booleans]:
    """Read exactly so many sets."""
    length = (size + 7) // 8
    if len(data) != sets * length:
        raise broken(f"has {len(data)} bytes of sets where {sets * length} belong")
    bits = np.unpackbits(np.frombuffer(data, np.uint8).reshape(sets, length), axis=1).astype(np.bool_)
    if bits[:, size:].any():
        raise broken("has members beyond its size")
    return [row[:size].copy() for row in bits]


def unpack(form: struct.Struct, data: bytes) -> tuple[int, ...]:
    """Read exactly one struct."""
    if len(data) != form.size:
        raise broken(f"has {len(data)} bytes where {form.size} belong")
    return form.unpack(data)
