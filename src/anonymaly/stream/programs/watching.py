# SPDX-License-Identifier: Apache-2.0
"""What an owner sees of a stream at a glance: windows, verdicts, late sensors, what was spent, alarms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.core.stream_status import JUDGED, SensorStatus, StreamStatus, WindowStatus
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.server import Earlier, declared_of

LATE = 3  # times as long as something took on average: then it counts as late
MOST_RECENT = 96  # windows that a status has
MOST_LISTED = 100  # sensors that a status has
MOST_NAMED = 20  # sensors that a window of a status names

Event = dict[str, Any]


@dataclass
class Pace:
    """How often something comes, by any measure that only grows."""

    first: float | None = None
    last: float | None = None
    times: int = 0

    def take(self, now: float) -> None:
        """Note that it came."""
        self.first = now if self.first is None else self.first
        self.last = now
        self.times += 1

    def waits(self, now: float) -> float | None:
        """Return for how long it did not come; None if it never did."""
        return None if self.last is None else now - self.last

    def is_late(self, now: float, least: float = 0.0) -> bool:
        """Say whether the next one takes much longer than the last ones did, or the least that is usual."""
        if self.first is None or self.last is None or self.times < 2:
            return False
        return now - self.last > LATE * max((self.last - self.first) / (self.times - 1), least)


@dataclass
class SensorState:
    """One sensor, as far as the owner knows."""

    windows: int = 0
    newest: int | None = None
    given_up: int = 0
    readings: int = 0
    to_look_at: int = 0
    lies: int = 0
    alarms: int = 0
    missed: int = 0  # judged windows of a pool in a row
    cost: int = 0  # of its judged readings, in billionths of ε
    pace: Pace = field(default_factory=Pace)

    def take(self, window: int) -> None:
        """Count a window that has a verdict."""
        self.windows += 1
        self.newest = window if self.newest is None else max(window, self.newest)


class Watched(ABC):
    """A stream as its owner sees it; times are of a clock that never jumps.

    Parameters
    ----------
    sensors : iterable of str
        Their names, in the order in which they are shown.
    retired : list of str
        Those of them that send no more, and are not shown.
    """

    def __init__(self, sensors: Iterable[str], retired: Collection[str]) -> None:
        self.sensors = {name: SensorState() for name in sensors if name not in retired}
        self.connected = False
        self.unacknowledged = 0
        self.verdicts = Pace()  # of this run
        self.states: Counter[str] = Counter()
        self.recent: deque[WindowStatus] = deque(maxlen=MOST_RECENT)
        self.to_look_at = self.lies = 0
        self.alarms: list[tuple[str, int]] = []  # of which sensor and window

    def take(self, event: Event, now: float | None) -> None:
        """Take in what the owner's program reports; ``now`` is None for what an earlier run had."""
        if event["event"] == "reading":
            return  # in clear: for who asked for it, and in no table
        if event["event"] == "alarm":
            self.alarms.append((event["sensor"], event["window"]))
            self.state_of(event["sensor"]).alarms += 1
            return
        window = self._take_verdict(event, now)
        self.states[window.state] += 1
        self.to_look_at += window.to_look_at
        self.recent.append(window)
        if now is not None:
            self.verdicts.take(now)

    def status(self, now: float, *, runs: bool = True) -> StreamStatus:
        """Return all that is worth showing as plain data."""
        told = {name: self._tell(name, state, now) for name, state in self.sensors.items()}
        urgent = sorted(told.values(), key=lambda sensor: sensor.urgency)
        few = len(urgent) <= MOST_LISTED
        waits = self.verdicts.waits(now)
        return StreamStatus(
            written=datetime.now(UTC).isoformat(timespec="seconds"),
            runs=runs,
            connected=self.connected,
            unacknowledged=self.unacknowledged,
            waits=None if waits is None else round(waits, 1),
            late=self.has_late_verdict(now),
            states=dict(self.states),
            recent=tuple(self.recent),
            sensors=len(told),
            late_sensors=sum(sensor.late for sensor in urgent),
            absent_sensors=sum(sensor.missed > 0 for sensor in urgent),
            faulty_sensors=sum(sensor.to_look_at > 0 for sensor in urgent),
            listed=tuple([item for item in urgent if few or item.matters][:MOST_LISTED]),
            to_look_at=self.to_look_at,
            lies=self.lies,
            alarms=len(self.alarms),
            new_alarms=sum(self._is_new(*alarm) for alarm in self.alarms),
            epsilon_judged=to_text(max((state.cost for state in self.sensors.values()), default=0)),
            **self._facts(),
        )

    def state_of(self, name: str) -> SensorState:
        """Return what is known of a sensor; of a retired one, which may still have verdicts, nothing is."""
        return self.sensors.get(name) or SensorState()

    def spent(self, name: str) -> str:
        """Return the ε of the readings that were judged; the sensor's ledger knows all that it spent."""
        return to_text(self.sensors[name].cost)

    def has_late_verdict(self, now: float) -> bool:
        """Say whether the next verdict of any sensor takes much longer than the last ones did."""
        return self.verdicts.is_late(now)

    def is_late(self, name: str, now: float) -> bool:
        """Say whether a sensor takes much longer than it usually did."""
        return self.sensors[name].pace.is_late(now)

    def waits(self, name: str, now: float) -> float | None:
        """Return for how many seconds there was no verdict of a sensor, if it has verdicts of its own."""
        return self.sensors[name].pace.waits(now)

    @abstractmethod
    def _take_verdict(self, event: Event, now: float | None) -> WindowStatus:
        """Count what a verdict says of its sensors; return the window."""

    @abstractmethod
    def _facts(self) -> Mapping[str, Any]:
        """Return the fields of a status that only this kind of stream has."""

    def _is_new(self, sensor: str, window: int) -> bool:
        recent = [item.window for item in self.recent if item.sensor in (sensor, None)]
        return not recent or window >= min(recent)

    def _tell(self, name: str, state: SensorState, now: float) -> SensorStatus:
        waits = self.waits(name, now)
        return SensorStatus(
            name=name,
            windows=state.windows,
            newest=state.newest,
            readings=state.readings,
            to_look_at=state.to_look_at,
            given_up=state.given_up,
            lies=state.lies,
            alarms=state.alarms,
            missed=state.missed,
            waits=None if waits is None else round(waits, 1),
            late=self.is_late(name, now),
            epsilon_judged=to_text(state.cost),
        )


