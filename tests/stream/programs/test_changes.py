# SPDX-License-Identifier: Apache-2.0
"""A stream that runs is changed without new keys for those who are not concerned."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from anonymaly.errors import BudgetExceeded, DeclarationChanged, InputError
from anonymaly.ledger import Ledger
from anonymaly.stream import LocalTransport, Owner, Party, Sensor
from anonymaly.stream.programs import changes
from anonymaly.stream.programs.mosquitto import AccessList, password_matches
from anonymaly.stream.programs.register import Register, update_folder
from anonymaly.stream.programs.seal import NotGenuine
from anonymaly.stream.programs.setup import example_declaration, public_facts, set_up
from anonymaly.stream.protocol.messages import Readings
from tests.stream.programs.by_mqtt import load
from tests.stream.programs.conftest import Run

SERVERS = ("corrector", "detector", "owner")
ROOM = example_declaration()
DRIFTED = ROOM.model_copy(update={"window": 8, "parameters": (("radius", 30),)})


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    folder = tmp_path / "stream"
    set_up(folder, ["room-1", "room-2"], ROOM, budget=2000)
    return folder


def secrets(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in folder.rglob("*") if path.suffix in (".key", ".password")
    }


def users(folder: Path) -> set[str]:
    return {line.partition(":")[0] for line in (folder / "broker" / "passwords").read_text().splitlines()}


def parties(folder: Path, *sensors: str) -> dict[str, Party]:
    made = [load(folder, name).make_party() for name in (*SERVERS, *(f"sensor-{name}" for name in sensors))]
    return {party.address: party for party in made}


def test_a_sensor_is_added_and_nobody_else_gets_a_new_key(stream: Path) -> None:
    before = secrets(stream)
    changes.add_sensor(stream, "room-3", budget=500)
    assert {path: content for path, content in secrets(stream).items() if path in before} == before
    assert "sensor/room-3" in users(stream)
    access = AccessList.parse((stream / "broker" / "access").read_text())
    assert access.allows("sensor/room-3", "write", "anonymaly/detector/from/sensor/room-3")
    all_parties = parties(stream, "room-1", "room-2", "room-3")
    sensor, owner = all_parties["sensor/room-3"], all_parties["owner"]
    assert isinstance(sensor, Sensor)
    assert isinstance(owner, Owner)
    assert sensor.remaining == 500
    LocalTransport(all_parties.values()).carry(sensor.send(np.full((ROOM.window, 1), 20.0)))
    assert [item.verdict.sensor for item in owner.verdicts()] == ["room-3"]
    for party in all_parties.values():
        party.close()
    with pytest.raises(InputError, match="its name stays its own"):
        changes.add_sensor(stream, "room-3", budget=500)


def test_a_retired_sensor_is_shut_out_and_what_it_sent_is_still_judged(stream: Path) -> None:
    with load(stream, "sensor-room-2").make_sensor() as sensor:
        sent = sensor.send(np.full((ROOM.window, 1), 20.0))
    old = load(stream, "sensor-room-2").make_connection()._seal
    changes.retire_sensor(stream, "room-2")
    assert "sensor/room-2" not in users(stream)
    assert "room-2" not in (stream / "broker" / "access").read_text()
    for server in ("detector", "corrector"):
        assert "sensor/room-2" not in load(stream, server).config.peers
    with pytest.raises(NotGenuine, match="not a peer"):
        load(stream, "detector").make_connection()._seal.open(old.seal(sent[0].message))
    all_parties = parties(stream, "room-1")
    transport = LocalTransport(all_parties.values())
    transport.parties["sensor/room-2"] = load(stream, "sensor-room-2").make_sensor()
    transport.carry(sent)  # had arrived before
    owner = all_parties["owner"]
    assert isinstance(owner, Owner)
    assert [item.verdict.sensor for item in owner.verdicts()] == ["room-2"]
    for party in transport.parties.values():
        party.close()
    with pytest.raises(InputError, match="not among the sensors"):
        changes.retire_sensor(stream, "room-2")
    with pytest.raises(InputError, match="retired"):
        changes.add_sensor(stream, "room-2", budget=1)
    changes.add_sensor(stream, "room-4", budget=1)
    assert set(load(stream, "detector").config.streams) == {"room-1", "room-2", "room-4"}


@pytest.mark.parametrize("address", ["detector", "sensor/room-1"])
def test_a_rotated_key_opens_what_is_sealed_anew_and_the_old_one_nothing(stream: Path, address: str) -> None:
    name = address.replace("/", "-")
    message = Readings("room-1", 0, np.zeros((1, 1), np.int64))
    sender, recipient = load(stream, "sensor-room-1"), load(stream, "detector")
    before = sender.make_connection()._seal.seal(message)
    line = Register.load(stream).passwords[address]
    changes.rotate_key(stream, address)
    password = (stream / name / "broker.password").read_text()
    (new,) = [
        text
        for text in (stream / "broker" / "passwords").read_text().splitlines()
        if text.startswith(address)
    ]
    assert password_matches(new, address, password)
    assert not password_matches(line, address, password)
    sender, recipient = load(stream, "sensor-room-1"), load(stream, "detector")
    with pytest.raises(NotGenuine, match="damaged, or was not written"):
        recipient.make_connection()._seal.open(before)
    assert recipient.make_connection()._seal.open(sender.make_connection()._seal.seal(message)) == message
    with pytest.raises(InputError, match="is no party"):
        changes.rotate_key(stream, "sensor/room-9")


def test_a_folder_that_was_moved_follows_the_register(stream: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "machine"
    elsewhere.mkdir()
    shutil.move(stream / "detector", elsewhere / "detector")
    changes.add_sensor(stream, "room-3", budget=500)
    changes.rotate_key(stream, "corrector")
    shutil.copy(stream / "stream.yaml", elsewhere)
    changed = update_folder(elsewhere, Register.load(elsewhere))
    assert [path.name for path in changed] == ["stream.yaml", "config.yaml"]
    config = load(elsewhere, "detector").config
    assert "room-3" in config.streams
    assert config.peers["corrector"] == Register.load(stream).keys["corrector"]
    assert update_folder(elsewhere, Register.load(elsewhere)) == [elsewhere / "stream.yaml"]
    with pytest.raises(InputError, match="is not here"):
        changes.rotate_key(stream, "detector")


def test_a_declaration_changes_at_the_end_of_a_window_under_the_same_account(stream: Path) -> None:
    all_parties = parties(stream, "room-1")
    sensor, owner = all_parties["sensor/room-1"], all_parties["owner"]
    assert isinstance(sensor, Sensor)
    LocalTransport(all_parties.values()).carry(sensor.send([20.0] * 18))  # two readings of the second window
    for party in all_parties.values():
        party.close()
    window, _ = changes.declare_anew(stream, "room-1", DRIFTED, reason="summer", learned_from_readings=False)
    assert window == 2
    all_parties = parties(stream, "room-1")
    sensor, owner = all_parties["sensor/room-1"], all_parties["owner"]
    assert isinstance(sensor, Sensor)
    assert isinstance(owner, Owner)
    transport = LocalTransport(all_parties.values())
    transport.resume()
    transport.carry(sensor.send([20.0] * 8))
    assert [len(item.verdict.found) for item in owner.verdicts()] == [16, 2, 8]
    assert (sensor.spent, sensor.accepted) == (26 * 5, 26)
    said = sensor.promise().describe()
    assert "Of 18 readings under the declaration 1 before, within its ranges: ε = 90." in said
    assert "Together, if all are one person's: ε = 130." in said
    assert sensor.promise().to_dict()["earlier"] == [{"readings": 18, "epsilon": "90"}]
    for party in all_parties.values():
        party.close()
    with Ledger.audit(stream / "sensor-room-1" / "sensor.ledger") as book:
        opened, amended = book.declarations("room-1")
        assert (opened.amended, amended.reason) == (False, "summer")
        assert book.verify().ok
    # Said twice, or cut off before the files were written, it is one change.
    again, _ = changes.declare_anew(stream, "room-1", DRIFTED, reason="summer", learned_from_readings=False)
    assert again == 3
    assert len(Register.load(stream).earlier["room-1"]) == 1


def test_a_change_that_was_cut_off_behind_the_ledger_is_finished_by_saying_it_again(stream: Path) -> None:
    with load(stream, "sensor-room-1").make_sensor() as sensor:
        sensor.send([20.0])
        assert sensor.amend(DRIFTED, reason="summer", learned_from_readings=False) == 1
    with pytest.raises(DeclarationChanged):
        load(stream, "sensor-room-1").make_sensor()
    changes.declare_anew(stream, "room-1", DRIFTED, reason="summer", learned_from_readings=False)
    with load(stream, "sensor-room-1").make_sensor() as sensor:
        assert (sensor.declaration, sensor.accepted) == (DRIFTED, 1)


def test_budgets_are_raised_by_entries_and_what_is_spent_stays_spent(run: Run, stream: Path) -> None:
    config = str(stream / "sensor-room-1" / "config.yaml")
    with load(stream, "sensor-room-1").make_sensor() as sensor:
        sensor.send([20.0] * 390)
        with pytest.raises(BudgetExceeded):
            sensor.send([20.0] * 20)
        # While it runs, by another process.
        said = run("budget", "--config", config, "--more", "200", "--every", "day", "--reason", "Tuesday")
        assert said.returncode == 0, said.stderr
        assert "ε = 1950 of 2150 spent, 200 left" in said.stdout
        assert "ε = 200 every day is up to ε = 73000 a year" in said.stdout
        assert sensor.send([20.0] * 20)
        assert (sensor.spent, sensor.remaining) == (2050, 100)
    # The configuration still names the budget that it began with.
    with load(stream, "sensor-room-1").make_sensor() as sensor:
        assert sensor.remaining == 100
    again = run("budget", "--config", config, "--more", "50", "--reason", "enough is left", "--json")
    assert json.loads(again.stdout)["budget"] == "2150"
    assert run("budget", "--config", config, "--to", "10", "--reason", "less").returncode == 1
    with Ledger.audit(stream / "sensor-room-1" / "sensor.ledger") as book:
        raises = [entry.data for entry in book.entries("room-1") if entry.kind == "limit"]
    assert [entry["reason"] for entry in raises] == ["Tuesday"]


def test_commands_change_a_stream_and_say_what_changed(run: Run, stream: Path, tmp_path: Path) -> None:
    folder = str(stream)
    added = run("add-sensor", folder, "--sensor", "room-3", "--budget", "10", "--json")
    assert "sensor-room-3/config.yaml" in json.loads(added.stdout)["changed"]
    assert "detector/config.yaml" in run("retire-sensor", folder, "--sensor", "room-3").stdout
    assert "corrector/private.key" in run("rotate-key", folder, "corrector").stdout
    (tmp_path / "new.yaml").write_text(yaml.safe_dump(public_facts(DRIFTED)))
    new = ("--declaration", str(tmp_path / "new.yaml"), "--reason", "summer", "--not-learned-from-readings")
    declared = run("declare", folder, "--sensor", "room-1", *new, "--json")
    for wrong in ((), ("--sensor", "room-1", "--from-window", "4")):
        assert run("declare", folder, *wrong, *new).returncode == 2
    assert json.loads(declared.stdout)["window"] == 0
    assert run("update", folder).returncode == 0
    assert run("add-sensor", str(tmp_path), "--sensor", "x", "--budget", "1").returncode == 2


def test_windows_are_given_up_by_the_owners_command(run: Run, stream: Path) -> None:
    config = str(stream / "owner" / "config.yaml")
    said = run(
        "skip", "--config", config, "--sensor", "room-1", "--until", "3", "--reason", "disk lost", "--json"
    )
    assert json.loads(said.stdout)["given_up"] == 3
    said = run("skip", "--config", config, "--sensor", "room-1", "--window", "3", "--reason", "disk lost")
    assert "1 windows from 3 to 3" in said.stdout
    assert run("skip", "--config", config, "--sensor", "room-1", "--reason", "?").returncode == 2
    with load(stream, "owner").make_owner() as owner:
        assert [item.verdict.complete for item in owner.verdicts()] == [False] * 4
        assert owner.waiting == 2


def test_a_readings_line_is_told_by_its_sensor(run: Run, stream: Path, tmp_path: Path) -> None:
    from anonymaly.stream.programs.inputs import Inputs

    (tmp_path / "day.csv").write_text("time,celsius\n8:00,20\n8:01,21\n")
    with load(stream, "sensor-room-1").make_sensor() as sensor:
        inputs = Inputs(sensor)
        for batch in inputs.from_file(tmp_path / "day.csv"):
            inputs.note(batch, *sensor.next_place)
            sensor.send([reading.values for reading in batch])
    config = str(stream / "sensor-room-1" / "config.yaml")
    said = run("origin", "--config", config, "--window", "0", "1", "5")
    assert said.stdout.splitlines() == ["1: line 3 of day.csv, time 8:01", "5: not known"]
    shown = json.loads(run("origin", "--config", config, "--window", "0", "1", "--json").stdout)
    assert shown["readings"] == [{"place": 1, "input": "day.csv", "line": 3, "time": "8:01"}]


def test_an_older_register_and_other_files_are_refused_with_a_reason(stream: Path) -> None:
    data: dict[str, Any] = yaml.safe_load((stream / "stream.yaml").read_text())
    data["talks"].pop("detector")
    (stream / "stream.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(InputError, match="detector is not in the register"):
        update_folder(stream, Register.load(stream))
