# SPDX-License-Identifier: Apache-2.0
"""Whoever is killed, and whenever: every window gets exactly one verdict, and no reading is sent twice.

A few kills here; ``benchmarks/stream_kill.py`` does the same for a hundred windows.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from anonymaly.declare.domain import Interval
from anonymaly.stream.programs.processes import READINGS, Cast
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.declaration import Column, Declaration
from tests.stream.programs.by_mqtt import BUDGET, free_port, judged, load

WINDOWS, WINDOW = 6, 8
ROOM = Declaration(
    columns=[Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)],
    epsilon=2,
    window=WINDOW,
    layer=1,
    model="radius",
)


def test_every_window_gets_one_verdict_whoever_is_killed(tmp_path: Path) -> None:
    set_up(tmp_path, ["room-1"], ROOM, budget=BUDGET, port=free_port())
    readings = [20 + (place % 7) / 10 for place in range(WINDOWS * WINDOW)]
    (tmp_path / "sensor-room-1" / READINGS).write_text("\n".join(map(str, readings)))
    moments = random.Random(7)  # of the kills
    told: dict[int, dict[str, object]] = {}
    arrived = False
    with Cast(tmp_path, ["room-1"]) as cast:
        victims = [*moments.sample(cast.addresses, 5), *moments.sample(cast.addresses, 3)]
        end = time.monotonic() + 120
        while len(told) < WINDOWS or not arrived:
            assert time.monotonic() < end, f"{len(told)} verdicts"
            heard = cast.hear(timeout=moments.uniform(0, 0.3))
            for event in heard:
                arrived = arrived or event["event"] == "arrived"
                if event["from"] == "owner":
                    window = event["window"]
                    assert told.setdefault(window, event) == event, "a window was judged twice"
            # Killed while something happens, not while nothing does.
            if heard and victims:
                victim = victims.pop()
                cast.kill(victim)
                cast.start(victim)
    assert len(victims) <= len(cast.addresses), "each was killed at least once"
    assert sorted(told) == list(range(WINDOWS))
    with load(tmp_path, "owner").make_owner() as owner:
        assert sorted(judged(owner)) == [("room-1", window) for window in range(WINDOWS)]
    with load(tmp_path, "sensor-room-1").make_sensor() as sensor:
        assert sensor.accepted == len(readings)
        assert sensor.spent >= ROOM.cost_of(len(readings)) / 10**9
        assert sensor.waiting == 0
