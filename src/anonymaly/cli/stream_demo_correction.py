# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream demo --protocol correction``: a broker, two servers, an owner, two sensors."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.table import Table

from anonymaly.cli.output import out, plain, say, say_json
from anonymaly.cli.stream_demo import follow
from anonymaly.core.epsilon import to_text
from anonymaly.declare.domain import Interval
from anonymaly.stream.programs.processes import READINGS, Processes, reserved_port
from anonymaly.stream.programs.program import Event
from anonymaly.stream.programs.setup import folder_of, set_up
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration

SENSORS = ("room-1", "room-2")
WINDOWS = 5
WINDOW = 48
FAULTS = {"room-1": {7, 100, 101}, "room-2": {30, 60, 150, 222}}  # readings of 74 °C in dry air
BUDGET = 2000


def stream() -> StreamDeclaration:
    """Return what is public: what rooms are like that have nothing wrong with them."""
    return StreamDeclaration(
        columns=[
            Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1),
            Column("humidity", range=Interval(20, 60), outer=Interval(0, 100), step=0.5),
        ],
        epsilon=2,
        window=WINDOW,
        layer=0.5,
        parameters={"radius": 1.0, "neighbours": 4},
    )


def readings(sensor: str) -> list[tuple[float, ...]]:
    """Return some hours in a room, with a few faults."""
    return [
        (74.0, 5.0) if place in FAULTS[sensor] else (20 + math.sin(place / 8) / 2, 40 + math.cos(place / 5))
        for place in range(WINDOWS * WINDOW)
    ]


def run_correction_demo(as_json: bool) -> None:
    """Run all parties and a broker on this machine for a few windows."""
    with tempfile.TemporaryDirectory(prefix="anonymaly-stream-") as name, reserved_port() as port:
        folder = Path(name)
        set_up(folder, SENSORS, stream(), budget=BUDGET, port=port)
        if not as_json:
            out.print(Rule("Six processes: a broker, detector, corrector, owner, two sensors", align="left"))
            cost = to_text(stream().cost_of(1))
            say("Each has its own key, password and topics.")
            say(f"A reading costs epsilon={cost}, and a sensor may spend {BUDGET}.")
        events = _run(folder, (lambda event: None) if as_json else _show)
        summary = _summary(events)
    if as_json:
        say_json(summary)
    else:
        _show_summary(summary)


def _run(folder: Path, show: Callable[[Event], None]) -> list[Event]:
    """Run until every window has its verdict and every sensor its receipts."""
    for name in SENSORS:
        lines = [",".join(map(str, reading)) for reading in readings(name)]
        (folder / folder_of(f"sensor/{name}") / READINGS).write_text("\n".join(lines))
    with Processes(folder, SENSORS) as processes:
        return follow(processes, _finished, show)


def _finished(events: Sequence[Event]) -> bool:
    verdicts = [event for event in events if event["from"] == "owner"]
    arrived = [event for event in events if event["event"] == "arrived"]
    return len(verdicts) >= WINDOWS * len(SENSORS) and len(arrived) >= len(SENSORS)


def _show(event: Event) -> None:
    what = {
        "sent": "{readings} readings sent, epsilon {spent:g} so far, {remaining:g} left",
        "arrived": "everything arrived, epsilon {spent:g} spent",
        "suspects": "window {window}: {suspects} suspects of {readings}",
        "verdict": "window {window}: {found} of {readings} to look at",
    }[event["event"]].format_map(event)
    if event["from"] == "owner":
        what += f": {', '.join(map(str, event['look_at'])) or 'none'}"
    speaker = event["from"].partition("/")[0]
    say(f"{speaker:<10} {event['sensor']:<7} {what}")


def _summary(events: list[Event]) -> dict[str, Any]:
    sensors = {}
    for name in SENSORS:
        of_sensor = [event for event in events if event["sensor"] == name]
        verdicts = [event for event in of_sensor if event["from"] == "owner"]
        found = {event["window"] * WINDOW + place for event in verdicts for place in event["look_at"]}
        last = [event for event in of_sensor if event["event"] == "arrived"][-1]
        sensors[name] = {
            "windows": len(verdicts),
            "suspects": sum(event["suspects"] for event in of_sensor if event["event"] == "suspects"),
            "look_at": sorted(found),
            "faults": sorted(FAULTS[name]),
            "faults_found": len(found & FAULTS[name]),
            "readings": last["readings"],
            "spent": last["spent"],
            "remaining": last["remaining"],
        }
    return {"protocol": "correction", "sensors": sensors}


def _show_summary(summary: dict[str, Any]) -> None:
    out.print(Rule("What the owner learned, and what it cost", align="left"))
    table = Table(box=None, pad_edge=False)
    for title in (
        "sensor",
        "windows",
        "readings",
        "suspects",
        "to look at",
        "faults found",
        "epsilon so far",
    ):
        table.add_column(title, justify="left" if title == "sensor" else "right")
    for name, facts in summary["sensors"].items():
        figures = (facts["windows"], facts["readings"], facts["suspects"], len(facts["look_at"]))
        found = f"{facts['faults_found']} of {len(facts['faults'])}"
        table.add_row(*plain(name, *map(str, figures), found, f"{facts['spent']:g} of {BUDGET}"))
    out.print(table)
    say(
        "The detector saw perturbed readings and two distances a window, or none, if there were few suspects."
    )
    say("The corrector saw how far each reading was moved.")
