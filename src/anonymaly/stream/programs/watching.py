# SPDX-License-Identifier: Apache-2.0
"""What an owner sees of a stream at a glance: windows, verdicts, late sensors, what was spent, alarms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.stream.protocol.declaration import StreamDeclaration

LATE = 3  # times as long as a sensor's windows took on average: then it counts as late

Event = dict[str, Any]


@dataclass
class SensorState:
    """One sensor, as far as the owner knows."""

    windows: int = 0
    newest: int | None = None
    given_up: int = 0
    readings: int = 0
    to_look_at: int = 0
    last_found: tuple[int, ...] = ()
    alarms: int = 0
    first: float | None = None  # when the first verdict of this run came
    last: float | None = None
    since: int = 0  # verdicts of this run

    def waits(self, now: float) -> float | None:
        """Return for how many seconds there was no verdict."""
        return None if self.last is None else now - self.last

    def is_late(self, now: float) -> bool:
        """Say whether the next verdict takes much longer than the last ones did."""
        if self.first is None or self.last is None or self.since < 2:
            return False
        return now - self.last > LATE * (self.last - self.first) / (self.since - 1)


class Watched:
    """All sensors of a stream; times are of a clock that never jumps.

    Parameters
    ----------
    streams : mapping
        Each sensor's name → what is declared of it.
    """

    def __init__(self, streams: Mapping[str, StreamDeclaration]) -> None:
        self._streams = streams
        self.sensors = {name: SensorState() for name in streams}
        self.connected = False
        self.unacknowledged = 0

    def take(self, event: Event, now: float | None) -> None:
        """Take in what the owner's program reports; ``now`` is None for what an earlier run had."""
        if event["event"] == "reading":
            return  # in clear: for who asked for it, and in no table
        state = self.sensors[event["sensor"]]
        if event["event"] == "alarm":
            state.alarms += 1
            return
        state.windows += 1
        state.newest = max(event["window"], -1 if state.newest is None else state.newest)
        state.readings += event["readings"]
        state.to_look_at += event["found"]
        state.given_up += not event["complete"]
        state.last_found = tuple(event["look_at"])
        if now is not None:
            state.since += 1
            state.first = now if state.first is None else state.first
            state.last = now

    def spent(self, name: str) -> str:
        """Return the ε of the readings that were judged; the sensor's ledger knows all that it spent."""
        return to_text(self._streams[name].cost_of(self.sensors[name].readings))

    def to_dict(self, now: float) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "connected": self.connected,
            "unacknowledged": self.unacknowledged,
            "sensors": {
                name: {
                    "windows": state.windows, "newest": state.newest, "given_up": state.given_up,
                    "readings": state.readings, "to_look_at": state.to_look_at,
                    "epsilon_judged": self.spent(name), "alarms": state.alarms,
                    "seconds_since_verdict": None if (waits := state.waits(now)) is None else round(waits, 1),
                    "late": state.is_late(now),
                }
                for name, state in self.sensors.items()
            },
        }  # fmt: skip

    def metrics(self, now: float) -> str:
        """Return everything in the text format of Prometheus."""
        return "\n".join([*self._metrics(now), ""])

    def _metrics(self, now: float) -> Iterator[str]:
        yield from _metric("connected", "gauge", "1 while the broker is there", {"": int(self.connected)})
        yield from _metric("unacknowledged", "gauge", "messages without a receipt", {"": self.unacknowledged})
        for name, kind, text, value in _OF_SENSORS:
            values = {f'{{sensor="{sensor}"}}': value(state) for sensor, state in self.sensors.items()}
            yield from _metric(name, kind, text, values)
        late = {f'{{sensor="{sensor}"}}': int(state.is_late(now)) for sensor, state in self.sensors.items()}
        yield from _metric("late", "gauge", "1 while verdicts take much longer than before", late)
        spent = {f'{{sensor="{sensor}"}}': self.spent(sensor) for sensor in self.sensors}
        yield from _metric("epsilon_judged", "gauge", "epsilon of the readings that were judged", spent)


def _metric(name: str, kind: str, text: str, values: Mapping[str, object]) -> Iterator[str]:
    yield f"# HELP anonymaly_stream_{name} {text}"
    yield f"# TYPE anonymaly_stream_{name} {kind}"
    for labels, value in values.items():
        yield f"anonymaly_stream_{name}{labels} {value}"


_OF_SENSORS: list[tuple[str, str, str, Callable[[SensorState], int]]] = [
    ("windows_total", "counter", "windows with a verdict", lambda state: state.windows),
    ("given_up_total", "counter", "windows of which nothing was judged", lambda state: state.given_up),
    ("readings_total", "counter", "readings that were judged", lambda state: state.readings),
    ("to_look_at_total", "counter", "readings to look at", lambda state: state.to_look_at),
    ("alarms_total", "counter", "alarms", lambda state: state.alarms),
]
