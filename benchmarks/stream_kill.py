# SPDX-License-Identifier: Apache-2.0
"""Kill -9 of every party and of the broker at random moments: does every window get exactly one verdict?

All run as processes of their own over MQTT. The broker keeps nothing, so a killed one forgets all that was on
its way. A killed party is started again at once.

    python benchmarks/stream_kill.py --windows 100
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--windows", type=int, default=100, help="of all sensors together")
    parser.add_argument("--pause", type=float, default=0.8, help="mean seconds between kills")
    parser.add_argument("--patience", type=float, default=900, help="seconds after which to give up")
    parser.add_argument("--seed", type=int, default=None, help="for the moments of the kills")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    generator = random.Random(options.seed)  # noqa: S311 - chooses when to kill, and whom
    kills: Counter[str] = Counter()
    told: dict[tuple[str, int], dict[str, object]] = {}
    judged_differently = 0
    arrived: set[str] = set()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, reserved_port() as port:
        folder = Path(name)
        count = prepare(folder, port, options.windows)
        wanted = {(sensor, window) for sensor in SENSORS for window in range(count // WINDOW)}
        with Processes(folder, SENSORS) as processes:
            next_kill, deck = time.monotonic(), list[str]()
            while (set(told) != wanted or arrived != set(SENSORS)) and (
                time.monotonic() < began + options.patience
            ):
                for event in processes.wait_for_reports(timeout=0.02):
                    if event["event"] == "arrived":
                        arrived.add(event["sensor"])
                    if event["from"] == "owner":
                        judged_differently += (
                            told.setdefault((event["sensor"], event["window"]), event) != event
                        )
                if time.monotonic() >= next_kill:
                    deck = deck or generator.sample(processes.addresses, len(processes.addresses))
                    victim = deck.pop()
                    processes.kill(victim)
                    processes.start(victim)
                    kills[victim] += 1
                    next_kill = time.monotonic() + generator.uniform(0, 2 * options.pause)
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
        "kills": dict(sorted(kills.items())),
        "seconds": round(seconds, 1),
        "windows without a verdict": len(wanted - set(kept)),
        "windows with two verdicts": len(kept) - len(set(kept)),
        "windows judged differently later": judged_differently,
        "verdicts on windows that never were": len(set(kept) - wanted),
        "readings lost or repeated": abs(accepted - count * len(SENSORS)),
        "sensors that sent more than they paid": unpaid,
        "epsilon forfeited": round(forfeited, 6),
    }
    wrong = sum(figure for what, figure in found.items() if isinstance(figure, int) and what != "windows")
    if options.json:
        print(json.dumps(found))
    else:
        table = Table(title=f"kill -9 over MQTT, {seconds:.0f} s", show_header=False)
        for what, figure in found.items():
            table.add_row(what, str(figure))
        Console().print(table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
