# SPDX-License-Identifier: Apache-2.0
"""Through a broker the parties say and decide what they do in one process, whatever the broker does."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import aiomqtt
import numpy as np
import pytest

from anonymaly.declare.domain import Interval
from anonymaly.errors import Refused
from anonymaly.noise import Noise
from anonymaly.stream.programs import connection as connection_module
from anonymaly.stream.programs.carrier import MOST_SENT, Carrier
from anonymaly.stream.programs.seal import LARGEST_SEALED
from anonymaly.stream.protocol import sensor as sensor_module
from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.detector import StreamDetector
from anonymaly.stream.protocol.local import LocalTransport
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Readings
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.sensor import Sensor
from tests.stream.programs.by_mqtt import BUDGET, HUNG, broker, judged, load, prepare, running

WINDOW = 20
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
SENSORS = ("room-1", "room-2")


def batches(name: str, windows: int) -> list[np.ndarray]:
    """Readings in batches that do not end where windows do; the last one does."""
    generator = np.random.default_rng(SENSORS.index(name))
    readings = generator.normal((20, 40), (1, 2), (windows * WINDOW, 2))
    readings[7::31] = (74, 5)
    return [readings[start : start + 15] for start in range(0, len(readings), 15)]


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have every sensor draw the same noise each time this is called anew."""

    class Seeded:
        seeds: Iterator[int] = itertools.count()

        @classmethod
        def system(cls) -> Noise:
            return Noise.seeded(next(cls.seeds))

    monkeypatch.setattr(sensor_module, "Noise", Seeded)

    def again() -> None:
        Seeded.seeds = itertools.count()

    return again


def in_process(folder: Path, windows: int) -> tuple[set[bytes], dict[tuple[str, int], bytes]]:
    folder.mkdir()
    streams = dict.fromkeys(SENSORS, ROOM)
    sensors = [
        Sensor(
            name, ROOM, journal=folder / f"{name}.journal", ledger=folder / f"{name}.ledger", budget=BUDGET
        )
        for name in SENSORS
    ]
    owner = Owner(SENSORS, folder / "owner")
    heard: list[bytes] = []
    transport = LocalTransport(
        [
            *sensors,
            StreamDetector(streams, folder / "detector"),
            Corrector(streams, folder / "corrector"),
            owner,
        ],
        listener=lambda message: heard.append(message.to_bytes()),
    )
    for pair in zip(*(batches(name, windows) for name in SENSORS), strict=True):
        for sensor, batch in zip(sensors, pair, strict=True):
            transport.carry(sensor.send(batch))
    return set(heard), judged(owner)


async def send_all(carriers: list[Carrier], windows: int) -> None:
    for pair in zip(*(batches(name, windows) for name in SENSORS), strict=True):
        for carrier, batch in zip(carriers, pair, strict=True):
            assert isinstance(carrier.party, Sensor)
            await carrier.send(await carrier.call(carrier.party.send, batch))


@pytest.mark.slow
@pytest.mark.parametrize("restarts", [0, 2])
def test_through_a_broker_everything_is_said_as_in_one_process(
    tmp_path: Path, port: int, seeded: Callable[[], None], restarts: int
) -> None:
    windows = 3 * (1 + restarts)
    said, verdicts = in_process(tmp_path / "local", windows)
    seeded()
    heard: set[bytes] = set()

    def watch(message: Message, _: list[Outgoing]) -> None:
        heard.add(message.to_bytes())

    async def by_mqtt(folder: Path) -> dict[tuple[str, int], bytes]:
        prepare(folder, port, ROOM, SENSORS)
        async with (
            running(folder, "detector", watch),
            running(folder, "corrector", watch),
            running(folder, "owner", watch) as owner,
            running(folder, "sensor-room-1", watch) as first,
            running(folder, "sensor-room-2", watch) as second,
        ):
            for number in range(restarts):  # each broker forgets all that it had
                async with broker(folder):
                    if number == 0:
                        await send_all([first, second], windows)
                    await owner.until(lambda number=number: len(judged(owner.party)) > number)
            async with broker(folder):
                if restarts == 0:
                    await send_all([first, second], windows)
                await owner.until(lambda: len(judged(owner.party)) == len(SENSORS) * windows)
                async with asyncio.timeout(HUNG):
                    await asyncio.gather(first.settled(0), second.settled(0))
            return judged(owner.party)

    assert asyncio.run(by_mqtt(tmp_path / "mqtt")) == verdicts
    assert len(verdicts) == len(SENSORS) * windows
    # Receipts are acknowledged by nobody: one that a broker forgot is said again, never something else.
    assert heard <= said
    assert {data for data in said - heard if not _is_receipt(data)} == set()


