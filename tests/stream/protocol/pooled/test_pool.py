# SPDX-License-Identifier: Apache-2.0
"""Windows of many sensors, from the first reading to the verdict."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from anonymaly import Interval
from anonymaly.stream import Column, Message, Outgoing, PooledDeclaration
from anonymaly.stream.protocol.messages import MessageReceipt, Thresholds
from anonymaly.stream.protocol.pooled.messages import Agreed, Gathered, PooledReading, PooledVerdict
from tests.stream.protocol.pooled.pool import FAULT, LEAST, NAMES, POOL, START, WINDOWS, Pool


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    made = Pool(tmp_path)
    yield made
    made.close()


def found(pool: Pool) -> list[tuple[int, str, int, tuple[str, ...]]]:
    return [(item.window, item.state, len(item.contributed), item.look_at) for item in pool.owner.verdicts()]


def equal_to_one_process(pool: Pool, window: int, names: list[str]) -> bool:
    """Say whether a verdict is what one process makes of the same perturbed values."""
    (judged,) = [item for item in pool.owner.verdicts() if item.window == window]
    alone = pool.seen.corrected(window, names, pool.declaration)
    layers = alone.layers

    def named(sets: np.ndarray) -> tuple[str, ...]:
        return tuple(np.array(names)[sets].tolist())

    return (judged.contributed, judged.look_at, judged.confirmed, judged.inward, judged.covered) == (
        tuple(names), named(alone.found), named(alone.split.confirmed), named(layers.inward),
        named(layers.covered | layers.covered_far),
    )  # fmt: skip


def test_faults_of_sensors_are_found_by_name(pool: Pool) -> None:
    pool.send(0, room_3=FAULT, room_7=FAULT)
    ((window, state, contributed, look_at),) = found(pool)
    assert (window, state, contributed) == (0, "judged", len(NAMES))
    assert {"room-3", "room-7"} <= set(look_at)
    assert all(party.waiting == 0 for party in pool.parties.values())


PLANE = [Column(name, range=Interval(10, 30), outer=Interval(-20, 300), step=0.1, scale=1) for name in "ab"]
MODELS = {
    "radius": {"radius": 60},
    "dbscan": {"radius": 60, "neighbours": 3},
    "neighbours": {"neighbours": 2, "outliers": 0.3},
}


@pytest.mark.parametrize("model", MODELS)
def test_verdicts_are_those_of_one_process_on_the_same_perturbed_values(tmp_path: Path, model: str) -> None:
    # Small enough an ε, so that suspects, gaps and layers of all kinds come up.
    declared = PooledDeclaration.read(
        POOL.to_dict()
        | {"columns": [column.to_dict() for column in PLANE], "epsilon": "1", "model": model}
        | {"parameters": MODELS[model], "least_suspects": 2}
    )
    pool, chance, windows = Pool(tmp_path, declared), random.Random(1), range(8)
    there = {
        name: [window for window in windows if chance.random() < 0.8 or name < f"room-{LEAST}"]
        for name in NAMES
    }
    for name, windows_of in there.items():
        readings = [[chance.choice([20.0, 20.0, 250.0]), chance.uniform(10, 30)] for _ in windows_of]
        pool.transport.carry(pool.sensor(name).send(readings, [START + 60 * window for window in windows_of]))
    pool.tick(WINDOWS.closes(windows[-1]))
    for window in windows:
        assert equal_to_one_process(pool, window, [name for name in NAMES if window in there[name]])
    judged = list(pool.owner.verdicts())
    assert [item.window for item in judged] == list(windows)
    assert any(item.confirmed for item in judged)
    assert any(item.inward or item.covered for item in judged)
    pool.close()


def test_sensors_of_different_rate_count_once_each(pool: Pool) -> None:
    fast, slow = pool.sensor("room-0"), pool.sensor("room-1")
    pool.transport.carry(fast.send([20.0] * 180, [START + second for second in range(180)]))
    pool.transport.carry(slow.send([20.0], [START + 121]))  # passes windows 0 and 1 over
    for window in range(3):
        pool.send_some(window, NAMES[2:])
    assert [(window, contributed) for window, _, contributed, _ in found(pool)] == [(0, 9), (1, 9), (2, 10)]
    assert (fast.accepted, fast.repeated, slow.accepted) == (3, 177, 1)
    assert (fast.spent, slow.spent) == (15, 5)


def test_a_missing_sensor_is_waited_for_until_the_window_is_late(pool: Pool) -> None:
    pool.send_some(0, NAMES[1:])
    pool.tick(WINDOWS.closes(0) - 1)
    assert found(pool) == []
    pool.tick(WINDOWS.closes(0))
    assert [(window, contributed) for window, _, contributed, _ in found(pool)] == [(0, 9)]
    # Late: has a receipt and no effect. What it sends next counts.
    pool.send_some(0, ["room-0"])
    assert pool.sensor("room-0").waiting == 0
    pool.send(1)
    assert [contributed for _, _, contributed, _ in found(pool)] == [9, 10]


def test_windows_that_sensors_passed_over_are_not_waited_for(pool: Pool) -> None:
    pool.send_some(400_000, NAMES[1:])
    pool.send_some(400_001, ["room-0"])
    assert [(window, contributed) for window, _, contributed, _ in found(pool)] == [(400_000, 9)]
    pool.send_some(400_001, NAMES[1:])
    assert [(window, contributed) for window, _, contributed, _ in found(pool)][1:] == [(400_001, 10)]


def test_readings_out_of_order_and_repeated_are_left_out_and_cost_nothing(pool: Pool) -> None:
    sensor = pool.sensor("room-0")
    pool.transport.carry(sensor.send([20, 21, 22, 23], [START + second for second in (70, 10, 80, 130)]))
    assert (sensor.accepted, sensor.late, sensor.repeated, sensor.spent) == (2, 1, 1, 10)


def test_too_few_sensors_are_not_judged(pool: Pool) -> None:
    pool.send_some(0, NAMES[: LEAST - 1], room_0=FAULT)
    pool.tick(WINDOWS.closes(0))
    assert found(pool) == [(0, "too few sensors", LEAST - 1, ())]
    assert not any(isinstance(message, Thresholds) for message in pool.seen.messages)


def test_a_reading_that_only_one_server_holds_is_not_judged(pool: Pool) -> None:
    lost = pool.sensor("room-0").send([FAULT], [START])[0]  # its shift is lost
    pool.transport.carry([lost])
    only_shift = pool.sensor("room-1").send([FAULT], [START])[1]
    pool.transport.carry([only_shift])
    pool.send_some(0, NAMES[2:])
    pool.tick(WINDOWS.closes(0))
    ((_, state, contributed, _),) = found(pool)
    assert (state, contributed) == ("judged", len(NAMES) - 2)
    assert equal_to_one_process(pool, 0, NAMES[2:])


def test_the_corrector_waits_for_shifts_that_are_on_their_way(pool: Pool) -> None:
    reading, shift = pool.sensor("room-0").send([20.0], [START])
    pool.transport.carry([reading])
    pool.send_some(0, NAMES[1:])
    assert found(pool) == []
    assert any(isinstance(message, Gathered) for message in pool.seen.messages)
    pool.transport.carry([shift])
    assert [contributed for _, _, contributed, _ in found(pool)] == [len(NAMES)]


def test_two_versions_of_a_reading_count_nowhere_and_raise_an_alarm(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    copy = Pool(tmp_path / "copy", names=NAMES)
    first, second = (each.sensor("room-0").send([20.0], [START]) for each in (pool, copy))
    pool.transport.carry([first[0], second[1]])
    pool.send_some(0, NAMES[1:])
    ((_, _, contributed, _),) = found(pool)
    assert contributed == len(NAMES) - 1
    pool.transport.carry([second[0], first[1]])
    assert {alarm.sensor for alarm in pool.owner.alarms()} == {"room-0"}
    copy.close()


def test_a_copied_sensor_that_contributes_by_turns_is_found(pool: Pool, tmp_path: Path) -> None:
    pool.send(0)
    (tmp_path / "copy").mkdir()
    copy = Pool(tmp_path / "copy")
    pool.transport.carry(copy.sensor("room-0").send([20.0], [START + 60]))
    assert {(alarm.sensor, alarm.window, alarm.reason.name) for alarm in pool.owner.alarms()} == {
        ("room-0", 1, "PASSED_OVER")
    }
    copy.close()


def test_windows_given_up_by_the_owner_are_over_for_all(pool: Pool) -> None:
    pool.send_some(0, NAMES[1:])
    pool.transport.carry(pool.owner.skip(1, reason="the building was closed"))
    assert found(pool) == [(number, "given up by the owner", 0, ()) for number in (0, 1)]
    assert [pool.server(address).floor for address in ("detector", "corrector")] == [2, 2]
    pool.send(2)
    assert found(pool)[2][:3] == (2, "judged", len(NAMES))


def test_a_detector_that_lost_its_journal_goes_on_with_new_windows(pool: Pool, tmp_path: Path) -> None:
    pool.send(0)
    pool.parties["detector"].close()
    for path in tmp_path.glob("detector.journal*"):
        path.unlink()
    pool.parties["detector"] = pool._make("detector")
    pool.send(1)
    pool.tick(WINDOWS.closes(1))
    assert [(window, state) for window, state, _, _ in found(pool)] == [(0, "judged"), (1, "judged")]


def test_nothing_of_a_finished_window_stays_with_the_servers(pool: Pool) -> None:
    pool.send(0, room_3=FAULT)
    for address in ("detector", "corrector"):
        journal = pool.server(address).journal
        assert journal.execute("SELECT COUNT(*) FROM parts").fetchone() == (0,)
        assert journal.count_unsettled() == 0


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_killed_lost_doubled_and_reordered_each_window_has_one_verdict(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    pool = Pool(tmp_path)
    versions: dict[tuple[str, str, str, int], set[bytes]] = {}
    sensors = [pool.sensor(name) for name in NAMES]
    waiting: list[Outgoing] = [
        item
        for window in range(3)
        for name in NAMES
        if (name, window) != ("room-0", 1)  # passes a window over
        for item in pool.sensor(name).send(
            [FAULT if name == f"room-{window + 3}" else 20.0], [START + 60 * window]
        )
    ]
    paid = [sensor.spent for sensor in sensors]
    for _ in range(100_000):
        if not waiting:
            waiting = [item for party in pool.parties.values() for item in party.resume()]
            if not waiting:
                break
        item = waiting.pop(chance.randrange(len(waiting)))
        message = item.message
        if not isinstance(message, MessageReceipt):
            label = (type(message).__name__, message.recipient, message.sensor, message.window)
            versions.setdefault(label, set()).add(message.to_bytes())
        fate = chance.random()
        if fate < 0.1:
            continue  # lost
        if fate < 0.2:
            waiting.append(item)  # doubled
        pool.seen(message)
        answers = pool.parties[item.recipient].handle(message)
        if fate > 0.9:
            pool.kill(item.recipient)  # before anything of it was sent
        else:
            waiting += answers
        if chance.random() < 0.02:
            pool.kill(chance.choice(list(pool.parties)))
    assert sorted((window, state) for window, state, _, _ in found(pool)) == [
        (window, "judged") for window in range(3)
    ]
    for window in range(3):
        names = [name for name in NAMES if (name, window) != ("room-0", 1)]
        assert equal_to_one_process(pool, window, names)
    # A corrector may say again, with an empty list, that a window is over here.
    assert {label[0] for label, forms in versions.items() if len(forms) > 1} <= {"Agreed"}
    assert [pool.sensor(name).spent for name in NAMES] == paid
    assert [pool.sensor(name).accepted for name in NAMES] == [2] + [3] * (len(NAMES) - 1)
    pool.close()


def test_a_list_is_agreed_on_once_and_a_replay_changes_nothing(pool: Pool) -> None:
    pool.send(0)
    before = found(pool)
    replayed: list[Message] = list(pool.seen.messages)
    for message in replayed:
        if message.recipient in ("detector", "corrector", "owner") and not isinstance(
            message, MessageReceipt
        ):
            pool.transport.carry([Outgoing(message.recipient, message)])
    assert found(pool) == before
    agreed = [message for message in pool.seen.messages if isinstance(message, Agreed)]
    assert agreed[0].members.all()
    assert sum(isinstance(message, PooledVerdict) for message in replayed) == 1
    assert sum(isinstance(message, PooledReading) for message in replayed) == len(NAMES)
