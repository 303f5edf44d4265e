# SPDX-License-Identifier: Apache-2.0
"""What both protocols know of a pool: its sensors, how a window ended, what parties declare alike."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum
from typing import Any, Protocol

from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import Fields, Layout, read_name, refused, take
from anonymaly.stream.protocol.windows import PooledWindows

_STATE = struct.Struct("<B")


class WindowState(IntEnum):
    """How a window ended at a server."""

    JUDGED = 1
    TOO_FEW = 2
    NOTHING_USUAL = 3
    NOT_PLAUSIBLE = 4
    NOT_AGREED = 5
    NOT_COUNTED = 6
    GIVEN_UP = 7


WORDS = {
    WindowState.JUDGED: "judged",
    WindowState.TOO_FEW: "too few sensors",
    WindowState.NOTHING_USUAL: "nothing is usual",
    WindowState.NOT_PLAUSIBLE: "the counts are not plausible",
    WindowState.NOT_AGREED: "the counters do not agree",
    WindowState.NOT_COUNTED: "no window was counted yet",
    WindowState.GIVEN_UP: "given up by the owner",
}


class Ending(Layout):
    """``state``: how a window ended."""

    def write(self, message: Any) -> bytes:
        """Return one byte."""
        return _STATE.pack(message.state)

    def read(self, data: bytes) -> tuple[Fields, bytes]:
        """Refuse what is no state."""
        head, rest = take(data, _STATE.size)
        if head[0] not in set(WindowState):
            raise refused("has an unknown state")
        return {"state": WindowState(head[0])}, rest


class DeclaredPool(Protocol):
    """What every declaration of a pool says."""

    @property
    def pool(self) -> str:
        """What all sensors together are called."""

    @property
    def windows(self) -> PooledWindows:
        """Windows by time over all sensors."""

    @property
    def protocol(self) -> str:
        """By which its readings are judged."""

    def is_counted(self, window: int) -> bool:
        """Say whether a reading in a window costs ε."""

    def cost_of(self, readings: int) -> int:
        """Return what so many readings cost together, in billionths."""

    def fingerprint(self) -> bytes:
        """Return a digest of all of it, by which parties notice that they hold different ones."""


def read_sensors(sensors: Iterable[str], least: int, retired: Collection[str] = ()) -> list[str]:
    """Return the names of a pool's sensors in the order in which lists name them: as they joined it.

    Examples
    --------
    >>> read_sensors(["room-1", "room-2", "room-3"], least=2, retired=["room-1"])
    ['room-1', 'room-2', 'room-3']
    """
    if isinstance(sensors, str):
        raise InputError(
            "must be a list of names", field="sensors", next_step='Give, for instance, ["room-1"].'
        )
    names = [read_name(name) for name in sensors]
    if len(set(names)) < len(names):
        raise InputError("must name each sensor once", field="sensors", next_step="Leave out the second.")
    active = sum(name not in retired for name in names)
    if active < least:
        raise InputError(
            f"are {active}, and a window needs at least {least}",
            field="sensors",
            next_step="Declare more sensors, or lower windows.least_sensors.",
        )
    return names


def declared_digest(fingerprint: bytes, sensors: Sequence[str]) -> bytes:
    """Return the digest of what both servers must hold alike: a declaration, and the sensors."""
    return hashlib.sha256(fingerprint + "\n".join(sensors).encode()).digest()
