# SPDX-License-Identifier: Apache-2.0
"""The messages of ``counting``: their sizes depend on the number of cells and sensors only.

    sensor ── Contribution ──► counter-1, counter-2
    counter ── HeldList, FirstRound, SecondRound, Commitment, Opening ──► the other counter
    counter ── VerdictShares ──► owner

``part`` says which counter: the one that a contribution is for, the one that says all others. Messages
between counters and to the owner are about the pool; its name stands where a sensor's would.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.stream.counting.check import MASKS, NONCE_BYTES
from anonymaly.stream.counting.point_function import (
    ELEMENTS,
    GROUP_BITS,
    MOST_BITS,
    SEED_BYTES,
    SEED_WORDS,
    PointKey,
    levels_of,
)
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.encoding import (
    DIGEST_BYTES,
    Digest,
    Digests,
    Fields,
    Layout,
    Sets,
    refused,
    take,
)
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.pool import Ending, WindowState

COUNTERS = ("counter-1", "counter-2")
_PART = struct.Struct("<B")
_COUNT = struct.Struct("<I")
_KEY = struct.Struct(f"<BBq{NONCE_BYTES}s")
_LEVEL = SEED_BYTES + 1  # the correction of a child's bits, and one byte with those of both marks


class _Part(Layout):
    """``part``: 0 or 1."""

    def write(self, message: Any) -> bytes:
        return _PART.pack(message.part)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _PART.size)
        return {"part": _read_part(head[0])}, rest


class _Elements(Layout):
    """Elements of the field, eight bytes each."""

    def write(self, message: Any) -> bytes:
        return _COUNT.pack(len(message.values)) + np.asarray(message.values, "<i8").tobytes()

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _COUNT.size)
        (count,) = _COUNT.unpack(head)
        body, rest = take(rest, 8 * count)
        return {"values": _read_elements(body)}, rest


class _Keys(Layout):
    """One server's share of a contribution."""

    def write(self, message: Any) -> bytes:
        key: PointKey = message.key
        levels = len(key.corrections)
        head = _KEY.pack(message.part, levels + GROUP_BITS, message.previous, message.nonce)
        return head + b"".join(
            [
                message.declared,
                np.asarray(key.seed, "<u4").tobytes(),
                _write_corrections(key.corrections),
                np.asarray(key.last, "<i8").tobytes(),
                np.asarray(message.masks, "<i8").tobytes(),
            ]
        )

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _KEY.size)
        part, bits, previous, nonce = _KEY.unpack(head)
        if not GROUP_BITS <= bits <= MOST_BITS or previous < -1:
            raise refused("has a key of another size, or follows no window")
        declared, rest = take(rest, DIGEST_BYTES)
        seed, rest = take(rest, SEED_BYTES)
        levels = levels_of(bits)
        corrections, rest = take(rest, _LEVEL * levels)
        last, rest = take(rest, 8 * ELEMENTS)
        masks, rest = take(rest, 8 * MASKS)
        key = PointKey(
            _read_part(part),
            np.frombuffer(seed, "<u4").astype(np.uint32),
            _read_corrections(corrections, levels),
            _read_elements(last),
        )
        fields = {"part": part, "key": key, "masks": _read_elements(masks), "nonce": nonce}
        return {**fields, "previous": previous, "declared": declared}, rest


def _read_part(number: int) -> int:
    if number not in (0, 1):
        raise refused("is about a third counter")
    return number


def _read_elements(body: bytes) -> Integers:
    values = np.frombuffer(body, "<i8").astype(np.int64)
    if len(values) and (int(values.min()) < 0 or int(values.max()) >= PRIME):
        raise refused("has numbers that are not in the field")
    return values


def _write_corrections(corrections: Any) -> bytes:
    rows = np.zeros((len(corrections), _LEVEL), np.uint8)
    words = np.ascontiguousarray(corrections[:, :SEED_WORDS], "<u4")
    rows[:, :SEED_BYTES] = words.view(np.uint8).reshape(len(corrections), SEED_BYTES)
    rows[:, SEED_BYTES] = corrections[:, SEED_WORDS] | (corrections[:, SEED_WORDS + 1] << 1)
    return rows.tobytes()


def _read_corrections(body: bytes, levels: int) -> Any:
    rows = np.frombuffer(body, np.uint8).reshape(levels, _LEVEL)
    marks = rows[:, SEED_BYTES].astype(np.uint32)
    if (marks > 3).any():
        raise refused("has marks that are no bits")
    corrections = np.zeros((levels, SEED_WORDS + 2), np.uint32)
    corrections[:, :SEED_WORDS] = np.ascontiguousarray(rows[:, :SEED_BYTES]).view("<u4")
    corrections[:, SEED_WORDS] = marks & 1
    corrections[:, SEED_WORDS + 1] = marks >> 1
    return corrections


