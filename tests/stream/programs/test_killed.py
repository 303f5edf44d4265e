# SPDX-License-Identifier: Apache-2.0
"""Whoever is killed, and whenever: every window gets exactly one verdict, and no reading is sent twice.

A few kills here; ``benchmarks/stream_kill.py`` does the same for a hundred windows.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from anonymaly.declare.domain import Interval
from anonymaly.stream.programs.processes import READINGS, Processes
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from tests.stream.programs.by_mqtt import BUDGET, HUNG, judged, load

WINDOWS, WINDOW = 6, 8
ROOM = StreamDeclaration(
    columns=[Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)],
    epsilon=2,
    window=WINDOW,
    layer=1,
    model="radius",
)


@pytest.mark.slow
def test_every_window_gets_one_verdict_whoever_is_killed(tmp_path: Path, port: int) -> None:
    set_up(tmp_path, ["room-1"], ROOM, budget=BUDGET, port=port)
    readings = [20 + (place % 7) / 10 for place in range(WINDOWS * WINDOW)]
    (tmp_path / "sensor-room-1" / READINGS).write_text("\n".join(map(str, readings)))
    order = random.Random(7)
    judgements: dict[int, dict[str, object]] = {}
    arrived = False
    with Processes(tmp_path, ["room-1"]) as processes:
        victims = [*order.sample(processes.addresses, 3), *order.sample(processes.addresses, 5)]
        while len(judgements) < WINDOWS or not arrived:
            reports = processes.wait_for_reports(timeout=HUNG)
            assert reports, f"nothing happens after {len(judgements)} verdicts"
            for event in reports:
                arrived = arrived or event["event"] == "arrived"
                if event["from"] == "owner":
                    window = event["window"]
                    assert judgements.setdefault(window, event) == event, "a window was judged twice"
            # Killed while something happens, not while nothing does.
            if victims:
                victim = victims.pop()
                processes.kill(victim)
                processes.start(victim)
    assert len(victims) <= 3, "each was killed at least once"
    assert sorted(judgements) == list(range(WINDOWS))
    with load(tmp_path, "owner").make_owner() as owner:
        assert sorted(judged(owner)) == [("room-1", window) for window in range(WINDOWS)]
    with load(tmp_path, "sensor-room-1").make_sensor() as sensor:
        assert sensor.accepted == len(readings)
        assert sensor.spent >= ROOM.cost_of(len(readings)) / 10**9
        assert sensor.waiting == 0
