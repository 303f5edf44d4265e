# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from anonymaly.errors import BudgetExceeded, InputError
from anonymaly.stream import CountingDeclaration, CountingSensor
from tests.stream.counting.pool import NAMES, POOL, WINDOWS, counters, owner, transport, usual, window

START = 1767225600.0  # 2026-01-01, in seconds since 1970
PAIRS = CountingDeclaration.read(POOL.to_dict() | {"period": 2})


def sensor(folder: Path, pool: CountingDeclaration = POOL, budget: int = 100) -> CountingSensor:
    return CountingSensor("room-00", pool, journal=folder / "s", ledger=folder / "l", budget=budget)


def test_one_reading_a_window_is_sent_and_only_counted_windows_cost(tmp_path: Path) -> None:
    with sensor(tmp_path, PAIRS) as party:
        times = [START + second for second in (0, 20, 61, 59, 130, 190)]
        sent = party.send([20, 75, 21, 22, 23, 24], times)
        assert [item.message.window for item in sent[::2]] == [0, 1, 2, 3]
        assert [item.message.previous for item in sent[::2]] == [-1, 0, 1, 2]  # type: ignore[attr-defined]
        assert (party.repeated, party.late, party.accepted, party.counted) == (1, 1, 4, 2)
        assert party.spent == 2 * 20
        assert party.send([20], [START + 200]) == []
        assert party.spent == 2 * 20


def test_a_budget_that_does_not_suffice_sends_nothing(tmp_path: Path) -> None:
    with sensor(tmp_path, budget=30) as party:
        with pytest.raises(BudgetExceeded, match="has stopped sending"):
            party.send([20, 21], [START, START + 60])
        assert (party.spent, party.newest, party.waiting) == (0, -1, 0)
        assert len(party.send([20], [START])) == 2


def test_a_sensor_that_was_killed_sends_the_same_bytes_and_goes_on(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        before = [item.message.to_bytes() for item in party.send([20], [START])]
    with sensor(tmp_path) as party:
        assert [item.message.to_bytes() for item in party.resume()] == before
        assert party.send([75], [START + 30]) == []
        assert party.newest == 0


def test_a_sensor_and_the_pool_find_a_fault_together(tmp_path: Path) -> None:
    judging = owner(tmp_path)
    with sensor(tmp_path) as party:
        carried = transport(*counters(tmp_path), judging)
        carried.parties[party.address] = party
        others = usual()
        del others[NAMES[0]]
        carried.carry(party.send([69.0], [START]))
        carried.carry(window(0, others))
        carried.carry(party.send_nothing([START + WINDOWS.seconds]))
        carried.carry(window(1, others))
        assert party.waiting == 0
    assert [item.faults for item in judging.verdicts()] == [(NAMES[0],), ()]


def test_the_promise_says_what_a_day_costs_and_what_is_not_covered(tmp_path: Path) -> None:
    with sensor(tmp_path, PAIRS) as party:
        party.send([20], [START])
        text = party.promise().describe()
    assert "ε = 14400 a day" in text
    assert "one bit of its choice" in text
    assert "Both servers together know every reading's cell." in text


def test_times_that_do_not_fit_the_readings_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        with pytest.raises(InputError, match="are 2, and there are 1"):
            party.send([20], [START, START])
        assert party.spent == 0
