# SPDX-License-Identifier: Apache-2.0
"""Which line of which file, and of what time, a sensor's reading in a pool's window was.

Of a window's readings the first is sent. Where it came from is in the sensor's own journal, and never leaves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from anonymaly.stream.programs.inputs import REMEMBERED, ReadingOrigin
from anonymaly.stream.programs.readings import Batch
from anonymaly.stream.protocol.timed_sensor import TimedSensor
from anonymaly.stream.protocol.windows import Moment


def note_origins(sensor: TimedSensor[Any], name: str, batch: Batch, moments: Sequence[Moment]) -> None:
    """Keep where the readings come from that a batch contributes, before it is sent.

    Parameters
    ----------
    sensor : TimedSensor
        Whose they are.
    name : str
        What their input is called.
    batch, moments
        The readings, and the time that each is sent under.
    """
    newest = sensor.newest
    windows = sensor.declaration.windows.numbers_of(moments).tolist()
    with sensor.journal.transaction():
        # Noted, and not sent after all: the budget was spent, or a crash came.
        sensor.journal.execute("DELETE FROM origins WHERE number > ?", (newest,))
        for reading, moment, window in zip(batch, moments, windows, strict=True):
            if window <= newest:
                continue  # repeated, or late: not sent
            newest = window
            when = reading.time or datetime.fromtimestamp(float(str(moment)), UTC).isoformat()
            sensor.journal.execute(
                "INSERT INTO origins VALUES (?, ?, 0, ?, ?)",
                (window, window, name, json.dumps([[reading.line, when]])),
            )
        sensor.journal.execute("DELETE FROM origins WHERE window <= ?", (newest - REMEMBERED,))


def origin_of(sensor: TimedSensor[Any], window: int) -> ReadingOrigin | None:
    """Return where a sensor's reading in a window came from, as far as that is remembered."""
    if window > sensor.newest:
        return None  # noted, and never sent
    row = sensor.journal.execute("SELECT input, body FROM origins WHERE window = ?", (window,)).fetchone()
    if row is None:
        return None
    ((line, time),) = json.loads(row[1])
    return ReadingOrigin(row[0], line, time)
