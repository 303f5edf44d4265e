# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import BudgetExceeded, InputError, LedgerError
from anonymaly.stream import PooledDeclaration, PooledSensor
from tests.stream.protocol.parties import HOUSE
from tests.stream.protocol.pooled.pool import POOL, START

TWO = PooledDeclaration.read(POOL.to_dict() | {"columns": HOUSE.to_dict()["columns"], "epsilon": "3"})


def sensor(folder: Path, declaration: PooledDeclaration = POOL, budget: int | None = 100) -> PooledSensor:
    return PooledSensor("room-0", declaration, journal=folder / "s", ledger=folder / "l", budget=budget)


def test_each_reading_that_is_sent_costs_its_columns(tmp_path: Path) -> None:
    with sensor(tmp_path, TWO) as party:
        sent = party.send([[20, 100], [20, 101], [20, 102]], [START, START + 1, START + 60])
        assert [item.message.window for item in sent] == [0, 0, 1, 1]
        assert [item.message.previous for item in sent] == [-1, -1, 0, 0]  # type: ignore[attr-defined]
        assert (party.spent, party.accepted, party.repeated) == (2 * 2 * 3, 2, 1)


def test_each_server_gets_its_share_only_and_both_are_of_one_version(tmp_path: Path) -> None:
    with sensor(tmp_path, TWO) as party:
        reading, shift = (item.message for item in party.send([[20, 100]], [START]))
        assert (reading.recipient, shift.recipient) == ("detector", "corrector")
        assert (len(reading.values), len(shift.values)) == (2, 1)  # type: ignore[attr-defined]
        assert reading.digest == shift.digest  # type: ignore[attr-defined]
        other, _ = (item.message for item in party.send([[20, 100]], [START + 60]))
        assert other.nonce != reading.nonce  # type: ignore[attr-defined]


def test_a_budget_that_does_not_suffice_sends_nothing(tmp_path: Path) -> None:
    with sensor(tmp_path, budget=9) as party:
        with pytest.raises(BudgetExceeded, match="has stopped sending"):
            party.send([20, 21], [START, START + 60])
        assert (party.spent, party.newest, party.waiting) == (0, -1, 0)
        assert len(party.send([20], [START])) == 2


def test_a_sensor_that_was_killed_sends_the_same_bytes_and_goes_on(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        sent = [item.message.to_bytes() for item in party.send([20, 21], [START, START + 60])]
    with sensor(tmp_path, budget=None) as party:
        assert [item.message.to_bytes() for item in party.resume()] == sent
        assert party.send([20, 21], [START, START + 60]) == []
        assert (party.spent, party.accepted) == (10, 2)


def test_a_charge_whose_reading_is_not_in_the_journal_is_forfeited_and_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sensor(tmp_path) as party:

        def fail(*_: object) -> None:
            raise LedgerError("cannot be written", field="journal", next_step="Make room.")

        monkeypatch.setattr(party.journal, "keep", fail)
        with pytest.raises(LedgerError):
            party.send([20], [START])
        assert (party.waiting, party.newest, party.accepted) == (0, -1, 0)
    with sensor(tmp_path, budget=None) as party:
        assert len(party.send([20], [START])) == 2
        assert party.spent == 10  # both charges stand


def test_readings_beyond_the_range_are_counted(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        party.send([20, 700, 700], [START, START + 1, START + 60])
        assert party.beyond == 1  # of those that were sent


def test_readings_and_times_that_do_not_fit_cost_nothing(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        for readings, times in (([20], [START, START]), ([np.nan], [START]), ([20], [START - 60])):
            with pytest.raises(InputError):
                party.send(readings, times)
        assert party.send([], []) == []
        assert party.spent == 0


def test_the_promise_says_what_readings_of_a_day_lose_and_who_learns_names(tmp_path: Path) -> None:
    with sensor(tmp_path) as party:
        party.send([20], [START])
        promise = party.promise()
        assert promise.by_time == {"day": "7200", "year": "2628000"}
        assert "whose reading to look at" in promise.describe()
        assert "2 of the sensors on its side" in promise.describe()
