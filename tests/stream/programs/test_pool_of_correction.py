# SPDX-License-Identifier: Apache-2.0
"""A pool of ``correction`` over MQTT, as ``stream init`` writes it, with all parties killed and restarted."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.stream import LocalTransport, Party, PooledOwner, PooledSensor
from anonymaly.stream.programs import changes
from anonymaly.stream.programs.mosquitto import AccessList
from anonymaly.stream.programs.pool_config import CORRECTION_SERVERS, load_config
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import READINGS, SERVERS, Processes, reserved_port
from anonymaly.stream.programs.register import CONFIG
from tests.stream.programs.by_mqtt import HUNG, broker, running
from tests.stream.programs.conftest import Run
from tests.stream.programs.pools import CORRECTED, ROOMS, loaded
from tests.stream.protocol.pooled.pool import FAULT, START, USUAL

WINDOWS = 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    set_up_pool(tmp_path / "pool", ROOMS, CORRECTED, budget=1000)
    return tmp_path / "pool"


def judged(party: Party) -> list[tuple[int, str, int, tuple[str, ...]]]:
    assert isinstance(party, PooledOwner)
    return [(item.window, item.state, len(item.contributed), item.look_at) for item in party.verdicts()]


def test_a_fault_is_found_over_mqtt_though_the_broker_is_killed(tmp_path: Path) -> None:
    async def send(stack: AsyncExitStack, room: str, celsius: float) -> None:
        carrier = await stack.enter_async_context(running(tmp_path, f"sensor-{room}"))
        await carrier.connected()
        sensor = carrier.party
        assert isinstance(sensor, PooledSensor)
        await carrier.send(await carrier.call(sensor.send, [celsius], [START]))

    async def play() -> list[Any]:
        with reserved_port() as port:
            set_up_pool(tmp_path, ROOMS, CORRECTED, budget=1000, port=port)
            async with AsyncExitStack() as stack:
                async with broker(tmp_path):
                    for server in CORRECTION_SERVERS:
                        await (await stack.enter_async_context(running(tmp_path, server))).connected()
                    for room in ROOMS[:3]:
                        await send(stack, room, USUAL)
                async with broker(tmp_path):  # another, which knows nothing
                    owner = await stack.enter_async_context(running(tmp_path, "owner"))
                    await send(stack, "room-3", USUAL)
                    await send(stack, "room-4", FAULT)
                    await owner.until(lambda: bool(judged(owner.party)))
                    return judged(owner.party)

    ((window, state, contributed, look_at),) = asyncio.run(play())
    assert (window, state, contributed) == (0, "judged", len(ROOMS))
    assert "room-4" in look_at


@pytest.mark.slow
def test_every_window_gets_one_verdict_whoever_is_killed(tmp_path: Path, port: int) -> None:
    set_up_pool(tmp_path, ROOMS, CORRECTED, budget=1000, port=port)
    for number, room in enumerate(ROOMS):
        lines = [
            f"{START + 60 * window},{FAULT if window % len(ROOMS) == number else USUAL}"
            for window in range(WINDOWS)
        ]
        (tmp_path / f"sensor-{room}" / READINGS).write_text("\n".join(["time,celsius", *lines]))
    order = random.Random(7)
    verdicts: dict[int, dict[str, object]] = {}
    arrived: set[str] = set()
    with Processes(tmp_path, ROOMS, SERVERS) as processes:
        victims = [*order.sample(processes.addresses, 3), *order.sample(processes.addresses, 9)]
        while len(verdicts) < WINDOWS or len(arrived) < len(ROOMS):
            reports = processes.wait_for_reports(timeout=HUNG)
            assert reports, f"nothing happens after {len(verdicts)} verdicts"
            for event in reports:
                if event["event"] == "arrived":
                    arrived.add(event["from"])
                if event["from"] == "owner":
                    window = event["window"]
                    assert verdicts.setdefault(window, event) == event, "a window was judged twice"
            # Killed while something happens, not while nothing does.
            if victims:
                victim = victims.pop()
                processes.kill(victim)
                processes.start(victim)
    assert len(victims) <= 3, "each was killed at least once"
    with loaded(tmp_path, "owner").make_owner_of_pool() as owner:
        assert [(window, state, contributed) for window, state, contributed, _ in judged(owner)] == [
            (window, "judged", len(ROOMS)) for window in range(WINDOWS)
        ]
        assert all(f"room-{window % len(ROOMS)}" in look_at for window, _, _, look_at in judged(owner))
    for room in ROOMS:
        with loaded(tmp_path, f"sensor-{room}").make_sensor_of_pool() as sensor:
            assert (sensor.accepted, sensor.waiting) == (WINDOWS, 0)
            assert sensor.spent >= CORRECTED.cost_of(WINDOWS) / 10**9


def test_stream_init_writes_a_pool_by_its_declaration(tmp_path: Path, run: Run) -> None:
    facts = CORRECTED.to_dict()
    del facts["protocol"], facts["type"]
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump(facts))
    rooms = [word for room in ROOMS for word in ("--sensor", room)]
    given = ("--protocol", "correction", "--declaration", str(tmp_path / "pool.yaml"))
    done = run("init", str(tmp_path / "pool"), *given, *rooms, "--budget", "50")
    assert "enough for 10 windows" in done.stdout
    assert "each another sensor's" in done.stdout
    for party in ("detector", "corrector", "owner", "sensor-room-0"):
        config = loaded(tmp_path / "pool", party)
        assert config.config.pool == CORRECTED
        config.make_party().close()
    assert not list((tmp_path / "pool").glob("*/check.key"))
    few = run("init", str(tmp_path / "few"), *given, "--sensor", "room-0")
    assert "needs at least 4" in few.stderr


def test_the_detector_cannot_write_to_the_owner_nor_read_what_is_the_correctors(folder: Path) -> None:
    access = AccessList.parse((folder / "broker" / "access").read_text())
    assert not access.allows("detector", "write", "anonymaly/owner/from/detector")
    assert not access.allows("detector", "read", "anonymaly/corrector/from/sensor/room-0")
    assert access.allows("sensor/room-0", "write", "anonymaly/corrector/from/sensor/room-0")
    assert access.allows("corrector", "write", "anonymaly/owner/from/corrector")
    assert "owner" not in loaded(folder, "detector").config.peers


@pytest.mark.parametrize(
    ("party", "change", "field"),
    [
        ("sensor-room-0", {"ledger": None}, "ledger"),
        ("detector", {"check_key": "check.key"}, "check_key"),
        ("detector", {"party": "counter-1"}, "party"),
        ("detector", {"party": "corrector"}, "peers"),
        ("corrector", {"sensors": ["room-0"]}, "sensors"),
        ("corrector", {"pool": CORRECTED.to_dict() | {"window": 16}}, "window"),
    ],
)
def test_a_file_that_gives_a_party_too_much_or_too_little_is_refused(
    folder: Path, party: str, change: dict[str, Any], field: str
) -> None:
    path = folder / party / CONFIG
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))
    with pytest.raises(InputError) as refusal:
        load_config(path)
    assert field in (refusal.value.field or "")


def test_sensors_join_and_leave_and_earlier_verdicts_keep_their_meaning(folder: Path) -> None:
    def play(window: int, *rooms: str, broken: str) -> list[tuple[int, str, int, tuple[str, ...]]]:
        with ExitStack() as stack:
            names = (*CORRECTION_SERVERS, "owner", *(f"sensor-{room}" for room in rooms))
            parties = [stack.enter_context(loaded(folder, name).make_party()) for name in names]
            carried = LocalTransport(parties)
            for room in rooms:
                sensor = carried.parties[f"sensor/{room}"]
                assert isinstance(sensor, PooledSensor)
                celsius = FAULT if room == broken else USUAL
                carried.carry(sensor.send([celsius], [START + 60 * window]))
            return judged(carried.parties["owner"])

    first = play(0, *ROOMS, broken="room-4")
    changes.add_sensor(folder, "a-new-one", budget=500)  # first by the alphabet, last in lists
    second = play(1, *ROOMS, "a-new-one", broken="a-new-one")
    assert second[0] == first[0]
    assert "room-4" in second[0][3]
    assert second[1][2] == len(ROOMS) + 1
    assert "a-new-one" in second[1][3]
    changes.retire_sensor(folder, "room-0")
    third = play(2, *ROOMS[1:], "a-new-one", broken="room-1")
    assert [contributed for _, _, contributed, _ in third] == [5, 6, 5]


def test_it_is_declared_once(folder: Path, tmp_path: Path, run: Run) -> None:
    declared = tmp_path / "new.yaml"
    declared.write_text((folder / "stream.yaml").read_text())
    given = ("--declaration", str(declared), "--from-window", "4", "--reason", "a new range")
    done = run("declare", str(folder), *given, "--not-learned-from-readings")
    assert done.returncode == 2
    assert "a pool of correction, which cannot be declared anew" in done.stderr


def test_windows_are_given_up_by_command(folder: Path, run: Run) -> None:
    given = ("skip", "--config", str(folder / "owner" / CONFIG), "--reason", "a disk was lost")
    done = run(*given, "--until", "2")
    assert "2 windows from 0 to 1 had no verdict and are given up" in done.stdout
    assert "without --sensor" in run(*given, "--until", "4", "--sensor", "room-0").stderr
