# SPDX-License-Identifier: Apache-2.0
"""The messages of pooled windows of ``correction``: seven kinds, beside the thresholds of any window.

    sensor ── PooledReading ──► detector ── Gathered, PooledSuspects, PooledCandidates ──► corrector
    sensor ── PooledShift ────► corrector ── Agreed, Thresholds ──► detector
    corrector ── PooledVerdict ──► owner

Messages between servers and to the owner are about the pool; its name stands where a sensor's would. Sets
have a place for every sensor of the pool, in the order of joining it; their sizes say nothing else.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.stream.protocol.encoding import (
    LARGEST_NUMBER,
    MOST_COLUMNS,
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

NONCE_BYTES = 16
_ONE = struct.Struct(f"<q{NONCE_BYTES}sH")


class _OneReading(Layout):
    """``previous``, ``nonce`` and ``values``: eight bytes for each number."""

    def write(self, message: Any) -> bytes:
        head = _ONE.pack(message.previous, message.nonce, len(message.values))
        return head + np.asarray(message.values, "<i8").tobytes()

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        head, rest = take(data, _ONE.size)
        previous, nonce, columns = _ONE.unpack(head)
        if not 1 <= columns <= MOST_COLUMNS or previous < -1:
            raise refused("is no reading of a window")
        body, rest = take(rest, 8 * columns)
        values = np.frombuffer(body, dtype="<i8").astype(np.int64)
        if max(int(values.max()), -int(values.min())) > LARGEST_NUMBER:
            raise refused("has numbers beyond 62 bits")
        return {"previous": previous, "nonce": nonce, "values": values}, rest


@dataclass(frozen=True, eq=False)
class _Share:
    """What one server gets of a sensor's reading of a window.

    ``nonce`` is the same for both servers, and another for any other version; ``previous`` is the window of
    the sensor's contribution before, -1 for none.
    """

    sensor: str
    window: int
    values: Integers
    nonce: bytes
    previous: int = -1

    @property
    def digest(self) -> bytes:
        """What both servers hold in common of one version."""
        text = f"{self.sensor} {self.window} {self.previous} {self.nonce.hex()}"
        return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True, eq=False)
class PooledReading(_Share, Message, code=80, sender="sensor", to="detector", body=(_OneReading(),)):
    """A sensor's perturbed reading of a window, for the detector alone: a grid point for each column."""


@dataclass(frozen=True, eq=False)
class PooledShift(_Share, Message, code=81, sender="sensor", to="corrector", body=(_OneReading(),)):
    """How far the reading moved from the centre when perturbed, for the corrector alone: one number."""


@dataclass(frozen=True, eq=False)
class Gathered(
    Message,
    code=82,
    sender="detector",
    to="corrector",
    body=(Digest("declared"), Sets("members"), Digests()),
):
    """Whose readings of a window the detector holds, and the digest of each; its window is closed.

    ``declared`` is the digest of the declaration and the sensors' names.
    """

    declared: bytes
    members: Booleans
    digests: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class Agreed(Message, code=83, sender="corrector", to="detector", body=(Sets("members"),)):
    """Of whom both servers hold the same version: the window, from here on."""

    members: Booleans


@dataclass(frozen=True, eq=False)
class PooledSuspects(
    Message, code=84, sender="detector", to="corrector", body=(Sets("members", "suspects"),)
):
    """The list that was agreed on, and whose readings look like outliers after perturbation."""

    members: Booleans
    suspects: Booleans


@dataclass(frozen=True, eq=False)
class PooledCandidates(
    Message, code=85, sender="detector", to="corrector", body=(Sets("members", "near", "far"),)
):
    """The list that was agreed on, and whose readings are no suspects and lie beyond the two distances."""

    members: Booleans
    near: Booleans
    far: Booleans


_FOUND = Sets("members", "confirmed", "inward", "covered", "covered_far")


@dataclass(frozen=True, eq=False)
class PooledVerdict(Message, code=86, sender="corrector", to="owner", body=(Ending(), _FOUND)):
    """Who contributed to a window, and whose reading to look at, as in a verdict about one sensor."""

    state: WindowState
    members: Booleans
    confirmed: Booleans
    inward: Booleans
    covered: Booleans
    covered_far: Booleans

    @property
    def found(self) -> Booleans:
        """All sensors whose reading to look at."""
        return self.confirmed | self.inward | self.covered | self.covered_far
