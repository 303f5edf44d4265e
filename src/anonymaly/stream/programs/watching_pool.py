# SPDX-License-Identifier: Apache-2.0
"""What the owner of a pool sees of it at a glance; a pool may have a thousand sensors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.core.stream_status import JUDGED, WindowStatus
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration
from anonymaly.stream.counting.promise import CountingPromise
from anonymaly.stream.programs.watching import LATE, MOST_NAMED, Event, Watched, faults_of
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.promise import promised
from anonymaly.stream.protocol.windows import seconds_of


class WatchedPool(Watched):
    """A pool, whose windows are of all sensors.

    A sensor's time is counted in judged windows: of others the owner does not always hear who contributed.

    Parameters
    ----------
    declaration : CountingDeclaration or PooledDeclaration
        What is public about the pool.
    sensors : list of str
        All of its sensors, in the order of joining it.
    retired : list of str, optional
        Those of them that contribute no more.
    earlier : list of EarlierDeclaration, optional
        What was declared before, oldest first.
    """

    def __init__(
        self,
        declaration: CountingDeclaration | PooledDeclaration,
        sensors: Sequence[str],
        retired: Collection[str] = (),
        earlier: Sequence[EarlierDeclaration] = (),
    ) -> None:
        self._declaration = declaration
        self._earlier = earlier
        self._joined = list(sensors)
        self._judged = 0
        self._counted = 0
        super().__init__(sensors, frozenset(retired))

    def has_late_verdict(self, now: float) -> bool:
        """Say whether the next verdict takes much longer than the last ones did, and than windows last."""
        # Windows that were waited for come in one burst, after which the usual pause is no delay.
        return self.verdicts.is_late(now, self._declaration.windows.seconds)

    def is_late(self, name: str, now: float) -> bool:
        """Say whether a sensor missed many more windows in a row than it usually does."""
        state = self.sensors[name]
        if state.pace.times < 2:
            return state.missed > LATE
        return state.pace.is_late(self._judged)

    def waits(self, name: str, now: float) -> float | None:
        """Return None: verdicts are of all sensors together."""
        return None

    def _take_verdict(self, event: Event, now: float | None) -> WindowStatus:
        window = event["window"]
        declared = self._declared(window)
        counted, judged = declared.is_counted(window), event["state"] == JUDGED
        self._counted += counted
        if judged:
            self._judged += 1
            self._take_readings(event, declared.cost_of(1) if counted else 0)
        faults, lies = faults_of(event), event.get("lies", [])
        self.lies += len(lies)
        for name in faults:
            self.state_of(name).to_look_at += 1
        for name in lies:
            self.state_of(name).lies += 1
        begins = seconds_of(declared.windows.start) + window * declared.windows.seconds
        return WindowStatus(
            window=window,
            sensor=None,
            begins=datetime.fromtimestamp(begins, UTC).isoformat(),
            state=event["state"],
            readings=event["contributed"] if judged else None,
            missing=len(event["missing"]) if judged else None,
            to_look_at=len(faults),
            named=tuple(faults[:MOST_NAMED]),
            lies=tuple(lies[:MOST_NAMED]),
            counted=counted,
        )

    def _take_readings(self, event: Event, cost: int) -> None:
        missing = set(event["missing"])
        for name in self._joined[: event["known"]]:
            state = self.state_of(name)
            if name in missing:
                state.missed += 1
                continue
            state.take(event["window"])
            state.readings += 1
            state.cost += cost
            state.missed = 0
            state.pace.take(self._judged)

    def _declared(self, window: int) -> CountingDeclaration | PooledDeclaration:
        """Return what was declared of a window."""
        before = (change.declared for change in self._earlier if window < change.until)
        return next(before, self._declaration)

    def _facts(self) -> Mapping[str, Any]:
        declared = self._declaration
        if isinstance(declared, CountingDeclaration):
            cost = CountingPromise(declared, self._counted).summary()
        else:
            cost = promised(declared, self._judged).summary()
        return {
            "protocol": declared.protocol, "name": declared.pool, "counted": self._counted, "cost": cost,
            "least_sensors": declared.windows.least_sensors, "epsilon": to_text(declared.cost_of(1)),
        }  # fmt: skip
