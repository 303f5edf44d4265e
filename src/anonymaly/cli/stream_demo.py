# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream demo``: a broker, two counters, an owner, and sixty sensors in one process."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.rule import Rule

from anonymaly.cli.output import out, say, say_json
from anonymaly.declare.domain import Interval
from anonymaly.errors import AnonymalyError
from anonymaly.stream import (
    CountedColumn,
    Counter,
    CountingDeclaration,
    CountingSensor,
    LocalTransport,
    PooledWindows,
    PoolOwner,
)
from anonymaly.stream.counting.promise import CountingPromise
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import (
    ALL_SENSORS,
    POOL_SERVERS,
    READINGS,
    Processes,
    reserved_port,
)
from anonymaly.stream.programs.program import Event
from anonymaly.stream.programs.setup import folder_of

ROOMS = [f"room-{number:02}" for number in range(1, 61)]
WINDOWS = 6
START = 1767225600  # 2026-01-01
SECONDS = 900
FAULTS = {1: {"room-07"}, 3: {"room-19", "room-33"}, 4: {"room-07"}, 5: {"room-58"}}  # readings of 74 °C
BUDGET = 30
PATIENCE = 120.0  # seconds without any report


def pool(least_sensors: int = 50) -> CountingDeclaration:
    """Return what is public about the rooms: one window a day is counted."""
    return CountingDeclaration(
        columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=20)],
        # Readings of a past day: windows end when all contributed, whatever the clock says.
        windows=PooledWindows(
            start="2026-01-01T00:00:00+00:00", seconds=SECONDS, lateness=10**9, least_sensors=least_sensors
        ),
        epsilon=1,
        period=96,
        share=0.5,
        radius=1,
    )


def celsius(room: str, window: int) -> float:
    """Return a room's reading: around 20 °C, but for the faults."""
    return 74.0 if room in FAULTS.get(window, ()) else 20 + 2 * math.sin(ROOMS.index(room) + window / 4)


def run_demo(as_json: bool) -> None:
    """Run all parties of a pool and a broker on this machine for some windows."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anonymaly-stream-") as name, reserved_port() as port:
        folder = Path(name)
        set_up_pool(folder / "pool", ROOMS, pool(), budget=BUDGET, port=port)
        if not as_json:
            out.print(
                Rule(f"A broker, two counters, an owner, and {len(ROOMS)} sensors in a process", align="left")
            )
            say("Each has its own key, password and topics. A reading is cut into two shares, one for each")
            say("counter; one share says nothing. The first start compiles for some seconds.")
        warm_up(folder / "warm-up")
        events = _run(folder / "pool", (lambda event: None) if as_json else _show)
        summary = _summary(events, time.monotonic() - began)
    if as_json:
        say_json(summary)
    else:
        _show_summary(summary)


def warm_up(folder: Path) -> None:
    """Judge one window in this process, so that code is compiled once and not by every party."""
    folder.mkdir()
    declared, names = pool(least_sensors=2), ROOMS[:2]
    with (
        CountingSensor(names[0], declared, journal=folder / "a", ledger=folder / "la", budget=1) as first,
        CountingSensor(names[1], declared, journal=folder / "b", ledger=folder / "lb", budget=1) as second,
        PoolOwner(declared, names, folder / "owner") as owner,
    ):
        counters = [
            Counter(number, declared, names, check_key=bytes(32), journal=folder / f"counter-{number}")
            for number in (1, 2)
        ]
        transport = LocalTransport([first, second, *counters, owner])
        for sensor in (first, second):
            transport.carry(sensor.send([20.0], [START]))
        for counter in counters:
            counter.close()


def follow(
    processes: Processes, finished: Callable[[Sequence[Event]], bool], show: Callable[[Event], None]
) -> list[Event]:
    """Return what the parties report until it is enough; give up if none of them says anything for long."""
    events: list[Event] = []
    while not finished(events):
        reports = processes.wait_for_reports(timeout=PATIENCE)
        if not reports:
            raise AnonymalyError(
                f"the demonstration stood still for {PATIENCE:.0f} seconds",
                next_step="Try again when the machine has less to do.",
            )
        for event in reports:
            events.append(event)
            show(event)
    return events


def _run(folder: Path, show: Callable[[Event], None]) -> list[Event]:
    """Run until every window has its verdict and every sensor its receipts."""
    for room in ROOMS:
        lines = [f"{START + SECONDS * window},{celsius(room, window):.2f}" for window in range(WINDOWS)]
        path = folder / folder_of(f"sensor/{room}") / READINGS
        path.write_text("\n".join(["time,celsius", *lines]))
    with Processes(folder, [], (*POOL_SERVERS, ALL_SENSORS)) as processes:
        return follow(processes, _finished, show)


def _finished(events: Sequence[Event]) -> bool:
    verdicts = [event for event in events if event["from"] == "owner"]
    arrived = [event for event in events if event["event"] == "arrived"]
    return len(verdicts) >= WINDOWS and len(arrived) >= len(ROOMS)


def _show(event: Event) -> None:
    if event["event"] == "window":
        about = f"window {event['window']}: {event['contributed']} contributions, {event['state']}"
        say(f"{event['from']:<10} {about}")
    elif event["from"] == "owner":
        faults = ", ".join(event["faults"]) or "none"
        say(f"{'owner':<10} window {event['window']}: {event['state']}; faults: {faults}")


def _summary(events: Sequence[Event], seconds: float) -> dict[str, Any]:
    verdicts = [event for event in events if event["from"] == "owner"]
    arrived = [event for event in events if event["event"] == "arrived"]
    found = {(event["window"], room) for event in verdicts for room in event["faults"]}
    planted = {(window, room) for window, rooms in FAULTS.items() for room in rooms}
    right = len(found & planted)
    declared = pool()
    return {
        "protocol": "counting",
        "sensors": len(ROOMS),
        "windows": len(verdicts),
        "judged": sum(event["state"] == "judged" for event in verdicts),
        "readings": sum(event["readings"] for event in arrived),
        "faults": [{"window": window, "sensor": room} for window, room in sorted(planted)],
        "found": [{"window": window, "sensor": room} for window, room in sorted(found)],
        "recall": right / len(planted),
        "precision": right / len(found) if found else None,
        "epsilon": {
            "counted_window": str(declared.epsilon),
            "person_day": CountingPromise(declared, 1).by_time["day"],
            "spent_by_a_sensor": max(event["spent"] for event in arrived),
            "budget": BUDGET,
        },
        "seconds": round(seconds, 1),
    }


def _show_summary(summary: dict[str, Any]) -> None:
    out.print(Rule("What the owner learned, and what it cost", align="left"))
    precision = "none found" if summary["precision"] is None else f"{summary['precision']:.0%}"
    planted, found = (len(summary[what]) for what in ("faults", "found"))
    epsilon = summary["epsilon"]
    say(
        f"{summary['readings']:,} readings of {summary['sensors']} sensors in {summary['windows']} windows, "
        f"{planted} planted faults, {found} found: recall {summary['recall']:.0%}, precision {precision}."
    )
    say(
        f"A reading in a counted window loses at most ε = {epsilon['counted_window']}, in others nothing: "
        f"one window of {pool().period} is counted, so ε = {epsilon['person_day']} a day for a person with "
        f"one sensor. Each has spent {epsilon['spent_by_a_sensor']:g} of {BUDGET}."
    )
    say(
        "No reading was shown to anybody: the counters saw noisy counts and who contributed, the owner one "
        "bit of each sensor and window."
    )
    say(f"It took {summary['seconds']:.0f} seconds.")
