# SPDX-License-Identifier: Apache-2.0
"""Kill -9 of every party and of the broker at random moments: does every window get exactly one verdict?

All run as processes of their own over MQTT. The broker keeps nothing, so a killed one forgets all that was on
its way. A killed party is started again at once.

    python benchmarks/stream_kill.py --windows 100
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stream_killing import kill_until, options_of, tell

from anonymaly.declare.domain import Interval
from anonymaly.stream.programs.config import PartyConfig
from anonymaly.stream.programs.processes import READINGS, Processes, reserved_port
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration

WINDOW = 50
SENSORS = ("room-1", "room-2")
ROOM = StreamDeclaration(
    columns=[
        Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1),
        Column("humidity", range=Interval(20, 60), outer=Interval(0, 100), step=0.5),
    ],
    epsilon=2,
    window=WINDOW,
    layer=0.5,
    parameters={"radius": 1.0, "neighbours": 4},
)


def prepare(folder: Path, port: int, windows: int) -> int:
    """Write keys, configurations and readings; return how many readings each sensor has."""
    set_up(folder, SENSORS, ROOM, budget=10**6, port=port)
    count = windows // len(SENSORS) * WINDOW
    for name in SENSORS:
        lines = [f"{20 + (place % 7) / 10},{40 + place % 5}" for place in range(count)]
        (folder / f"sensor-{name}" / READINGS).write_text("\n".join(lines))
    return count


def main() -> int:
    options = options_of(__doc__).parse_args()
    told: dict[tuple[str, int], dict[str, object]] = {}
    judged_differently: list[tuple[str, int]] = []

    def hear(event: dict[str, Any]) -> None:
        window = event["sensor"], event["window"]
        if told.setdefault(window, event) != event:
            judged_differently.append(window)

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, reserved_port() as port:
        folder = Path(name)
        count = prepare(folder, port, options.windows)
        wanted = {(sensor, window) for sensor in SENSORS for window in range(count // WINDOW)}
        with Processes(folder, SENSORS) as processes:
            kills = kill_until(
                lambda: set(told) == wanted, processes, SENSORS, options, hear, only_at_work=False
            )
            seconds = time.monotonic() - began
        with PartyConfig.load(folder / "owner" / "config.yaml").make_owner() as owner:
            kept = [(item.verdict.sensor, item.verdict.window) for item in owner.verdicts()]
        forfeited, accepted, unpaid = 0.0, 0, 0
        for sensor_name in SENSORS:
            with PartyConfig.load(folder / f"sensor-{sensor_name}" / "config.yaml").make_sensor() as sensor:
                cost = ROOM.cost_of(sensor.accepted) / 10**9
                accepted += sensor.accepted
                forfeited += sensor.spent - cost
                unpaid += sensor.spent < cost
    found: dict[str, object] = {
        "windows": len(wanted),
        "kills": kills,
        "seconds": round(seconds, 1),
        "windows without a verdict": len(wanted - set(kept)),
        "windows with two verdicts": len(kept) - len(set(kept)),
        "windows judged differently later": len(judged_differently),
        "verdicts on windows that never were": len(set(kept) - wanted),
        "readings lost or repeated": abs(accepted - count * len(SENSORS)),
        "sensors that sent more than they paid": unpaid,
        "epsilon forfeited": round(forfeited, 6),
    }
    return tell(f"kill -9 over MQTT, {seconds:.0f} s", found, ("windows",), options.json)


if __name__ == "__main__":
    sys.exit(main())
