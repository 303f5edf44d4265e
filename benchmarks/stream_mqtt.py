# SPDX-License-Identifier: Apache-2.0
"""How many readings a second go from sensors to verdicts over MQTT, and does memory stay where it is?

Every party and the broker is a process of its own; messages are sealed, receipts awaited, journals on disk.

    python benchmarks/stream_mqtt.py --windows 200
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from anonymaly.declare.domain import Interval
from anonymaly.stream.programs.processes import READINGS, Processes, reserved_port
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration

GOAL = 2000  # readings a second
SENSORS = ("room-1", "room-2")
PAGE = os.sysconf("SC_PAGE_SIZE")


def declare(window: int) -> StreamDeclaration:
    return StreamDeclaration(
        columns=[
            Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1),
            Column("humidity", range=Interval(20, 60), outer=Interval(0, 100), step=0.5),
        ],
        epsilon=2,
        window=window,
        layer=0.5,
        parameters={"radius": 0.3, "neighbours": 5},
    )


def resident(process: int) -> float:
    """Return a process's resident memory in millions of bytes."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 1e6
    except (OSError, IndexError):
        return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--windows", type=int, default=200, help="of each sensor")
    parser.add_argument("--window", type=int, default=1000, help="readings")
    parser.add_argument("--patience", type=float, default=900)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    count = options.windows * options.window
    memory: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, reserved_port() as port:
        folder = Path(name)
        set_up(folder, SENSORS, declare(options.window), budget=10**8, port=port)
        for sensor in SENSORS:
            lines = [f"{20 + (place % 13) / 5},{40 + place % 7}" for place in range(count)]
            (folder / f"sensor-{sensor}" / READINGS).write_text("\n".join(lines))
        judged, first, began, look = 0, 0.0, time.monotonic(), 0.0
        wanted = options.windows * len(SENSORS)
        with Processes(folder, SENSORS) as processes:
            while judged < wanted and time.monotonic() < began + options.patience:
                for event in processes.wait_for_reports(timeout=0.2):
                    if event["event"] == "sent" and not first:
                        first = time.monotonic()  # starting Python is no part of a stream's speed
                    judged += event["from"] == "owner"
                if time.monotonic() >= look:
                    look = time.monotonic() + 1
                    for address in processes.addresses:
                        if size := resident(processes.process(address)):
                            memory[address].append(size)
            seconds = time.monotonic() - first
    rate = judged * options.window / seconds
    # After a tenth of the time everything is loaded; what grows from there on would grow for ever.
    growth = {
        address: round(sizes[-1] - sizes[len(sizes) // 10], 1) for address, sizes in memory.items() if sizes
    }
    found = {
        "readings": judged * options.window,
        "windows": judged,
        "seconds": round(seconds, 1),
        "readings a second": round(rate),
        "goal": GOAL,
        "peak memory, MB": {address: round(max(sizes), 1) for address, sizes in memory.items()},
        "growth after the first tenth, MB": growth,
        "memory over time, MB": {
            address: [round(sizes[len(sizes) * part // 10], 1) for part in range(10)]
            for address, sizes in memory.items()
        },
    }
    if options.json:
        print(json.dumps(found))
    else:
        table = Table(title=f"{rate:,.0f} readings a second over MQTT, {seconds:.0f} s")
        for title in ("party", "peak memory", "growth after the first tenth"):
            table.add_column(title)
        for address, sizes in memory.items():
            table.add_row(address, f"{max(sizes):.0f} MB", f"{growth[address]:+.1f} MB")
        Console().print(table)
    return 0 if rate >= GOAL and judged == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
