# SPDX-License-Identifier: Apache-2.0
"""Fetching a reading over MQTT and by the commands: who may write to whom, and consent while it runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.ledger import Ledger
from anonymaly.stream import Owner, PoolOwner, Sensor
from anonymaly.stream.counting.messages import COUNTERS, PoolVerdict, WindowState
from anonymaly.stream.programs import answering as answering_module
from anonymaly.stream.programs.answering import NewAnswers, answering
from anonymaly.stream.programs.changes import retire_sensor
from anonymaly.stream.programs.keeping import keep_readings
from anonymaly.stream.programs.mosquitto import AccessList
from anonymaly.stream.programs.pool_config import load_config
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.register import CONFIG
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.giving_sensor import HOLDER, decide
from anonymaly.stream.protocol.messages import Verdict
from tests.stream.programs.by_mqtt import HUNG, broker, load, running
from tests.stream.programs.conftest import Run
from tests.stream.programs.pools import COUNTED, ROOMS
from tests.stream.protocol.parties import ROOM

FAULT = 74.25
DAY = [20.0] * (ROOM.window - 1) + [FAULT]
LAST = ROOM.window - 1
WHY = "is the window open?"


def write(folder: Path, port: int = 1883, *keeping: str) -> None:
    set_up(folder, ["room-1", "room-2"], ROOM, budget=10**6, port=port)
    if keeping:
        keep_readings(folder, keeping, 8)


def access(folder: Path) -> AccessList:
    return AccessList.parse((folder / "broker" / "access").read_text())


def flag(owner: Owner) -> None:
    """Have the owner hold the verdict that servers would give of the day."""
    flagged, nobody = np.arange(ROOM.window) == LAST, np.zeros(ROOM.window, np.bool_)
    owner.handle(Verdict("room-1", 0, flagged, nobody, nobody, nobody))


def test_there_is_a_way_between_owner_and_sensor_only_where_readings_are_kept(tmp_path: Path) -> None:
    to, back = "anonymaly/sensor/{}/from/owner", "anonymaly/owner/from/sensor/{}"
    write(tmp_path)
    for room in ("room-1", "room-2"):
        assert not access(tmp_path).allows("owner", "write", to.format(room))
        assert not access(tmp_path).allows(f"sensor/{room}", "write", back.format(room))
    keep_readings(tmp_path, ["room-1"], 8)
    allowed = access(tmp_path)
    assert allowed.allows("owner", "write", to.format("room-1"))
    assert allowed.allows("sensor/room-1", "write", back.format("room-1"))
    assert not allowed.allows("owner", "write", to.format("room-2"))
    assert not allowed.allows("sensor/room-2", "write", back.format("room-2"))
    for server in ("detector", "corrector"):
        assert not allowed.allows(server, "read", to.format("room-1"))
        assert not allowed.allows(server, "write", to.format("room-1"))
    assert load(tmp_path, "owner").config.peers.keys() == {"corrector", "sensor/room-1"}
    assert load(tmp_path, "sensor-room-1").config.keep == 8
    keep_readings(tmp_path, [], 0)
    assert not access(tmp_path).allows("owner", "write", to.format("room-1"))
    assert load(tmp_path, "sensor-room-1").config.peers.keys() == {"corrector", "detector"}
    load(tmp_path, "owner").make_party().close()


def test_a_retired_sensor_is_asked_no_more(tmp_path: Path) -> None:
    write(tmp_path, 1883, "room-1", "room-2")
    owner = load(tmp_path, "owner").make_owner()
    flag(owner)
    owner.fetch("room-1", 0, LAST, reason=WHY)
    owner.close()
    retire_sensor(tmp_path, "room-1")
    assert not access(tmp_path).allows("owner", "write", "anonymaly/sensor/room-1/from/owner")
    with load(tmp_path, "owner").make_owner() as owner:
        assert owner.fetchable == {"room-2"}
        assert [item.state for item in owner.fetches()] == ["withdrawn"]
        assert not owner.waiting, "nothing is sealed to somebody without a key"


@pytest.mark.parametrize(
    ("party", "change", "field"),
    [
        ("sensor-room-2", {"keep": 4}, "peers"),  # without a way to be asked
        ("sensor-room-1", {"keep": 0}, "peers"),  # with one, and nothing kept
        ("sensor-room-2", {"consent": "always"}, "consent"),
        ("sensor-room-1", {"keep": -1}, "keep"),
        ("sensor-room-1", {"consent": "sometimes"}, "consent"),
        ("owner", {"keep": 4}, "keep"),
        ("detector", {"keep": 4}, "keep"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    tmp_path: Path, party: str, change: dict[str, Any], field: str
) -> None:
    write(tmp_path, 1883, "room-1")
    path = tmp_path / party / CONFIG
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))
    with pytest.raises(InputError) as refusal:
        load_config(path)
    assert (refusal.value.field or "").startswith(field)


def test_keeping_is_changed_only_where_the_sensor_is(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InputError, match="not among the sensors"):
        keep_readings(tmp_path, ["room-9"], 8)
    (tmp_path / "sensor-room-2").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is not here"):
        keep_readings(tmp_path, [], 8)


def test_a_reading_is_fetched_over_mqtt_by_a_consent_given_while_the_sensor_runs(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering_module, "LOOK_AGAIN", 0.05)
    events: list[dict[str, Any]] = []
    asked = asyncio.Event()

    def report(event: dict[str, Any]) -> None:
        events.append(event)
        asked.set()

    async def play() -> tuple[Any, ...]:
        write(tmp_path, port, "room-1")
        async with (
            broker(tmp_path),
            running(tmp_path, "sensor-room-1") as sensor,
            running(tmp_path, "owner") as owner,
        ):
            assert isinstance(sensor.party, Sensor)
            assert isinstance(owner.party, Owner)
            await sensor.connected()
            await owner.connected()

            async def nothing(_: object) -> None:
                """Have no readings to send."""

            await sensor.call(sensor.party.send, DAY)
            flag(owner.party)
            answers = NewAnswers(owner.party.fetches)
            work = answering(sensor.party, report, nothing, stay=True)
            task = asyncio.ensure_future(work(sensor))
            await owner.send(await owner.call(lambda: owner.party.fetch("room-1", 0, LAST, reason=WHY)))
            async with asyncio.timeout(HUNG):
                await asked.wait()
            assert not answers.take()
            config = load(tmp_path, "sensor-room-1")
            with Ledger.open(config.ledger, anchor=config.anchor, create=False) as book:
                decide(book, "room-1", events[0]["request"], gives=True, by=HOLDER, reason="it was")
            await owner.until(lambda: owner.party.fetches()[0].state == "given")
            task.cancel()
            return owner.party.fetches()[0].values, answers.take(), answers.take()

    values, told, later = asyncio.run(play())
    assert values == (FAULT,)
    assert [(item["event"], item["state"]) for item in told] == [("reading", "given")]
    assert "values" not in told[0], "a program's output may lie in logs"
    assert later == []
    assert [(item["event"], item["reason"]) for item in events] == [("request", WHY)]


def test_the_commands_lead_from_a_verdict_to_a_reading(tmp_path: Path, port: int, run: Run) -> None:
    write(tmp_path / "rooms", port)
    sensor, owner = (f"rooms/{party}/{CONFIG}" for party in ("sensor-room-1", "owner"))
    assert run("consent", "--config", sensor, "0-9-0123456789", "--reason", "x").returncode == 2
    kept = run("keep", "rooms", "--sensor", "room-1", "--windows", "8", "--json")
    assert "sensor-room-1/config.yaml" in json.loads(kept.stdout)["changed"]
    with load(tmp_path / "rooms", "sensor-room-1").make_sensor() as party:
        party.send(DAY, ["09:15"] * len(DAY))
    with load(tmp_path / "rooms", "owner").make_owner() as party:
        flag(party)
    assert "No reading was asked for" in run("fetched", "--config", owner).stdout
    question = ("fetch", "--config", owner, "--sensor", "room-1", "--window", "0", "--reason", WHY)
    assert "place" in run(*question).stderr
    assert "no verdict names" in run(*question, "--place", "0").stderr
    assert "its holder decides" in run(*question, "--place", str(LAST)).stdout
    assert "has not decided yet" in run("fetched", "--config", owner).stdout
    assert "No request waits" in run("requests", "--config", sensor).stdout

    async def carry() -> None:
        async with (
            broker(tmp_path / "rooms"),
            running(tmp_path / "rooms", "sensor-room-1"),
            running(tmp_path / "rooms", "owner") as there,
        ):
            assert isinstance(there.party, Owner)
            await there.connected()
            await there.until(lambda: not there.party.waiting)

    asyncio.run(carry())
    shown = run("requests", "--config", sensor)
    assert WHY in shown.stdout
    (request,) = json.loads(run("requests", "--config", sensor, "--json").stdout)["requests"]
    assert "no name of a request" in run("consent", "--config", sensor, "12", "--reason", "x").stderr
    unknown = run("consent", "--config", sensor, "0-9-0123456789", "--reason", "x")
    assert "does not wait" in unknown.stderr
    consented = run("consent", "--config", sensor, request["request"], "--reason", "it was")
    assert "no ε bounds it" in consented.stdout
    ledger = run(sensor, group="ledger").stdout
    assert "In clear, by consent: 1 reading may be handed over" in " ".join(ledger.split())

    async def answer() -> None:
        async with (
            broker(tmp_path / "rooms"),
            running(tmp_path / "rooms", "sensor-room-1"),
            running(tmp_path / "rooms", "owner") as there,
        ):
            assert isinstance(there.party, Owner)
            await there.until(lambda: there.party.fetches()[0].state != "waiting")

    asyncio.run(answer())
    assert f"celsius {FAULT} at 09:15, in clear by consent" in run("fetched", "--config", owner).stdout
    (found,) = json.loads(run("fetched", "--config", owner, "--json").stdout)["fetched"]
    assert (found["state"], found["values"]) == ("given", [FAULT])


def test_a_decision_may_be_given_while_the_sensors_program_has_its_journal(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "rooms", 1883, "room-1")
    config = f"rooms/sensor-room-1/{CONFIG}"
    with load(tmp_path / "rooms", "sensor-room-1").make_sensor() as party:
        party.send(DAY)
        said = run("consent", "--config", config, "0-9-0123456789", "--reason", "no", "--refuse", "--json")
        assert json.loads(said.stdout) == {
            "request": "0-9-0123456789", "gives": False, "reason": "no", "running": True,
        }  # fmt: skip
        assert party.given == 0
        assert run("requests", "--config", config).returncode != 0


def test_a_pools_owner_asks_for_the_one_reading_of_a_sensor_in_a_window(tmp_path: Path, run: Run) -> None:
    set_up_pool(tmp_path / "pool", ROOMS, COUNTED, budget=1000)
    keep_readings(tmp_path / "pool", [ROOMS[0]], 96, consent="always")
    config = load_config(tmp_path / "pool" / f"sensor-{ROOMS[0]}" / CONFIG).config
    assert sorted(config.peers) == [*COUNTERS, "owner"]
    assert (config.keep, config.consent) == (96, "always")
    members = np.ones(len(ROOMS), np.bool_)
    verdict = PoolVerdict(COUNTED.pool, 0, WindowState.JUDGED, members, np.arange(5) < 2, ~members)
    with load_config(tmp_path / "pool" / "owner" / CONFIG).make_party() as owner:
        assert isinstance(owner, PoolOwner)
        with owner.journal.transaction():
            owner.journal.judge(COUNTED.pool, 0, verdict.to_bytes())
    asks = ("fetch", "--config", f"pool/owner/{CONFIG}", "--window", "0", "--reason", WHY, "--sensor")
    assert "cannot be asked" in run(*asks, ROOMS[1]).stderr
    assert run(*asks, ROOMS[0]).returncode == 0
    (found,) = json.loads(run("fetched", "--config", f"pool/owner/{CONFIG}", "--json").stdout)["fetched"]
    assert (found["sensor"], found["place"], found["state"]) == (ROOMS[0], 0, "waiting")
