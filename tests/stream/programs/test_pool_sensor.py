# SPDX-License-Identifier: Apache-2.0
"""A pool's sensor as a program: where its readings came from, what a spent budget and a full disk do."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, LedgerError
from anonymaly.ledger import Ledger
from anonymaly.stream import CountingDeclaration, CountingSensor
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.programs import program
from anonymaly.stream.programs.inputs import REMEMBERED
from anonymaly.stream.programs.pool_origins import note_origins, origin_of
from anonymaly.stream.programs.pool_program import from_file, sensor_work
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.readings import SensorReading
from anonymaly.stream.programs.register import CONFIG
from tests.stream.programs.by_mqtt import HUNG, broker, running
from tests.stream.programs.conftest import Run
from tests.stream.programs.pools import COUNTED, ROOMS, START, loaded

HALF = CountingDeclaration.read(COUNTED.to_dict() | {"period": 2})
DAY = "time,celsius\n{}".format(
    "".join(f"{START + seconds:.0f},20\n" for seconds in (5, 20, 61, 59, 130, 190))
)


@pytest.fixture
def folder(tmp_path: Path, port: int) -> Path:
    set_up_pool(tmp_path / "pool", ROOMS, HALF, budget=40, port=port)
    (tmp_path / "day.csv").write_text(DAY)
    return tmp_path / "pool"


def work(folder: Path, *, wait: bool) -> list[dict[str, Any]]:
    """Have a sensor send a file while both counters run; return what it reports."""
    events: list[dict[str, Any]] = []
    path = folder.parent / "day.csv"

    async def play() -> None:
        async with broker(folder), running(folder, COUNTERS[0]) as one, running(folder, COUNTERS[1]) as two:
            await one.connected()
            await two.connected()
            async with running(folder, "sensor-room-0") as carrier, asyncio.timeout(HUNG):
                sensor = carrier.party
                assert isinstance(sensor, CountingSensor)
                working = sensor_work(
                    sensor, events.append, lambda party: from_file(path, party), path.name, wait=wait
                )
                await working(carrier)

    asyncio.run(play())
    return events


def test_a_readings_line_and_time_are_told_by_its_sensor(folder: Path, run: Run) -> None:
    config = str(folder / "sensor-room-0" / CONFIG)
    loaded(folder, "sensor-room-0").make_sensor_of_pool().close()  # opens the account
    assert run("budget", "--config", config, "--to", "80", "--reason", "enough for two").returncode == 0
    events = work(folder, wait=False)
    assert (events[-1]["event"], events[-1]["readings"], events[-1]["spent"]) == ("arrived", 4, 80)

    def told(window: int) -> str:
        return run("origin", "--config", config, "--window", str(window)).stdout.strip()

    assert told(0) == "window 0: line 2 of day.csv, time 1767225605"  # the first of the window's three
    assert told(1) == "window 1: line 4 of day.csv, time 1767225661"
    assert told(3) == "window 3: line 7 of day.csv, time 1767225790"
    assert told(4) == "window 4: not known"
    shown = json.loads(run("origin", "--config", config, "--window", "2", "--json").stdout)
    assert shown == {"window": 2, "reading": {"input": "day.csv", "line": 6, "time": "1767225730"}}
    refused = run("origin", "--config", config, "--window", "2", "0")
    assert (refused.returncode, "one reading in a window" in refused.stderr) == (2, True)


def test_of_old_windows_and_of_what_was_not_sent_nothing_is_known(folder: Path) -> None:
    with loaded(folder, "sensor-room-1").make_sensor_of_pool() as sensor:

        def send(*windows: int) -> None:
            moments = [START + 60 * window for window in windows]
            batch = [SensorReading((20.0,), line) for line in range(1, 1 + len(windows))]
            note_origins(sensor, "-", batch, moments)
            sensor.send([20.0] * len(windows), moments)

        send(1, 3)
        with pytest.raises(BudgetExceeded):
            send(5, 6, 8)
        known = [window for window in range(9) if origin_of(sensor, window) is not None]
        assert known == [1, 3]
        send(7)  # another batch than the one that was noted
        found = origin_of(sensor, 7)
        assert found is not None
        assert (found.input, found.line, found.time) == ("-", 1, "2026-01-01T00:07:00+00:00")
        assert [origin_of(sensor, window) for window in (5, 6)] == [None, None]
        send(2 * REMEMBERED + 1)
        assert origin_of(sensor, 7) is None
        kept = sensor.journal.execute("SELECT COUNT(*) FROM origins").fetchone()
        assert kept == (1,)


def test_a_spent_budget_is_waited_for_and_raised_by_the_day(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = str(folder / "sensor-room-0" / CONFIG)

    class Raises(logging.Handler):
        """The operator, who raises the budget when the sensor says that it waits."""

        said = ""

        def emit(self, record: logging.LogRecord) -> None:
            if "waiting" in record.getMessage() and not self.said:
                there = loaded(folder, "sensor-room-0")
                with Ledger.open(there.ledger, anchor=there.anchor, create=False) as book:
                    book.raise_limit("room-0", 80 * 10**9, reason="Tuesday")
                self.said = record.getMessage()

    operator = Raises()
    monkeypatch.setattr(program, "LOOK_AGAIN", 0)
    program.logger.addHandler(operator)
    try:
        events = work(folder, wait=True)
    finally:
        program.logger.removeHandler(operator)
    assert "sensor/room-0: waiting" in operator.said
    assert (events[-1]["event"], events[-1]["readings"], events[-1]["spent"]) == ("arrived", 4, 80)
    more = run("budget", "--config", config, "--more", "40", "--every", "day", "--reason", "Wednesday")
    assert "room-0: ε = 80 of 120 spent, 40 left." in more.stdout
    assert "ε = 40 every day is up to ε = 14600 a year" in more.stdout
    less = run("budget", "--config", config, "--to", "100", "--reason", "less")
    assert less.returncode != 0
    with Ledger.audit(folder / "sensor-room-0" / "sensor.ledger") as book:
        raises = [entry.data for entry in book.entries("room-0") if entry.kind == "limit"]
        assert [entry["reason"] for entry in raises] == ["Tuesday", "Wednesday"]


def test_without_waiting_a_spent_budget_ends_the_program_and_what_was_paid_for_arrives(folder: Path) -> None:
    with loaded(folder, "sensor-room-0").make_sensor_of_pool() as sensor:
        sensor.send([20.0], [START])
    with pytest.raises(BudgetExceeded, match="has stopped sending"):
        work(folder, wait=False)
    with loaded(folder, "sensor-room-0").make_sensor_of_pool() as sensor:
        assert (sensor.waiting, sensor.spent) == (0, 40)


def test_a_full_disk_stops_a_pools_sensor_before_it_charges(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with loaded(folder, "sensor-room-0").make_sensor_of_pool() as sensor:
        monkeypatch.setattr(os, "posix_fallocate", full)
        for _ in range(3):
            with pytest.raises(LedgerError, match=r"the disk is full. Make room"):
                sensor.send([20.0], [START])
        assert (sensor.accepted, sensor.spent, sensor.newest, sensor.waiting) == (0, 0, -1, 0)
        monkeypatch.undo()
        assert len(sensor.send([20.0], [START])) == 2
        assert (sensor.accepted, sensor.spent) == (1, 40)
    assert not list((folder / "sensor-room-0").glob("*-room"))
