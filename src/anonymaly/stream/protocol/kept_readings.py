# SPDX-License-Identifier: Apache-2.0
"""The readings of a sensor's newest windows, in clear, in its own journal and nowhere else.

A sensor keeps none unless its holder declares how many windows: what is not kept cannot be asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from anonymaly.errors import InputError
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.requests import LONGEST_TIME

MOST_KEPT_WINDOWS = 2**20
LAST_SECOND = 253_402_300_800  # of the year 9999


class KeptReading(NamedTuple):
    """A reading in clear, and the time that its source gave it."""

    window: int
    place: int
    time: str
    values: tuple[float, ...]


class KeptReadings:
    """The readings of the newest windows of one sensor.

    Parameters
    ----------
    journal : Journal
        The sensor's own.
    windows : int
        Of how many of its newest windows; 0 keeps nothing, and erases what there was.

    Examples
    --------
    >>> with Journal(folder / "kept.journal", "sensor/room-1") as journal:
    ...     kept = KeptReadings(journal, 1)
    ...     with journal.transaction():
    ...         kept.add([KeptReading(0, 0, "09:00", (20.5,)), KeptReading(1, 0, "09:15", (74.0,))], newest=1)
    ...     kept.find(0, 0), kept.find(1, 0).values
    (None, (74.0,))
    """

    def __init__(self, journal: Journal, windows: int) -> None:
        if not isinstance(windows, int) or not 0 <= windows <= MOST_KEPT_WINDOWS:
            raise InputError(
                f"must be a number of windows from 0 to {MOST_KEPT_WINDOWS:,}",
                field="keep",
                next_step="Give 0 to keep nothing.",
            )
        self._journal = journal
        self.windows = windows
        newest = journal.execute("SELECT MAX(window) FROM kept").fetchone()[0]
        if newest is not None:
            with journal.transaction():
                self._erase(newest)

    def add(self, readings: Iterable[KeptReading], newest: int) -> None:
        """Keep those of the newest windows, inside of a transaction, and erase what is older."""
        for reading in readings:
            if reading.window > newest - self.windows:
                self._journal.execute(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)",
                    (reading.window, reading.place, _short(reading.time), _pack(reading.values)),
                )
        self._erase(newest)

    def find(self, window: int, place: int) -> KeptReading | None:
        """Return a reading, if it is still kept."""
        with self._journal.lock:
            row = self._journal.execute(
                "SELECT time, body FROM kept WHERE window = ? AND place = ?", (window, place)
            ).fetchone()
        return None if row is None else KeptReading(window, place, row[0], _unpack(row[1]))

    def _erase(self, newest: int) -> None:
        last = newest - self.windows
        windows = self._journal.execute(
            "SELECT COUNT(DISTINCT window) FROM kept WHERE window <= ?", (last,)
        ).fetchone()[0]
        if windows:
            self._journal.execute("DELETE FROM kept WHERE window <= ?", (last,))
            self._journal.count_erased(windows, at_once=not self.windows)


def times_of(times: Iterable[object] | None, readings: int) -> list[str]:
    """Return the time of each reading as a text: a date, seconds since 1970, any other text, or now.

    Examples
    --------
    >>> times_of(["09:00", 1767225600], 2)
    ['09:00', '2026-01-01T00:00:00+00:00']
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    given = [None] * readings if times is None else list(times)
    if len(given) != readings:
        raise InputError(
            f"are {len(given)}, and there are {readings} readings",
            field="times",
            next_step="Give one for each reading.",
        )
    return [now if time is None else _text(time) for time in given]


def _text(time: object) -> str:
    if isinstance(time, int | float) and 0 <= time < LAST_SECOND:
        time = datetime.fromtimestamp(time, UTC)
    return time.isoformat() if isinstance(time, datetime) else str(time)


def _pack(values: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def _unpack(body: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(body) // 8}d", body)


def _short(time: str) -> str:
    """Return a time as an answer may carry it."""
    printable = "".join(letter for letter in time if letter.isprintable())
    return printable.encode()[:LONGEST_TIME].decode(errors="ignore")