class WatchedSensors(Watched):
    """A stream of ``correction``, in which every sensor has windows and a declaration of its own.

    Parameters
    ----------
    streams : mapping
        Each sensor's name → what is declared of it.
    retired : list of str, optional
        Those of them that send no more.
    earlier : mapping, optional
        Each sensor's name → what was declared of it before, with the first window of which it holds no more.
    """

    def __init__(
        self,
        streams: Mapping[str, StreamDeclaration],
        retired: Collection[str] = (),
        earlier: Earlier = MappingProxyType({}),
    ) -> None:
        self._streams = streams
        self._earlier = earlier
        super().__init__(streams, retired)

    def _take_verdict(self, event: Event, now: float | None) -> WindowStatus:
        name = event["sensor"]
        state = self.state_of(name)
        state.take(event["window"])
        state.readings += event["readings"]
        if name in self._streams:
            declared = declared_of(self._streams, self._earlier, name, event["window"])
            state.cost += declared.cost_of(event["readings"])
        state.to_look_at += event["found"]
        state.given_up += not event["complete"]
        if now is not None:
            state.pace.take(now)
        unlike = "the servers have windows of different length"
        return WindowStatus(
            window=event["window"],
            sensor=event["sensor"],
            begins=None,
            state=JUDGED if event["complete"] else unlike if event["readings"] else "given up by the owner",
            readings=event["readings"] if event["complete"] else None,
            missing=None,
            to_look_at=event["found"],
            named=(),
            lies=(),
            counted=True,
        )

    def _facts(self) -> Mapping[str, Any]:
        return {
            "protocol": "correction", "name": None, "least_sensors": None, "counted": None, "epsilon": None,
            "cost": "",
        }  # fmt: skip


def is_fault(event: Event) -> bool:
    """Say whether to tell somebody: of readings to look at, lies, windows without a verdict, alarms."""
    if event["event"] == "alarm":
        return True
    if "state" in event:  # of a pool
        return bool(faults_of(event) or event.get("lies")) or event["state"] != JUDGED
    return bool(event["found"]) or not event["complete"]


def faults_of(event: Event) -> list[str]:
    """Return the sensors that a pool's verdict names, by either protocol."""
    named: list[str] = event["faults"] if "faults" in event else event["look_at"]
    return named
