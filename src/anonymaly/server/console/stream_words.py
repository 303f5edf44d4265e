# SPDX-License-Identifier: Apache-2.0
"""Windows and sensors of a stream in words."""

from __future__ import annotations

from typing import Any

from anonymaly.core.stream_status import SensorStatus, WindowStatus

MOST_NAMED = 5


def says_of_window(window: WindowStatus) -> dict[str, Any]:
    """Return a line about a window."""
    return {
        "window": window.window,
        "sensor": window.sensor,
        "begins": window.begins,
        "state": window.state,
        "good": window.readings is not None,
        "counted": window.counted,
        "readings": window.readings,
        "missing": window.missing,
        "to_look_at": window.to_look_at,
        "named": list(window.named[:MOST_NAMED]),
        "unnamed": max(window.to_look_at - MOST_NAMED, 0) if window.named else 0,
        "lies": list(window.lies[:MOST_NAMED]),
    }


def says_of_sensor(sensor: SensorStatus) -> dict[str, Any]:
    """Return a line about a sensor: what is wrong first, then what is known.

    Examples
    --------
    >>> sensor = SensorStatus(
    ...     name="room-1", windows=8, newest=7, readings=8, to_look_at=1, given_up=0, lies=0, alarms=0,
    ...     missed=2, waits=None, late=False, epsilon_judged="0.5")
    >>> says_of_sensor(sensor)["wrong"]
    ['no reading in the newest 2 judged windows', '1 of 8 readings to look at']
    """
    wrong = []
    if sensor.alarms:
        wrong.append(f"{_counted(sensor.alarms, 'alarm')}: a copy of it may run")
    if sensor.lies:
        wrong.append(f"a counter lied about it in {_counted(sensor.lies, 'window')}")
    if sensor.missed == 1:
        wrong.append("no reading in the newest judged window")
    elif sensor.missed:
        wrong.append(f"no reading in the newest {sensor.missed:,} judged windows")
    if sensor.late and sensor.waits is not None:
        wrong.append(f"no verdict for {sensor.waits:,.0f} seconds")
    if sensor.to_look_at:
        wrong.append(f"{sensor.to_look_at:,} of {_counted(sensor.readings, 'reading')} to look at")
    if sensor.given_up:
        wrong.append(f"{_counted(sensor.given_up, 'window')} of which nothing was judged")
    newest = "never in a window with a verdict" if sensor.newest is None else f"newest window {sensor.newest}"
    return {
        "name": sensor.name,
        "late": sensor.late,
        "wrong": wrong,
        "known": f"{newest}; {_counted(sensor.readings, 'reading')} judged, ε = {sensor.epsilon_judged}",
    }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
