# SPDX-License-Identifier: Apache-2.0
"""Kill -9 of every party of a pool, and of the broker: has every window one verdict, and is no reading lost?

All run as processes of their own over MQTT. The broker keeps nothing, so a killed one forgets all that was on
its way. A killed party is started again at once, and killed again only after it was connected: one that is
killed while it starts has not done anything that could go wrong.

    python benchmarks/stream_counting_kill.py [--protocol correction]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stream_killing import kill_until, options_of, tell

from anonymaly.declare.domain import Interval
from anonymaly.stream import (
    Column,
    CountedColumn,
    CountingDeclaration,
    CountingSensor,
    PooledDeclaration,
    PooledJudgement,
    PooledWindows,
    PoolJudgement,
)
from anonymaly.stream.programs.pool_config import DeclarationOfPool, LoadedPool, load_config, servers_of
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import READINGS, Processes, reserved_port
from anonymaly.stream.programs.register import BROKER, CONFIG

ROOMS = [f"room-{number}" for number in range(4)]
START = 1767225600  # 2026-01-01
SECONDS = 60
# Windows end when all contributed: nobody is late here, however long a killed party takes.
WINDOWS = PooledWindows(
    start="2026-01-01T00:00:00+00:00", seconds=SECONDS, lateness=10**9, least_sensors=len(ROOMS)
)
POOLS: dict[str, DeclarationOfPool] = {
    "counting": CountingDeclaration(
        columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=20)],
        windows=WINDOWS,
        epsilon=40,
        period=2,
        share=0.4,
        radius=1,
    ),
    "correction": PooledDeclaration(
        pool="rooms",
        columns=[Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1, scale=1)],
        windows=WINDOWS,
        epsilon=40,  # noise of half a degree
        layer=30,
        model="radius",
        parameters={"radius": 25},
    ),
}
EXPECTED = ("windows", "kills")  # the figures that may be other than 0


def fault(window: int) -> str:
    """Return whose reading is a fault."""
    return ROOMS[window % len(ROOMS)]


def is_right(item: PoolJudgement | PooledJudgement) -> bool:
    """Say whether a verdict names the fault; perturbed readings may be looked at for nothing."""
    if isinstance(item, PoolJudgement):
        return item.faults == (fault(item.window),)
    return fault(item.window) in item.confirmed


def prepare(folder: Path, port: int, windows: int, pool: DeclarationOfPool) -> None:
    """Write keys, configurations and readings."""
    set_up_pool(folder, ROOMS, pool, budget=10**6, port=port)
    for room in ROOMS:
        lines = [
            f"{START + SECONDS * window},{74 if fault(window) == room else 20.5}" for window in range(windows)
        ]
        (folder / f"sensor-{room}" / READINGS).write_text("\n".join(["time,celsius", *lines]))


def opened(folder: Path, party: str) -> LoadedPool:
    """Return a party's configuration."""
    loaded = load_config(folder / party / CONFIG)
    if not isinstance(loaded, LoadedPool):
        raise TypeError(party)
    return loaded


def accounts(folder: Path, pool: DeclarationOfPool) -> tuple[int, float]:
    """Return how many sensors sent more than they paid for, and the epsilon that was forfeited."""
    unpaid, forfeited = 0, 0.0
    for room in ROOMS:
        with opened(folder, f"sensor-{room}").make_sensor_of_pool() as sensor:
            sent = sensor.counted if isinstance(sensor, CountingSensor) else sensor.accepted
            due = pool.cost_of(sent) / 10**9
            unpaid += sensor.spent < due
            forfeited += sensor.spent - due
    return unpaid, forfeited


def main() -> int:
    parser = options_of(__doc__)
    parser.add_argument("--protocol", choices=POOLS, default="counting")
    options = parser.parse_args()
    told: set[int] = set()

    def hear(event: dict[str, Any]) -> None:
        if event["event"] == "verdict":
            told.add(event["window"])

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, reserved_port() as port:
        folder = Path(name)
        pool = POOLS[options.protocol]
        prepare(folder, port, options.windows, pool)
        with Processes(folder, ROOMS, (BROKER, *servers_of(pool), "owner")) as processes:
            kills = kill_until(
                lambda: len(told) >= options.windows, processes, ROOMS, options, hear, only_at_work=True
            )
            seconds = time.monotonic() - began
        with opened(folder, "owner").make_owner_of_pool() as owner:
            verdicts: list[PoolJudgement | PooledJudgement] = list(owner.verdicts())
        unpaid, forfeited = accounts(folder, pool)
    windows = [item.window for item in verdicts]
    found: dict[str, object] = {
        "windows": options.windows,
        "kills": sum(kills.values()),
        "kills of": kills,
        "seconds": round(seconds, 1),
        "windows without a verdict": options.windows - len(set(windows)),
        "windows with two verdicts": len(windows) - len(set(windows)),
        "windows judged wrongly": sum(not is_right(item) for item in verdicts),
        "readings lost": sum(len(ROOMS) - len(item.contributed) for item in verdicts),
        "shares that do not add up": sum(
            len(item.lies) for item in verdicts if isinstance(item, PoolJudgement)
        ),
        "sensors that sent more than they paid": unpaid,
        "epsilon forfeited": round(forfeited, 6),
    }
    return tell(f"kill -9 of a pool over MQTT, {seconds:.0f} s", found, EXPECTED, options.json)


if __name__ == "__main__":
    sys.exit(main())
