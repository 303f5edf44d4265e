# SPDX-License-Identifier: Apache-2.0
"""Which readings a sensor was given and has sent: so that none is lost, and none is sent twice.

The readings of a sensor have numbers, in the order in which they are sent; ``accepted`` of them are in its
journal. Each input is entered with the number of its first reading before that is sent, so that after a crash
the numbers say how far it was. A file is known again by its name and its beginning. What is read from a pipe
cannot be read again, so it is kept in the journal until it is sent.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from anonymaly.errors import InputError
from anonymaly.stream.programs.readings import Batch, Form, LineParser, SensorReading, parser_for, read_lines
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.sensor import Sensor

logger = logging.getLogger("anonymaly.stream")
HEAD = 2**16  # bytes of a file by which it is known again
SURE = 2**12  # equal bytes from which a file of another name may be the same
CHUNK = 2**16  # bytes read from a pipe at a time
REMEMBERED = 1024  # windows whose readings' lines and times are known
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class ReadingOrigin:
    """Where a reading came from."""

    input: str
    line: int
    time: str | None


class _Known(NamedTuple):
    """A file that was read before."""

    id: int
    name: str
    size: int  # of its beginning
    head: str
    sent: int

    def is_beginning_of(self, head: bytes) -> bool:
        return 0 < self.size <= len(head) and self.head == _digest(head[: self.size])

    def may_be_all_of(self, head: bytes) -> bool:
        """Say whether enough of both is equal to take them for one: a line of names is not."""
        return self.size >= SURE or self.size == len(head)


class Inputs:
    """What a sensor was given before, from its journal.

    Parameters
    ----------
    sensor : Sensor
        Whose.
    size : int, optional
        How many readings to send at a time; a window's if not given.
    """

    def __init__(self, sensor: Sensor, size: int | None = None) -> None:
        self._journal: Journal = sensor.journal
        self._columns = sensor.declaration.names
        self._size = size or sensor.declaration.window
        self._accepted: Callable[[], int] = lambda: sensor.accepted
        self._next = sensor.accepted  # the number of the next reading that is handed out
        self._packed = struct.Struct(f"<{len(self._columns)}d")

    def from_file(
        self, path: str | Path, *, resume: bool | None = None, form: Form | None = None
    ) -> Iterator[Batch]:
        """Return what a pipe left behind, then the readings of a file that were not sent before.

        Parameters
        ----------
        path : path
            The file.
        resume : bool, optional
            Whether this file goes on where the last input ended (True) or all of it is new (False). Needed
            only where that cannot be known.
        form : {"csv", "line"}, optional
            Found out by its first line if not given.
        """
        yield from self._left_behind()
        try:
            with Path(path).open("rb") as file:
                head = file.read(HEAD)
            skip = self._begin(Path(path).name, head, resume) if head else 0
            if skip:
                logger.info("%s: %d of its readings were sent before; going on behind them", path, skip)
            with Path(path).open(newline="", encoding="utf-8-sig") as lines:
                readings = itertools.islice(read_lines(lines, self._columns, form), skip, None)
                while batch := list(itertools.islice(readings, self._size)):
                    yield self._hand_out(batch)
        except (OSError, UnicodeDecodeError) as problem:
            raise InputError(
                f"cannot read {path} ({type(problem).__name__})",
                field="input",
                next_step="Give a file in UTF-8 that you may read.",
            ) from None

    def from_pipe(self, pipe: IO[str], *, form: Form | None = None) -> Iterator[Batch]:
        """Return what a pipe left behind and what comes from this one; it is kept until it is sent."""
        first = self._next + len(self._spooled())
        with self._journal.transaction():
            self._end_last(first)
            self._enter(STANDARD_INPUT, b"", first)
        parser: LineParser | None = None
        number = 0
        for lines in _as_they_come(pipe):
            readings = []
            for text in lines:
                number += 1
                if parser is None and text.strip():
                    parser = parser_for(text.removeprefix("\ufeff"), self._columns, form)
                reading = None if parser is None else parser.parse(text.removeprefix("\ufeff"), number)
                if reading is not None:
                    readings.append(reading)
            self._keep(readings)
            yield from self._full_batches()
        yield from self._left_behind()

    def note(self, batch: Batch, window: int, place: int) -> None:
        """Keep where the readings of a batch come from, before it is sent as the next of a window."""
        number = self._accepted()
        row = self._journal.execute(
            "SELECT name FROM inputs WHERE started <= ? ORDER BY started DESC, id DESC LIMIT 1", (number,)
        ).fetchone()
        name = STANDARD_INPUT if row is None else row[0]
        body = json.dumps([[reading.line, reading.time] for reading in batch])
        with self._journal.transaction():
            # A crash may have come before they were sent, and the batch may be another now.
            self._journal.execute("DELETE FROM origins WHERE number >= ?", (number,))
            self._journal.execute(
                "INSERT INTO origins VALUES (?, ?, ?, ?, ?)", (number, window, place, name, body)
            )
            self._journal.execute("DELETE FROM origins WHERE window < ?", (window - REMEMBERED,))

    def _hand_out(self, batch: Batch) -> Batch:
        self._next += len(batch)
        return batch

    def _begin(self, name: str, head: bytes, resume: bool | None) -> int:
        """Enter that a file is read from now on; return how many of its readings were sent before."""
        with self._journal.transaction():
            self._end_last(self._next)
            rows = self._journal.execute("SELECT id, name, size, head, sent FROM inputs ORDER BY id DESC")
            known = [_Known(*row) for row in rows.fetchall()]
            same = [item for item in known if item.is_beginning_of(head)]
            mine = next((item for item in same if item.name == name), None)
            # The same file under another name, perhaps.
            alike = next((item for item in same if item.sent and item.may_be_all_of(head)), None)
            if resume is None and mine is None and alike is not None:
                raise InputError(
                    f"{name} begins like {alike.name}, of which {alike.sent} readings were sent",
                    field="input",
                    next_step="Give --resume if it is the same file under another name, --new if all of its "
                    "readings are new.",
                )
            before = None if resume is False else mine or alike
            skip = 0 if before is None else before.sent
            if before is not None:
                self._journal.execute("DELETE FROM inputs WHERE id = ?", (before.id,))
            elif not known and self._next:
                skip = self._sent_by_an_earlier_version(name, resume)
            elif any(item.name == name for item in known):
                logger.info("%s has another beginning than before: all of its readings are new", name)
            self._enter(name, head, self._next - skip)
            return skip

    def _sent_by_an_earlier_version(self, name: str, resume: bool | None) -> int:
        if resume is None:
            raise InputError(
                f"{self._next} readings were sent before inputs were remembered, perhaps from {name}",
                field="input",
                next_step="Give --resume to go on behind as many readings of it, --new if all are new.",
            )
        return self._next if resume else 0

    def _enter(self, name: str, head: bytes, started: int) -> None:
        self._journal.execute(
            "INSERT INTO inputs (name, size, head, started, sent) VALUES (?, ?, ?, ?, NULL)",
            (name, len(head), _digest(head), started),
        )

    def _end_last(self, first: int) -> None:
        """Enter how far the input before was read; the next one begins with the reading ``first``."""
        self._journal.execute("UPDATE inputs SET sent = MAX(0, ? - started) WHERE sent IS NULL", (first,))

    def _keep(self, readings: Iterable[SensorReading]) -> None:
        with self._journal.transaction():
            self._journal.execute("DELETE FROM spool WHERE number < ?", (self._accepted(),))
            last = self._journal.execute("SELECT MAX(number) FROM spool").fetchone()[0]
            start = self._next if last is None else max(self._next, last + 1)
            for number, reading in enumerate(readings, start):
                self._journal.execute(
                    "INSERT INTO spool VALUES (?, ?, ?, ?)",
                    (number, reading.line, reading.time, self._packed.pack(*reading.values)),
                )

    def _spooled(self, most: int = -1) -> Batch:
        with self._journal.lock:
            rows = self._journal.execute(
                "SELECT body, line, time FROM spool WHERE number >= ? ORDER BY number LIMIT ?",
                (self._next, most),
            ).fetchall()
        return [SensorReading(self._packed.unpack(body), line, time) for body, line, time in rows]

    def _full_batches(self) -> Iterator[Batch]:
        while len(batch := self._spooled(self._size)) == self._size:
            yield self._hand_out(batch)

    def _left_behind(self) -> Iterator[Batch]:
        while batch := self._spooled(self._size):
            yield self._hand_out(batch)


def origins(sensor: Sensor, window: int, places: Iterable[int]) -> dict[int, ReadingOrigin | None]:
    """Return where the readings at some places of a window came from, as far as that is remembered."""
    size = sensor.declaration.window
    rows = sensor.journal.execute(
        "SELECT window, place, input, body FROM origins WHERE window <= ? ORDER BY number", (window,)
    ).fetchall()
    found: dict[int, ReadingOrigin] = {}
    for begun, first, name, body in rows:
        for place, (line, time) in enumerate(json.loads(body), (begun - window) * size + first):
            found[place] = ReadingOrigin(name, line, time)
    return {place: found.get(place) if 0 <= place < size else None for place in places}


def _digest(head: bytes) -> str:
    return hashlib.sha256(head).hexdigest()


def _as_they_come(pipe: IO[str]) -> Iterator[list[str]]:
    """Return whole lines as soon as they are there, as many as there are."""
    try:
        descriptor = pipe.fileno()
    except OSError:  # no file behind it
        yield pipe.read().splitlines()
        return
    rest = b""
    while chunk := os.read(descriptor, CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield [_text(line) for line in lines]
    if rest:
        yield [_text(rest)]


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", field="input", next_step="Give readings as text in UTF-8.") from None
