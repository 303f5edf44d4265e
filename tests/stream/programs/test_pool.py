# SPDX-License-Identifier: Apache-2.0
"""A pool over MQTT, with keys, passwords and topics as ``set_up_pool`` writes them."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.stream import CountingSensor
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.programs.carrier import end
from anonymaly.stream.programs.pool_config import DeclarationOfPool, load_config
from anonymaly.stream.programs.pool_program import from_file, moment_of
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import reserved_port
from anonymaly.stream.programs.register import CONFIG
from tests.stream.programs.by_mqtt import WatchedCarrier, broker
from tests.stream.programs.pools import CORRECTED, COUNTED, ROOMS, START, loaded


def test_a_pool_finds_a_fault_over_mqtt_though_the_broker_is_killed(tmp_path: Path) -> None:
    async def play() -> list[Any]:
        with reserved_port() as port:
            set_up_pool(tmp_path, ROOMS, COUNTED, budget=1000, port=port)
            async with AsyncExitStack() as stack:
                carriers: dict[str, WatchedCarrier] = {}

                async def start(party: str) -> WatchedCarrier:
                    config = loaded(tmp_path, party)
                    machine = stack.enter_context(config.make_party())
                    carrier = WatchedCarrier(machine, config.make_connection(), None)
                    task = asyncio.create_task(carrier.run())
                    stack.push_async_callback(end, [task])
                    carriers[party] = carrier
                    return carrier

                async with broker(tmp_path):
                    for party in (*COUNTERS, "owner", *(f"sensor-{room}" for room in ROOMS)):
                        await (await start(party)).connected()
                    for room in ROOMS[:3]:
                        await contribute(carriers[f"sensor-{room}"], 0, 20.5)
                async with broker(tmp_path):  # another, which knows nothing
                    await contribute(carriers["sensor-room-3"], 0, 20.5)
                    await contribute(carriers["sensor-room-4"], 0, 74.0)
                    owner = carriers["owner"]
                    await owner.until(lambda: len(list(owner.party.verdicts())) == 1)  # type: ignore[attr-defined]
                    return list(owner.party.verdicts())  # type: ignore[attr-defined]

    async def contribute(carrier: WatchedCarrier, window: int, celsius: float) -> None:
        sensor = carrier.party
        assert isinstance(sensor, CountingSensor)
        await carrier.send(await carrier.call(sensor.send, [celsius], [START + 60 * window]))

    (judged,) = asyncio.run(play())
    assert (judged.state, judged.faults, len(judged.contributed)) == ("judged", ("room-4",), len(ROOMS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    set_up_pool(tmp_path, ROOMS, COUNTED, budget=1000)
    return tmp_path


def test_no_party_holds_what_another_keeps_to_itself(folder: Path) -> None:
    keys = {path.parent.name: path.read_bytes() for path in folder.glob("*/private.key")}
    assert len(set(keys.values())) == len(ROOMS) + 3
    assert sorted(path.parent.name for path in folder.glob("*/check.key")) == list(COUNTERS)
    assert len({path.read_bytes() for path in folder.glob("*/check.key")}) == 1
    for party in (*COUNTERS, "owner", "sensor-room-0"):
        loaded(folder, party).make_party().close()


def test_each_counter_has_an_anchor(folder: Path) -> None:
    assert {loaded(folder, party).anchor for party in COUNTERS} == {
        folder / party / "counter.anchor" for party in COUNTERS
    }


@pytest.mark.parametrize(
    ("party", "change", "field"),
    [
        ("sensor-room-0", {"check_key": "check.key"}, "check_key"),
        ("sensor-room-0", {"ledger": None}, "ledger"),
        ("counter-1", {"sensors": []}, "sensors"),
        ("counter-1", {"peers": {}}, "peers"),
        ("owner", {"sensors": ["room-0"]}, "sensors"),
        ("owner", {"anchor": "owner.anchor"}, "anchor"),
        ("owner", {"broker": {"certificate": "client.crt"}}, "broker.certificate"),
    ],
)
def test_a_file_that_gives_a_party_too_much_or_too_little_is_refused(
    folder: Path, party: str, change: dict[str, Any], field: str
) -> None:
    path = folder / party / CONFIG
    data = yaml.safe_load(path.read_text())
    for name, value in change.items():
        data[name] = data[name] | value if name == "broker" else value
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(InputError) as refusal:
        load_config(path)
    assert (refusal.value.field or "").startswith(field)


@pytest.mark.parametrize("declared", [COUNTED, CORRECTED], ids=["counting", "correction"])
def test_a_file_of_readings_may_be_given_again(tmp_path: Path, declared: DeclarationOfPool) -> None:
    set_up_pool(tmp_path, ROOMS, declared, budget=1000)
    path = tmp_path / "readings.csv"
    path.write_text("time,celsius\n2026-01-01T00:00:10+00:00,20\n1767225670,21\n1767225675000000000,22\n")
    for expected in (4, 0):
        with loaded(tmp_path, "sensor-room-0").make_sensor_of_pool() as sensor:
            sent = [
                item
                for batch in from_file(path, sensor)
                for item in sensor.send(
                    [reading.values for reading in batch], [moment_of(reading.time) for reading in batch]
                )
            ]
        assert len(sent) == expected


def test_a_reading_without_a_time_is_of_now() -> None:
    before = time.time()
    moment = moment_of(None)
    assert isinstance(moment, float)
    assert before <= moment <= time.time()
