# SPDX-License-Identifier: Apache-2.0
"""A real Mosquitto with TLS, certificates, passwords and access lists as `stream init` writes them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from aiomqtt import MqttError

from anonymaly.errors import Refused
from anonymaly.stream import CountingSensor, PoolOwner
from anonymaly.stream.counting.messages import COUNTERS
from anonymaly.stream.counting.owner import PoolJudgement
from anonymaly.stream.programs import changes
from anonymaly.stream.programs.client import BrokerAddress, make_client
from anonymaly.stream.programs.connection import Connection
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import reserved_port
from anonymaly.stream.programs.seal import LARGEST_SEALED
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.sensor import Sensor
from tests.stream.programs.by_mqtt import HUNG, judged, load, running
from tests.stream.programs.pools import COUNTED, ROOMS, START
from tests.stream.protocol.parties import ROOM

MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
SENSORS = ["room-1", "room-2"]
DAY = np.full((ROOM.window, 1), 20.0)
pytestmark = pytest.mark.skipif(
    MOSQUITTO is None, reason="mosquitto is not installed; install: apt-get install mosquitto"
)


@contextmanager
def mosquitto(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Mosquitto as the comment in its file says, once it takes connections."""
    process = subprocess.Popen(
        [str(MOSQUITTO), "-c", "mosquitto.conf"], cwd=folder / "broker", stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if "running" in line:
                break
        else:
            pytest.fail("".join(said))
        yield process
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("stream")
    with reserved_port() as port:
        set_up(folder, SENSORS, ROOM, budget=10**6, port=port, tls=True, mqtt="5")
        with mosquitto(folder):
            yield folder


def address_of(folder: Path, party: str, **other: object) -> BrokerAddress:
    known = load(folder, party).make_connection().broker
    return BrokerAddress(**(vars(known) | other))  # type: ignore[arg-type]


async def trouble(folder: Path, party: str, caplog: pytest.LogCaptureFixture, **other: object) -> str:
    """Return what a party logs first about why it cannot connect."""
    seal = load(folder, party).make_connection()._seal
    connection = Connection(address_of(folder, party, **other), "anonymaly", seal)
    task = asyncio.create_task(connection.run())
    try:
        async with asyncio.timeout(HUNG):
            while connection._trouble is None and not task.done():
                await asyncio.sleep(0)
        if task.done():
            task.result()
        return " ".join(record.getMessage() for record in caplog.records)
    finally:
        task.cancel()
        await asyncio.wait([task])


def test_windows_are_judged_through_mosquitto_with_tls_and_access_lists(stream: Path) -> None:
    async def run() -> int:
        async with (
            running(stream, "detector") as detector,
            running(stream, "corrector"),
            running(stream, "owner") as owner,
            running(stream, "sensor-room-1") as first,
            running(stream, "sensor-room-2") as second,
        ):
            for carrier in (first, second):
                assert isinstance(carrier.party, Sensor)
                await carrier.send(await carrier.call(carrier.party.send, np.tile(DAY, (3, 1))))
            await owner.until(lambda: len(judged(owner.party)) == 6)
            async with asyncio.timeout(HUNG):
                await asyncio.gather(first.settled(0), second.settled(0))
            assert detector.connection.broker.mqtt == detector.connection._mqtt == "5"
            return detector.connection.counts["denied"]

    assert asyncio.run(run()) == 0


def test_a_pool_is_judged_through_mosquitto_with_tls_and_access_lists(tmp_path: Path) -> None:
    async def run() -> list[PoolJudgement]:
        async with AsyncExitStack() as stack:
            parties = (*COUNTERS, "owner", *(f"sensor-{room}" for room in ROOMS))
            carriers = [await stack.enter_async_context(running(tmp_path, party)) for party in parties]
            for carrier in carriers[3:]:
                assert isinstance(carrier.party, CountingSensor)
                celsius = 74.0 if carrier.party.name == ROOMS[-1] else 20.5
                await carrier.send(await carrier.call(carrier.party.send, [celsius], [START]))
            owner = carriers[2].party
            assert isinstance(owner, PoolOwner)
            await carriers[2].until(lambda: len(list(owner.verdicts())) == 1)
            assert all(carrier.connection.counts["denied"] == 0 for carrier in carriers)
            return list(owner.verdicts())

    with reserved_port() as port:
        set_up_pool(tmp_path, ROOMS, COUNTED, budget=1000, port=port, tls=True, mqtt="5")
        with mosquitto(tmp_path):
            (verdict,) = asyncio.run(run())
    assert (verdict.state, verdict.faults) == ("judged", (ROOMS[-1],))


def test_what_the_broker_refuses_to_take_is_said(stream: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        denied: list[str] = []
        known = address_of(stream, "sensor-room-2")
        async with make_client(known, known.username, "5", asyncio.Queue, denied.append) as client:
            await client.publish("anonymaly/detector/from/sensor/room-2", b"mine", qos=1)
            assert denied == []
            for topic in (
                "detector/from/sensor/room-1",
                "owner/from/corrector",
                "sensor/room-1/from/detector",
            ):
                await client.publish(f"anonymaly/{topic}", b"forged", qos=1)
            assert denied == ["Not authorized (code 135)"] * 3
        seal = load(stream, "sensor-room-2").make_connection()._seal
        connection = Connection(known, "elsewhere", seal)  # a prefix that the access list does not grant
        task = asyncio.create_task(connection.run())
        async with asyncio.timeout(HUNG):
            await connection.connected.wait()
        with load(stream, "sensor-room-2").make_sensor() as sensor:
            await connection.publish(sensor.send([20.0])[0].message)
        assert connection.counts["denied"] == 1
        task.cancel()
        await asyncio.wait([task])

    with caplog.at_level("WARNING", "anonymaly.stream"):
        asyncio.run(run())
    assert "refuses what it publishes: Not authorized (code 135)" in caplog.text


def test_nobody_hears_what_is_for_others(stream: Path) -> None:
    async def run() -> list[str]:
        known = address_of(stream, "sensor-room-2")
        heard: list[str] = []
        async with (
            running(stream, "detector"),
            running(stream, "sensor-room-1") as sensor,
            make_client(known, known.username, "5", asyncio.Queue, lambda _: None) as client,
        ):
            for pattern in ("#", "anonymaly/#", "anonymaly/detector/from/#", "anonymaly/+/+/+/#", "$SYS/#"):
                await client.subscribe(pattern, qos=1)
            await client.subscribe("anonymaly/sensor/room-2/from/#", qos=1)
            assert isinstance(sensor.party, Sensor)
            await sensor.send(await sensor.call(sensor.party.send, DAY))
            await sensor.until(lambda: sensor.party.waiting <= 1)  # the detector has answered
            # What is for room-2 comes behind everything that came before.
            theirs = address_of(stream, "corrector")
            async with make_client(theirs, theirs.username, "5", asyncio.Queue, lambda _: None) as corrector:
                await corrector.publish("anonymaly/sensor/room-2/from/corrector", b"last", qos=1)
                async with asyncio.timeout(HUNG):
                    async for message in client.messages:
                        heard.append(str(message.topic))
                        if message.payload == b"last":
                            return heard
        return heard

    assert set(asyncio.run(run())) <= {
        "anonymaly/sensor/room-2/from/corrector", "anonymaly/sensor/room-2/from/detector",
    }  # fmt: skip


def test_each_reason_why_there_is_no_connection_is_told_apart(
    stream: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "anonymaly.stream")
    other = tmp_path / "other"
    set_up(other, ["room-1"], ROOM, budget=1, tls=True)
    with pytest.raises(Refused, match=r"has a certificate that .*other/owner/ca\.crt does not vouch for"):
        asyncio.run(trouble(stream, "owner", caplog, authorities=str(other / "owner" / "ca.crt")))
    with pytest.raises(Refused, match="refuses the user or the password"):
        asyncio.run(trouble(stream, "owner", caplog, **{"password": "guess"}))
    none = {"certificate": None, "certificate_key": None}
    said = asyncio.run(trouble(stream, "owner", caplog, authorities=None, **none))
    assert "ends the connection without an answer. If its port is for TLS" in said
    caplog.clear()
    theirs = {name: str(other / "owner" / file) for name, file in
              (("certificate", "client.crt"), ("certificate_key", "client.key"))}  # fmt: skip
    for certificate in (none, theirs):
        said = asyncio.run(trouble(stream, "owner", caplog, **certificate))
        assert "without an answer" in said or "does not agree on TLS" in said
        caplog.clear()
    with reserved_port() as port:
        assert "does not answer" in asyncio.run(trouble(stream, "owner", caplog, port=port))
        set_up(tmp_path / "plain", ["room-1"], ROOM, budget=1, port=port)
        caplog.clear()
        with mosquitto(tmp_path / "plain"):
            assert "when TLS begins" in asyncio.run(trouble(stream, "owner", caplog, port=port))


def test_a_party_that_was_copied_is_told_that_another_took_its_place(
    stream: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        first, second = (load(stream, "owner").make_connection() for _ in range(2))
        tasks = [asyncio.create_task(first.run())]
        async with asyncio.timeout(HUNG):
            await first.connected.wait()
            tasks.append(asyncio.create_task(second.run()))
            while not any(one._trouble and one._trouble.taken_over for one in (first, second)):
                await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    with caplog.at_level("WARNING", "anonymaly.stream"):
        asyncio.run(run())
    assert "ends owner's connections at once, as it does when another program has the name" in caplog.text


def test_a_packet_that_is_too_large_is_refused_before_it_is_kept(stream: Path) -> None:
    async def run() -> None:
        known = address_of(stream, "sensor-room-2")
        async with make_client(known, known.username, "3.1.1", asyncio.Queue, lambda _: None) as client:
            topic = "anonymaly/detector/from/sensor/room-2"
            sending = asyncio.create_task(client.publish(topic, bytes(LARGEST_SEALED + 2000), qos=1))
            try:
                async with asyncio.timeout(HUNG):
                    async for _ in client.messages:
                        pass
            finally:
                sending.cancel()

    with pytest.raises(MqttError, match="Disconnected"):
        asyncio.run(run())


def test_a_retired_sensor_is_shut_out_while_the_broker_runs(tmp_path: Path, port: int) -> None:
    set_up(tmp_path, SENSORS, ROOM, budget=10**6, port=port, tls=True, mqtt="5")
    known = address_of(tmp_path, "sensor-room-2")

    async def get_in() -> None:
        async with make_client(known, known.username, "5", asyncio.Queue, lambda _: None):
            pass

    with mosquitto(tmp_path) as process:
        asyncio.run(get_in())
        changes.retire_sensor(tmp_path, "room-2")
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert any("Reloading config" in line for line in process.stderr)
        with pytest.raises(MqttError, match=r"Not authorized|Bad user"):
            asyncio.run(get_in())
