# SPDX-License-Identifier: Apache-2.0
"""Four parties: what each of them receives, and that every window gets one verdict whatever happens."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import BudgetExceeded, DeclarationChanged, InputError, LedgerError
from anonymaly.ledger import Ledger
from anonymaly.stream import (
    Corrector,
    Declaration,
    Detector,
    LocalTransport,
    Message,
    Outgoing,
    Owner,
    Party,
    Sensor,
)
from anonymaly.stream.protocol.messages import (
    Candidates,
    MessageReceipt,
    Readings,
    Shifts,
    Suspects,
    Thresholds,
    Verdict,
)
from anonymaly.stream.protocol.parties import MOST_OPEN
from anonymaly.stream.protocol.perturb import Perturbed
from anonymaly.stream.protocol.suggest import correct
from tests.stream.protocol.parties import CELSIUS, HOUSE, ROOM, WATT, close, make


def sensor_of(parties: dict[str, Party], name: str = "room-1") -> Sensor:
    found = parties[f"sensor/{name}"]
    assert isinstance(found, Sensor)
    return found


def verdicts(parties: dict[str, Party]) -> dict[tuple[str, int], Verdict]:
    owner = parties["owner"]
    assert isinstance(owner, Owner)
    found = [item.verdict for item in owner.verdicts()]
    assert len({(verdict.sensor, verdict.window) for verdict in found}) == len(found)
    return {(verdict.sensor, verdict.window): verdict for verdict in found}


def readings(count: int, columns: int = 1, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    scale = np.array([20.0, 250.0][:columns])
    return scale * (1 + draw.normal(0, 0.1, (count, columns)) + 2 * (draw.random((count, 1)) < 0.1))


def test_each_party_receives_exactly_this(tmp_path: Path) -> None:
    parties = make(tmp_path, declaration=HOUSE)
    received: dict[str, set[type[Message]]] = defaultdict(set)

    def listen(message: Message) -> None:
        kind = message.of if isinstance(message, MessageReceipt) else type(message)
        received[f"{message.recipient}{' receipt' if isinstance(message, MessageReceipt) else ''}"].add(kind)

    LocalTransport(parties.values(), listen).carry(sensor_of(parties).send(readings(35, 2)))
    assert received == {
        "detector": {Readings, Thresholds},
        "corrector": {Shifts, Suspects, Candidates},
        "owner": {Verdict},
        "sensor/room-1 receipt": {Readings, Shifts},
        "detector receipt": {Suspects, Candidates},
        "corrector receipt": {Thresholds, Verdict},
    }
    assert len(verdicts(parties)) == 5
    # What the messages hold, field by field: nothing of the readings themselves, and no share twice.
    assert {kind: {field.name for field in fields(kind)} - {"sensor", "window", "part", "last"} for kind in
            (Readings, Shifts, Suspects, Thresholds, Candidates, Verdict, MessageReceipt)} == {
        Readings: {"values"},  # perturbed grid points
        Shifts: {"values"},  # rounded moves of the distance
        Suspects: {"members"},
        Thresholds: {"near", "far"},
        Candidates: {"near", "far"},
        Verdict: {"confirmed", "inward", "covered", "covered_far", "complete"},
        MessageReceipt: {"of"},
    }  # fmt: skip
    close(parties)


@pytest.mark.parametrize("address", ["detector", "corrector", "owner", "sensor/room-1"])
def test_a_party_refuses_what_is_for_another(tmp_path: Path, address: str) -> None:
    parties = make(tmp_path)
    yes = np.array([True])
    everything: list[Message] = [
        Readings("room-1", 0, np.zeros((1, 1), np.int64), last=True),
        Shifts("room-1", 0, np.zeros(1, np.int64), last=True),
        Suspects("room-1", 0, yes),
        Thresholds("room-1", 0, None, None),
        Candidates("room-1", 0, yes, yes),
        Verdict("room-1", 0, yes, yes, yes, yes),
    ]
    for message in everything:
        if message.recipient != address:
            with pytest.raises(InputError, match="is not for"):
                parties[address].handle(message)
    assert parties[address].waiting == 0
    close(parties)


@pytest.mark.parametrize(("declaration", "columns"), [(ROOM, 1), (HOUSE, 2)])
def test_the_parties_find_what_one_hand_finds(tmp_path: Path, declaration: Declaration, columns: int) -> None:
    parties = make(tmp_path, declaration=declaration)
    seen: list[Message] = []
    transport = LocalTransport(parties.values(), seen.append)
    for start in range(0, 60, 4):
        transport.carry(sensor_of(parties).send(readings(4, columns, seed=start)))
    transport.carry(sensor_of(parties).flush())
    found = verdicts(parties)
    assert len(found) == -(-60 // declaration.window)
    for (_, window), verdict in found.items():
        values = np.concatenate([m.values for m in seen if isinstance(m, Readings) and m.window == window])
        shifts = np.concatenate([m.values for m in seen if isinstance(m, Shifts) and m.window == window])
        at_once = correct(declaration, Perturbed(values, shifts))
        assert (verdict.found == at_once.found).all()
        assert (verdict.confirmed == at_once.split.confirmed).all()
    assert all(party.waiting == 0 for party in parties.values())
    close(parties)


@pytest.mark.parametrize("seed", range(3))
def test_lost_doubled_and_reordered_messages_and_crashes_change_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    sensors = ("room-1", "room-2")
    parties = make(tmp_path, sensors)
    sent: dict[tuple[str, int, type, int], bytes] = {}
    waiting: list[Outgoing] = []
    for turn in range(400):
        action = chance.random()
        if turn < 150 and action < 0.2:
            sensor = sensor_of(parties, chance.choice(sensors))
            waiting += sensor.send(readings(chance.randint(1, 9), seed=turn))
        elif action < 0.22:
            close(parties)  # all there is to know is on disk
            parties = make(tmp_path, sensors)
        elif action < 0.35:
            waiting += parties[chance.choice(sorted(parties))].resume()
        elif waiting:
            item = waiting.pop(chance.randrange(len(waiting)))
            key = (item.message.sensor, item.message.window, type(item.message), item.message.sequence)
            if not isinstance(item.message, MessageReceipt):
                assert sent.setdefault(key, item.message.to_bytes()) == item.message.to_bytes()
            if chance.random() < 0.2:
                continue  # lost
            waiting += parties[item.recipient].handle(item.message)
            if chance.random() < 0.2:
                waiting += parties[item.recipient].handle(item.message)
    transport = LocalTransport(parties.values())
    for name in sensors:
        transport.carry(sensor_of(parties, name).flush())
    while any(party.waiting for party in parties.values()):
        transport.resume()
    found = verdicts(parties)
    assert all(verdict.complete for verdict in found.values())
    counted = Counter[str]()
    for (name, _), verdict in found.items():
        counted[name] += len(verdict.found)
    for name in sensors:
        windows = sorted(window for sensor, window in found if sensor == name)
        assert windows == list(range(len(windows)))
        assert counted[name] == sensor_of(parties, name).accepted
    close(parties)


def test_a_replayed_message_is_acknowledged_and_has_no_effect(tmp_path: Path) -> None:
    parties = make(tmp_path)
    seen: list[Message] = []
    LocalTransport(parties.values(), seen.append).carry(sensor_of(parties).send(readings(30)))
    before = verdicts(parties)
    for message in seen:
        answers = parties[message.recipient].handle(message)
        assert [type(answer.message) for answer in answers] == (
            [] if isinstance(message, MessageReceipt) else [MessageReceipt]
        )
    assert verdicts(parties) == before
    assert len(before) == 3
    close(parties)


def test_the_sensor_stops_when_its_budget_is_spent_and_says_so(tmp_path: Path) -> None:
    with Sensor("room-1", ROOM, journal=tmp_path / "j", ledger=tmp_path / "l", budget=25) as sensor:
        assert sensor.send(readings(10))
        assert (sensor.spent, sensor.remaining) == (20, 5)
        with pytest.raises(BudgetExceeded, match=r"needs ε=6; 5 of 25 remain. The sensor room-1 has stopped"):
            sensor.send(readings(3))
        assert (sensor.spent, sensor.accepted) == (20, 10)
        assert sensor.send(readings(2))
        sensor.raise_budget(to=5000)  # more than any single question may ask for
        assert sensor.send(readings(3))
        statement = sensor.statement()
        assert statement.total is not None
        assert (statement.questions, statement.unseen, statement.total.epsilon) == (3, 0, "30")


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], ["a"], [float("nan")], {"watt": [1.0]}, [[[1.0]]], 5.0])
def test_readings_that_do_not_fit_cost_nothing(tmp_path: Path, bad: object) -> None:
    with Sensor("room-1", ROOM, journal=tmp_path / "j", ledger=tmp_path / "l", budget=25) as sensor:
        with pytest.raises(InputError, match="readings"):
            sensor.send(bad)
        assert sensor.spent == 0
        assert sensor.send([]) == []


def test_a_crash_between_charge_and_journal_forfeits_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {"journal": tmp_path / "j", "ledger": tmp_path / "l"}

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with Sensor("room-1", ROOM, budget=100, **paths) as sensor:
        sensor.send(readings(10))
        monkeypatch.setattr("anonymaly.stream.protocol.sensor.perturb", crash)
        with pytest.raises(KeyboardInterrupt):
            sensor.send(readings(10))
    monkeypatch.undo()
    with Sensor("room-1", ROOM, **paths) as sensor:
        assert (sensor.spent, sensor.accepted) == (40, 10)
        assert sensor.statement().unseen == 1
        before = sensor.resume()
        monkeypatch.setattr(Ledger, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            sensor.send(readings(10))
    monkeypatch.undo()
    with Sensor("room-1", ROOM, **paths) as sensor:
        # This time the readings were in the journal: paid for, kept, and still to be sent.
        assert (sensor.spent, sensor.accepted) == (60, 20)
        assert sensor.statement().unseen == 1
        assert [item.message for item in sensor.resume()][: len(before)] == [item.message for item in before]
        assert len(sensor.resume()) == len(before) + 2


def test_a_journal_older_than_its_ledger_is_refused(tmp_path: Path) -> None:
    with Sensor("room-1", ROOM, journal=tmp_path / "j", ledger=tmp_path / "l", budget=100) as sensor:
        sensor.send(readings(10))
    with pytest.raises(LedgerError, match="one of them is older"):
        Sensor("room-1", ROOM, journal=tmp_path / "new", ledger=tmp_path / "l")


def test_an_account_keeps_its_declaration_and_a_journal_its_party(tmp_path: Path) -> None:
    Sensor("room-1", ROOM, journal=tmp_path / "j", ledger=tmp_path / "l", budget=100).close()
    with pytest.raises(DeclarationChanged, match="stream"):
        Sensor("room-1", HOUSE, journal=tmp_path / "j", ledger=tmp_path / "l")
    with pytest.raises(InputError, match="belongs to sensor/room-1"):
        Corrector({"room-1": ROOM}, tmp_path / "j")
    with pytest.raises(InputError, match="no budget"):
        Sensor("room-2", ROOM, journal=tmp_path / "k", ledger=tmp_path / "l")


def test_two_programs_cannot_share_a_journal(tmp_path: Path) -> None:
    with Owner(["room-1"], tmp_path / "o"), pytest.raises(InputError, match="one program only"):
        Owner(["room-1"], tmp_path / "o")


def test_messages_that_do_not_fit_the_stream_have_no_effect(tmp_path: Path) -> None:
    detector = Detector({"room-1": ROOM}, tmp_path / "detector")
    corrector = Corrector({"room-1": ROOM}, tmp_path / "corrector")
    owner = Owner(["room-1"], tmp_path / "owner")
    one, no = np.zeros((1, 1), np.int64), np.zeros(1, np.bool_)
    detector.handle(Readings("room-1", 1, one, 3, last=True))
    wrong: list[tuple[Party, Message, str]] = [
        (detector, Readings("room-9", 0, one), "not declared"),
        (detector, Readings("room-1", 0, np.zeros((1, 2), np.int64)), "2 columns where 1"),
        (detector, Readings("room-1", 0, np.zeros((11, 1), np.int64)), "longer than declared"),
        (detector, Readings("room-1", MOST_OPEN, one), "windows ahead"),
        (detector, Readings("room-1", 0, one[:0]), "empty batch"),
        (detector, Readings("room-1", 1, one, 4), "behind the window's last"),
        (detector, Readings("room-1", 1, one, 0, last=True), "behind the window's last"),
        (detector, Thresholds("room-1", 0, 1, 2), "never named"),
        (corrector, Candidates("room-1", 0, no, no), "never given"),
        (corrector, Suspects("room-9", 0, no), "not declared"),
        (owner, Verdict("room-9", 0, no, no, no, no), "not declared"),
    ]
    for party, message, said in wrong:
        with pytest.raises(InputError, match=said):
            party.handle(message)
        assert party.waiting == 0
    for party in (detector, corrector, owner):
        party.close()


def test_shares_of_different_length_give_a_verdict_that_says_so(tmp_path: Path) -> None:
    parties = make(tmp_path)
    transport = LocalTransport(parties.values())
    broken = [
        Readings("room-1", 0, np.zeros((4, 1), np.int64), last=True),
        Shifts("room-1", 0, np.zeros(3, np.int64), last=True),
    ]
    transport.carry(Outgoing(message.recipient, message) for message in broken)
    (verdict,) = verdicts(parties).values()
    assert not verdict.complete
    assert verdict.found.tolist() == [False] * 3
    assert parties["detector"].waiting == parties["corrector"].waiting == 0
    close(parties)


def test_long_windows_are_cut_into_messages_that_may_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymaly.stream.protocol.sensor.LARGEST_BATCH", 6)
    parties = make(tmp_path, declaration=HOUSE)
    sent = sensor_of(parties).send(readings(15, 2))
    sizes = [len(item.message.values) for item in sent if isinstance(item.message, Readings)]
    assert sizes == [3, 3, 1, 3, 3, 1, 1]
    LocalTransport(parties.values()).carry(sent)
    assert len(verdicts(parties)) == 2
    assert sensor_of(parties).accepted == 15
    close(parties)


def test_frames_and_mappings_are_read_by_column(tmp_path: Path) -> None:
    with Sensor("house", HOUSE, journal=tmp_path / "j", ledger=tmp_path / "l", budget=100) as sensor:
        sensor.send({"watt": [100, 200], "celsius": [20, float("inf")]})
        first = sensor.resume()[0].message
        assert isinstance(first, Readings)
        assert first.values.shape == (2, 2)
    assert HOUSE.names == [CELSIUS.name, WATT.name]
