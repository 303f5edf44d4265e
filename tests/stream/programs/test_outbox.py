# SPDX-License-Identifier: Apache-2.0
"""What lacks a receipt is sent again, in order, within bounds, whatever the clock on the wall says."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

import anonymaly.stream
from anonymaly.stream.programs.outbox import FIRST_PAUSE, LONGEST_PAUSE, Outbox
from anonymaly.stream.protocol.messages import MessageReceipt, Thresholds


def _messages(*windows: int) -> list[Thresholds]:
    return [Thresholds("room-1", window, 1, 2) for window in windows]


def _windows(messages: object) -> list[int]:
    return [message.window for message in messages]  # type: ignore[attr-defined]


def test_a_message_is_sent_again_after_growing_pauses_until_its_receipt() -> None:
    outbox = Outbox(most=10)
    assert _windows(outbox.add(_messages(0), now=0.0)) == [0]
    moments = [now / 10 for now in range(1000) if outbox.take_due(now / 10)]
    assert moments[0] == FIRST_PAUSE
    pauses = [round(later - sooner, 6) for sooner, later in itertools.pairwise(moments)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE
    assert outbox.confirm(MessageReceipt("room-1", 0, Thresholds))
    assert not outbox.confirm(MessageReceipt("room-1", 0, Thresholds))
    assert outbox.take_due(10**9) == []


def test_what_has_no_room_comes_before_what_is_newer() -> None:
    outbox = Outbox(most=2)
    assert _windows(outbox.add(_messages(0, 1, 2), now=0)) == [0, 1]
    outbox.confirm(MessageReceipt("room-1", 0, Thresholds))
    assert outbox.behind
    assert outbox.add(_messages(3), now=0) == [], "3 would overtake 2"
    assert _windows(outbox.catch_up(_messages(1, 2, 3), now=0)) == [2]
    for window in (1, 2):
        outbox.confirm(MessageReceipt("room-1", window, Thresholds))
    assert _windows(outbox.catch_up(_messages(3), now=0)) == [3]
    assert not outbox.behind
    assert _windows(outbox.add(_messages(3, 4), now=0)) == [4], "3 is on its way"


STREAM = Path(anonymaly.stream.__file__).parent
# A pool has windows by time: a reading without a time is of now, and counters close windows by the clock.
# What `stream init` writes begins today. A reading that is kept and a status say when they were written. An
# anchor that is begun anew passes over no window that has not begun.
BY_THE_CLOCK = {
    "counting/sensor.py",
    "programs/pool_config.py",
    "programs/pool_program.py",
    "programs/pool_setup.py",
    "programs/watching.py",
    "protocol/kept_readings.py",
    "protocol/timed_sensor.py",
}


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(STREAM.rglob("*.py")) if str(path.relative_to(STREAM)) not in BY_THE_CLOCK],
    ids=lambda path: str(path.relative_to(STREAM)),
)
def test_no_other_decision_of_a_stream_depends_on_the_date(path: Path) -> None:
    names = {
        ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
    }
    names |= {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not names & {"time.time", "datetime", "datetime.now", "datetime.utcnow", "date.today", "time"}
