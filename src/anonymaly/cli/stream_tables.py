# SPDX-License-Identifier: Apache-2.0
"""The status of a stream on a terminal: a summary, the newest windows, and the sensors that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from anonymaly.cli.output import plain

if TYPE_CHECKING:
    from anonymaly.core.stream_status import SensorStatus, StreamStatus, WindowStatus

MOST_WINDOWS = 8
MOST_SENSORS = 12
LEFT = ("window", "sensor", "verdict", "last verdict", "late", "faults")


def shown_of(status: StreamStatus) -> Iterator[RenderableType]:
    """Return what a terminal shows, from top to bottom."""
    for line in _summary(status):
        yield Text(line)
    windows = status.recent[-MOST_WINDOWS:]
    if status.protocol == "counting" and windows:
        yield Text()
        yield _windows(windows)
    if status.listed:
        yield Text()
        yield _sensors(status)


def _summary(status: StreamStatus) -> Iterator[str]:
    link = "connected" if status.connected else "not connected" if status.runs else "ended"
    last = "" if status.waits is None else f", last verdict {status.waits:,.0f} s ago"
    late = ", LATE" if status.late else ""
    yield f"{status.name or 'stream'}: {link}, {status.unacknowledged} messages on their way{last}{late}"
    ended = ", ".join(f"{number:,} {state}" for state, number in status.states.items())
    yield f"{status.windows:,} windows{': ' if ended else ''}{ended}; {status.alarms:,} alarms"
    if status.protocol == "counting":
        yield (
            f"{status.sensors:,} sensors: {status.absent_sensors:,} not in the newest judged window, "
            f"{status.late_sensors:,} late, {status.faulty_sensors:,} with a fault so far, "
            f"{status.lies:,} lies of a counter"
        )
        yield (
            f"{status.counted:,} counted windows of ε = {status.epsilon}; judged readings of one sensor: "
            f"up to ε = {status.epsilon_judged}"
        )


def _windows(windows: Sequence[WindowStatus]) -> Table:
    table = _table("window", "verdict", "readings", "missing", "faults")
    for item in reversed(windows):
        table.add_row(
            *plain(
                f"{item.window}{' (counted)' if item.counted else ''}", item.state, _known(item.readings),
                _known(item.missing), _names(item),
            )
        )  # fmt: skip
    return table


def _names(item: WindowStatus) -> str:
    more = item.to_look_at - len(item.named[:5])
    names = ", ".join(item.named[:5]) + (f" and {more:,} more" if more else "")
    lies = f"; a counter lies about {', '.join(item.lies[:5])}" if item.lies else ""
    return names + lies


def _sensors(status: StreamStatus) -> Table:
    pool = status.protocol == "counting"
    columns = ["sensor", "windows", "newest", "to look at", "missed" if pool else "given up"]
    table = _table(*columns, "ε judged", "late" if pool else "last verdict", "alarms", *(["lies"] * pool))
    listed = [item for item in status.listed if item.matters or status.sensors <= MOST_SENSORS]
    for item in listed[:MOST_SENSORS]:
        table.add_row(
            *plain(
                item.name, f"{item.windows:,}", "" if item.newest is None else str(item.newest),
                f"{item.to_look_at:,} of {item.readings:,}", f"{item.missed if pool else item.given_up:,}",
                item.epsilon_judged, _lateness(item), f"{item.alarms:,}", *([f"{item.lies:,}"] * pool),
            )
        )  # fmt: skip
    left = status.sensors - len(listed[:MOST_SENSORS])
    if left:
        table.caption = f"{left:,} sensors are not shown: nothing about them is more urgent"
        table.caption_justify = "left"
    return table


def _lateness(item: SensorStatus) -> str:
    waits = "" if item.waits is None else f"{item.waits:,.0f} s ago"
    return ", ".join(word for word in (waits, "LATE" if item.late else "") if word)


def _known(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, justify="left" if title in LEFT else "right", overflow="fold")
    return table
