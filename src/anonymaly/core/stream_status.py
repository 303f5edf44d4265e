# SPDX-License-Identifier: Apache-2.0
"""What the owner of a stream sees at a moment, as plain data: `stream watch` writes it, the console shows it.

It is apart from both: a web process that reads it loads nothing that opens journals, keys or noise.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, StrictBool, StrictInt, StrictStr

from anonymaly.core.files import appearing
from anonymaly.core.value import Number, Value
from anonymaly.errors import InputError

LARGEST = 2**20  # bytes of a file; a pool of any size needs less, because lists end somewhere
JUDGED = "judged"


def _moment(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("needs its offset from UTC")
    return text


Moment = Annotated[StrictStr, AfterValidator(_moment)]


class WindowStatus(Value):
    """A window that has ended."""

    takes_positions = False

    window: StrictInt
    """Which window."""
    sensor: StrictStr | None
    """Whose it is; None in a pool, whose windows are of all sensors."""
    begins: Moment | None
    """When it began, if windows go by time."""
    state: StrictStr
    """``judged``, or why there is no verdict."""
    readings: StrictInt | None
    """How many readings were judged; None where nobody knows."""
    missing: StrictInt | None
    """How many sensors of a pool had no reading in it; None where nobody knows."""
    to_look_at: StrictInt
    """How many readings are faults, or may be."""
    named: tuple[StrictStr, ...]
    """Sensors with a fault; a long list ends somewhere."""
    lies: tuple[StrictStr, ...]
    """Sensors about which a counter lies; a long list ends somewhere."""
    counted: StrictBool
    """Whether its readings cost ε."""


class SensorStatus(Value):
    """A sensor, as far as the owner knows."""

    takes_positions = False

    name: StrictStr
    """The sensor's name."""
    windows: StrictInt
    """How many windows with a verdict have readings of it."""
    newest: StrictInt | None
    """The newest of these."""
    readings: StrictInt
    """How many of its readings were judged."""
    to_look_at: StrictInt
    """How many of them are faults, or may be."""
    given_up: StrictInt
    """How many of its windows nobody judged."""
    lies: StrictInt
    """In how many windows a counter lied about it."""
    alarms: StrictInt
    """How many alarms are about it."""
    missed: StrictInt
    """In how many of the newest judged windows in a row a pool had no reading of it."""
    waits: Number | None
    """For how many seconds there was no verdict of it; None if there was none in this run, and in a pool."""
    late: StrictBool
    """Whether it takes much longer than it usually did."""
    epsilon_judged: StrictStr
    """The ε of its readings that were judged; its own ledger alone knows all that it spent."""

    @property
    def matters(self) -> bool:
        """Whether anything about it is unusual."""
        return bool(self.late or self.missed or self.lies or self.alarms or self.to_look_at)

    @property
    def urgency(self) -> tuple[float, ...]:
        """A key by which the sensors that need somebody most come first."""
        return (-self.alarms, -self.lies, -self.late, -self.missed, -self.to_look_at)


class StreamStatus(Value):
    """A stream at a moment, as its owner sees it."""

    takes_positions = False

    format: Literal[1] = 1
    protocol: Literal["counting", "correction"]
    """How readings are hidden."""
    name: StrictStr | None
    """A pool's name."""
    written: Moment
    """When this was so: a date and time with its offset from UTC."""
    runs: StrictBool
    """Whether the owner's program runs; False in the last thing that it writes."""
    connected: StrictBool
    """Whether it has a connection to the broker."""
    unacknowledged: StrictInt
    """How many of its messages have no receipt yet."""
    waits: Number | None
    """For how many seconds there was no verdict; None if there was none since the program started."""
    late: StrictBool
    """Whether the next verdict takes much longer than the last ones did."""
    states: dict[StrictStr, StrictInt]
    """How windows ended → how many."""
    recent: tuple[WindowStatus, ...]
    """The newest windows, oldest first."""
    sensors: StrictInt
    """How many sensors there are; retired ones do not count."""
    late_sensors: StrictInt
    """How many of them are late."""
    absent_sensors: StrictInt
    """How many had no reading in the newest judged window of a pool."""
    faulty_sensors: StrictInt
    """How many had a reading to look at in any window."""
    listed: tuple[SensorStatus, ...]
    """Sensors, the most urgent first; where there are many, only those with anything unusual."""
    to_look_at: StrictInt
    """How many readings of all windows are faults, or may be."""
    lies: StrictInt
    """How many times a counter lied about a sensor."""
    alarms: StrictInt
    """How many alarms there were."""
    new_alarms: StrictInt
    """How many of them are about the newest windows, those in ``recent``."""
    least_sensors: StrictInt | None
    """With fewer a window of a pool is neither counted nor judged."""
    counted: StrictInt | None
    """How many windows of a pool cost ε so far."""
    epsilon: StrictStr | None
    """What a reading costs in each of these."""
    epsilon_judged: StrictStr
    """The ε of judged readings of the sensor that has most."""
    cost: StrictStr
    """What readings cost, in a sentence; empty where every sensor has a declaration of its own."""

    @property
    def windows(self) -> int:
        """How many windows have ended."""
        return sum(self.states.values())

    def write(self, path: Path) -> None:
        """Write it to a file, for its owner alone, or for its group, too, in a setgid folder."""
        with appearing(path) as file:
            file.write(self.to_json().encode())
            # Whoever set that bit (chmod 2750) said that the folder's files are for its group, too.
            if path.parent.stat().st_mode & stat.S_ISGID:
                os.fchmod(file.fileno(), 0o640)

    @classmethod
    def load(cls, path: Path) -> StreamStatus:
        """Read it from a file; raise OSError if there is none, and InputError if it is something else."""
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        try:
            if len(content) > LARGEST:
                raise ValueError("is too large")
            return cls.read(json.loads(content))
        except (ValueError, RecursionError, InputError):
            raise InputError(
                f"{path} is no status of a stream that this version knows",
                field="streams",
                next_step="Name the file that `anonymaly stream watch --status` writes.",
            ) from None