@dataclass(frozen=True, eq=False, repr=False)
class Contribution(Message, code=60, sender="sensor", body=(_Keys(),)):
    """One sensor's reading in a window, for one counter: its key, its masks and the sensor's nonce.

    ``previous`` is the window of the sensor's contribution before, -1 for none; ``declared`` the digest of
    the declaration under which it was made, and paid for.
    """

    part: int
    key: PointKey
    masks: Integers
    nonce: bytes
    previous: int = -1
    declared: bytes = bytes(DIGEST_BYTES)

    @property
    def bits(self) -> int:
        """The key is for 2^bits cells."""
        return len(self.key.corrections) + GROUP_BITS

    @property
    def digest(self) -> bytes:
        """What both counters hold in common; two versions of a contribution differ in the nonce at least."""
        words = (self.sensor, self.window, self.previous, self.nonce.hex(), self.declared.hex())
        text = " ".join(map(str, words)).encode()
        last = np.asarray(self.key.last, "<i8").tobytes()
        return hashlib.sha256(text + _write_corrections(self.key.corrections) + last).digest()

    @classmethod
    def recipient_of(cls, sensor: str, sequence: int) -> str:
        """Return the counter that it is for."""
        return COUNTERS[sequence & 1]


class _BetweenCounters:
    """What one counter says to the other."""

    @classmethod
    def sender_of(cls, sensor: str, sequence: int) -> str:
        """Return the counter that says it."""
        return COUNTERS[sequence & 1]

    @classmethod
    def recipient_of(cls, sensor: str, sequence: int) -> str:
        """Return the other counter."""
        return COUNTERS[1 - (sequence & 1)]


@dataclass(frozen=True, eq=False)
class HeldList(
    _BetweenCounters, Message, code=61, body=(_Part(), Digest("declared"), Sets("members"), Digests())
):
    """Whose contributions to a window a counter holds, and the digest of each; its window is closed.

    ``declared`` is the digest of what is declared of the window, and of the sensors' names.
    """

    part: int
    declared: bytes
    members: Booleans
    digests: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class FirstRound(_BetweenCounters, Message, code=62, body=(_Part(), Digest("agreed"), _Elements())):
    """Shares of z0, z1 and z2 for every contribution of the agreed list, in the order of the sensors."""

    part: int
    agreed: bytes
    values: Integers


@dataclass(frozen=True, eq=False)
class SecondRound(_BetweenCounters, Message, code=63, body=(_Part(), Digest("agreed"), _Elements())):
    """Shares of the number that must be 0, one for every contribution of the agreed list."""

    part: int
    agreed: bytes
    values: Integers


@dataclass(frozen=True, eq=False)
class Commitment(_BetweenCounters, Message, code=64, body=(_Part(), Digest("accepted"), Digest("digest"))):
    """The digest of the noisy sum that this counter will open, over the list of accepted contributions."""

    part: int
    accepted: bytes
    digest: bytes


@dataclass(frozen=True, eq=False)
class Opening(_BetweenCounters, Message, code=65, body=(_Part(), Digest("salt"), _Elements())):
    """A counter's share of the counts of all cells, with its noise."""

    part: int
    salt: bytes
    values: Integers

    def committed(self, accepted: bytes) -> bytes:
        """Return the digest that must have been committed to."""
        return hashlib.sha256(accepted + self.to_bytes()).digest()


_JUDGED = (_Part(), Ending(), Digest("agreed"), Digest("faults"), Sets("members"), _Elements())


@dataclass(frozen=True, eq=False)
class VerdictShares(Message, code=66, to="owner", body=_JUDGED):
    """A counter's share of each verdict: of the vector's sum over the fault cells.

    ``agreed`` is the digest of the list of accepted contributions, ``faults`` that of the fault cells.
    """

    part: int
    state: WindowState
    agreed: bytes
    faults: bytes
    members: Booleans
    values: Integers

    @classmethod
    def sender_of(cls, sensor: str, sequence: int) -> str:
        """Return the counter that says it."""
        return COUNTERS[sequence & 1]


@dataclass(frozen=True, eq=False)
class PoolVerdict(
    Message, code=67, sender="owner", to="owner", body=(Ending(), Sets("members", "faults", "lies"))
):
    """What the owner keeps of a window: who contributed, whose reading is a fault, whose shares are a lie."""

    state: WindowState
    members: Booleans
    faults: Booleans
    lies: Booleans
