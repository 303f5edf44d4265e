# SPDX-License-Identifier: Apache-2.0
"""The status of a stream as it is found: how old it is, what is not well, and what to do about that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from anonymaly.core.stream_status import StreamStatus
from anonymaly.errors import InputError

STALE = 60  # seconds; the owner's program writes at least every ten
AHEAD = 60  # seconds by which clocks may differ


@dataclass(frozen=True, slots=True)
class StreamLook:
    """What was found where a stream's status should be."""

    name: str
    found: Literal["here", "missing", "unreadable"]
    status: StreamStatus | None = None
    age: int | None = None  # seconds since it was written

    @property
    def stale(self) -> bool:
        """Whether it says how the stream was, and perhaps no longer is."""
        return self.age is None or not -AHEAD <= self.age <= STALE


def look_at(name: str, place: str) -> StreamLook:
    """Read a stream's status."""
    try:
        status = StreamStatus.load(Path(place))
    except FileNotFoundError:
        return StreamLook(name, "missing")
    except (OSError, InputError):
        return StreamLook(name, "unreadable")
    age = (datetime.now(UTC) - datetime.fromisoformat(status.written)).total_seconds()
    return StreamLook(name, "here", status, round(age))


def health_of(look: StreamLook) -> list[dict[str, Any]]:
    """Return line by line what is well and what is not, and then what to do."""
    if look.status is None:
        return [_unread(look)]
    status = look.status
    lines = [_of_broker(status), _of_verdicts(status), *_of_sensors(status), *_of_servers(status)]
    if look.stale or not status.runs:  # what was well then may not be now
        lines = [line for line in lines[1:] if not line["good"]]
    return [_of_status(look, status), *lines]


def _unread(look: StreamLook) -> dict[str, Any]:
    if look.found == "missing":
        return _bad(
            "There is no status of this stream yet.",
            "Start the owner's program with --status and the file that server.yaml names under streams.",
        )
    return _bad(
        "The status of this stream cannot be read.",
        "See that web processes may read the file (chmod 2750 for its folder, in their group), and that the "
        "owner's program has the same version as this server.",
    )


def _of_status(look: StreamLook, status: StreamStatus) -> dict[str, Any]:
    if not status.runs:
        return _bad(
            "The owner's program has ended.", "Start it again: sensors and servers keep what they send."
        )
    if look.age is not None and look.age < -AHEAD:
        return _bad("The status is from the future: clocks differ.", "Set the clocks of both machines.")
    if look.stale:
        return _bad(
            "The owner's program has written nothing for a while: what is below may be over.",
            "See whether it runs, and whether its disk is full.",
        )
    return _good("The owner's program runs.")


def _of_broker(status: StreamStatus) -> dict[str, Any]:
    waiting = _counted(status.unacknowledged, "message")
    waits = f"; {waiting} of it without a receipt" if status.unacknowledged else ""
    if not status.connected:
        return _bad(
            f"It is not connected to the broker{waits}.", "Its log says why. Nothing is lost meanwhile."
        )
    return _good(f"It is connected to the broker{waits}.")


def _of_verdicts(status: StreamStatus) -> dict[str, Any]:
    if status.late:
        return _bad(
            f"The next verdict is late: the last one came {status.waits or 0:,.0f} seconds before.",
            "See whether both servers run and are connected.",
        )
    if status.waits is None:
        return _good("No verdict has come since the owner's program started.")
    return _good(f"Verdicts come as usual, the last one {status.waits:,.0f} seconds before.")


def _of_sensors(status: StreamStatus) -> list[dict[str, Any]]:
    late = f"{_counted(status.late_sensors, 'sensor')} of {status.sensors:,}"
    is_late = "is late" if status.late_sensors == 1 else "are late"
    lines = [
        _bad(f"{late} {is_late}: much longer than usual without a reading.", "See below, under sensors.")
        if status.late_sensors
        else _good(f"None of {status.sensors:,} sensors is late.")
    ]
    if status.new_alarms:
        lines.append(
            _bad(
                f"{_counted(status.new_alarms, 'alarm')} about the newest windows: a sensor sent a second "
                "version of what is known.",
                "A copy of it runs, or it was set back. Stop both, and keep one.",
            )
        )
    return lines


def _of_servers(status: StreamStatus) -> list[dict[str, Any]]:
    lies = sum(len(window.lies) for window in status.recent)
    if not lies:
        return []
    return [
        _bad(
            f"Of {_counted(lies, 'reading')} in the newest windows the counters' shares are no verdict: one "
            "of the two lies, or is broken.",
            "Which one, the shares do not say. Compare both counters' versions and logs.",
        )
    ]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _good(says: str) -> dict[str, Any]:
    return {"good": True, "says": says, "next_step": None}


def _bad(says: str, next_step: str) -> dict[str, Any]:
    return {"good": False, "says": says, "next_step": next_step}