def _is_receipt(data: bytes) -> bool:
    return data[3] == MessageReceipt.code


def test_what_one_party_publishes_never_stops_another(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = "sensor-room-2"

    async def run(folder: Path) -> int:
        prepare(folder, port, ROOM, SENSORS)
        async with (
            broker(folder),
            running(folder, "detector") as detector,
            running(folder, "corrector"),
            running(folder, "owner") as owner,
            running(folder, "sensor-room-1") as sensor,
        ):
            await detector.connected()
            loaded = load(folder, hostile)
            connection = loaded.make_connection()
            address = connection.broker
            seal = connection._seal
            about = "room-2"
            fine = seal.seal(Readings(about, 0, np.zeros((2, 2), np.int64)))
            rubbish = [
                b"", b"\0", fine[:40], fine[:-1], fine + b"!", bytes(1000), bytes(LARGEST_SEALED + 1),
                seal.seal(Readings("room-1", 0, np.zeros((2, 2), np.int64))),  # in the other's name
                seal.seal(Readings(about, 2**60, np.zeros((2, 2), np.int64))),  # far ahead
                seal.seal(Readings(about, 0, np.zeros((2, 3), np.int64))),  # of other columns
                seal.seal(Readings(about, 0, np.zeros((WINDOW + 1, 2), np.int64))),  # too long
                fine, fine, fine,
            ]  # fmt: skip
            async with aiomqtt.Client(
                address.host, address.port, username=address.username, password=address.password,
                identifier=address.username,
            ) as client:  # fmt: skip
                for payload in rubbish * 2:
                    await client.publish("anonymaly/detector/from/sensor/room-2", payload, qos=1)
            assert isinstance(sensor.party, Sensor)
            for batch in batches("room-1", 3):
                await sensor.send(await sensor.call(sensor.party.send, batch))
            await owner.until(lambda: len(judged(owner.party)) == 3)
            return detector.connection.counts["dropped"]

    with caplog.at_level("WARNING", "anonymaly.stream"):
        dropped = asyncio.run(run(tmp_path / "mqtt"))
    complaints = [record.getMessage() for record in caplog.records if record.name == "anonymaly.stream"]
    assert dropped >= 2 * 10
    assert all("sensor/room-2" in complaint for complaint in complaints)
    assert len(complaints) == len(set(complaints)) <= 11, "each reason is told of once"


def test_names_that_a_broker_makes_up_are_not_logged(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(tmp_path, port, ROOM)

    async def run() -> None:
        connection = load(tmp_path, "detector").make_connection()
        for number in range(50):
            topic = f"anonymaly/detector/from/invented-{number}"
            connection._take(aiomqtt.Message(topic, b"\2\3abc\3def", 1, False, 1, None))

    with caplog.at_level("WARNING", "anonymaly.stream"):
        asyncio.run(run())
    assert "invented" not in caplog.text
    assert len(caplog.records) == 1


def test_what_the_version_before_left_at_the_broker_is_refused_and_what_it_left_in_a_journal_arrives(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(folder: Path) -> None:
        prepare(folder, port, ROOM, SENSORS)
        loaded = load(folder, "sensor-room-1")
        with loaded.make_sensor() as sensor:
            sensor.send(batches("room-1", 1)[0])
            sensor.flush()  # both shares lie in the journal, in plain form
        address = loaded.make_connection().broker
        async with broker(folder), running(folder, "detector") as detector:
            await detector.connected()
            async with aiomqtt.Client(
                address.host, address.port, username=address.username, password=address.password,
                identifier=address.username,
            ) as client:  # fmt: skip
                await client.publish("anonymaly/detector/from/sensor/room-1", b"\1" + bytes(100), qos=1)
            async with (
                running(folder, "corrector"),
                running(folder, "owner") as owner,
                running(folder, "sensor-room-1"),
            ):
                await owner.until(lambda: len(judged(owner.party)) == 1)
            assert detector.connection.counts["dropped"] == 1

    with caplog.at_level("WARNING", "anonymaly.stream"):
        asyncio.run(run(tmp_path / "mqtt"))
    (complaint,) = [record.getMessage() for record in caplog.records if record.name == "anonymaly.stream"]
    assert "detector: dropped a message from sensor/room-1" in complaint
    assert "earlier version" in complaint


def test_the_broker_keeps_each_party_to_its_own_topics(tmp_path: Path, port: int) -> None:
    async def listen(folder: Path) -> list[str]:
        prepare(folder, port, ROOM, SENSORS)
        heard: list[str] = []
        async with (
            broker(folder),
            running(folder, "corrector") as corrector,
            running(folder, "sensor-room-1") as sensor,
        ):
            await asyncio.gather(corrector.connected(), sensor.connected())
            address = load(folder, "detector").make_connection().broker
            async with aiomqtt.Client(
                address.host, address.port, username=address.username, password=address.password,
                identifier=address.username,
            ) as client:  # fmt: skip
                granted = [await client.subscribe(pattern, qos=1) for pattern in (
                    "#", "anonymaly/#", "anonymaly/corrector/from/#", "anonymaly/+/from/#",
                    "anonymaly/detector/from/#",
                )]  # fmt: skip
                assert [codes[0].is_failure for codes in granted] == [True] * 4 + [False]
                # What it writes in the name of another, or to whom it has nothing to say, goes nowhere.
                await client.publish("anonymaly/corrector/from/sensor/room-1", b"forged", qos=1)
                await client.publish("anonymaly/owner/from/detector", b"forged", qos=1)
                assert isinstance(sensor.party, Sensor)
                await sensor.send(await sensor.call(sensor.party.send, batches("room-1", 1)[0]))
                async with asyncio.timeout(HUNG):
                    async for message in client.messages:
                        heard.append(str(message.topic))
                        break
            await corrector.until(lambda: corrector.connection.counts["received"] >= 1)
            assert corrector.connection.counts["dropped"] == 0
        return heard

    assert asyncio.run(listen(tmp_path / "mqtt")) == ["anonymaly/detector/from/sensor/room-1"]


@pytest.mark.parametrize("party", ["detector", "sensor-room-1"])
def test_who_has_the_wrong_password_is_told_so(tmp_path: Path, port: int, party: str) -> None:
    async def run(folder: Path) -> None:
        prepare(folder, port, ROOM, SENSORS)
        password = folder / party / "broker.password"
        password.write_bytes((folder / "owner" / "broker.password").read_bytes())
        async with broker(folder):
            await load(folder, party).make_connection().run()

    with pytest.raises(Refused, match="does not let"):
        asyncio.run(run(tmp_path / "mqtt"))


@pytest.mark.slow
def test_a_server_that_is_away_costs_bounded_memory_and_gets_everything_later(
    tmp_path: Path, port: int
) -> None:
    windows = MOST_SENT  # twice as many messages as may be on their way

    async def run(folder: Path) -> None:
        prepare(folder, port, ROOM)
        async with broker(folder), running(folder, "sensor-room-1") as sensor:
            await sensor.connected()
            assert isinstance(sensor.party, Sensor)
            readings = np.tile((20.0, 40.0), (windows * WINDOW, 1))
            await sensor.send(await sensor.call(sensor.party.send, readings))
            assert len(sensor._outbox) == MOST_SENT < sensor.party.waiting == 2 * windows
            waiting = asyncio.create_task(sensor.settled(16))
            await asyncio.sleep(0)  # it begins
            await sensor.call(lambda: None)  # behind what it asked the party
            assert not waiting.done(), "nothing more is taken in while so much is on its way"
            async with (
                running(folder, "detector"),
                running(folder, "corrector"),
                running(folder, "owner") as owner,
            ):
                await owner.until(lambda: len(judged(owner.party)) == windows)
            async with asyncio.timeout(HUNG):
                await waiting

    asyncio.run(run(tmp_path / "mqtt"))


def test_one_sender_that_floods_takes_no_room_from_others(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "MOST_FROM_ONE", 8 * connection_module.EACH)
    monkeypatch.setattr(connection_module, "MOST_ARRIVED", 100 * connection_module.EACH)

    async def run(folder: Path) -> list[tuple[str, int]]:
        prepare(folder, port, ROOM, SENSORS)
        connection = load(folder, "detector").make_connection()
        seals = {name: load(folder, f"sensor-{name}").make_connection()._seal for name in SENSORS}

        def arrive(name: str, message: Message) -> None:
            where = f"anonymaly/detector/from/sensor/{name}"
            connection._take(aiomqtt.Message(where, seals[name].seal(message), 1, False, 1, None))

        nothing = np.zeros((0, 2), np.int64)
        for window in range(1000):
            arrive("room-2", Readings("room-2", window, nothing))
        arrive("room-1", Readings("room-1", 0, nothing))
        waiting = 1001 - connection.counts["crowded out"]
        return [
            (message.sensor, message.window)
            for message in [await connection.arrived() for _ in range(waiting)]
        ]

    *flood, last = asyncio.run(run(tmp_path / "mqtt"))
    assert flood == [("room-2", window) for window in range(len(flood))]
    assert len(flood) < 10
    assert last == ("room-1", 0)
