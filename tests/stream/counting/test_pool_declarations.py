# SPDX-License-Identifier: Apache-2.0
"""A pool's declaration changes with a window; nothing is counted that was paid for otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, DeclarationChanged, InputError
from anonymaly.ledger import Ledger
from anonymaly.stream import Counter, CountingDeclaration, CountingSensor, LocalTransport
from anonymaly.stream.counting.messages import Contribution
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.protocol.encoding import NotYet
from tests.stream.counting.pool import (
    FAULT,
    KEY,
    NAMES,
    POOL,
    USUAL,
    WINDOWS,
    owner,
    transport,
    usual,
    window,
)
from tests.stream.counting.test_counter import found

START = 1767225600.0  # 2026-01-01, in seconds since 1970
OLD = CountingDeclaration.read(POOL.to_dict() | {"period": 2})
COLUMN: dict[str, Any] = POOL.columns[0].to_dict()
WIDE = COLUMN | {"outer": {"type": "interval", "low": -120, "high": 180}, "cells": 300}
NEW = CountingDeclaration.read(POOL.to_dict() | {"period": 3, "epsilon": "30", "columns": [WIDE]})
CHANGE = EarlierDeclaration(until=6, declared=OLD, reason="summer", learned_from_readings=False)
USUAL_NOW, FAULT_NOW = 140, 190


def counter(folder: Path, number: int, changed: bool) -> Counter:
    declared, earlier = (NEW, [CHANGE]) if changed else (OLD, [])
    return Counter(number, declared, NAMES, check_key=KEY, journal=folder / f"c{number}", earlier=earlier)


def counters(folder: Path, changed: Sequence[bool] = (True, True)) -> list[Counter]:
    return [counter(folder, number, known) for number, known in enumerate(changed, 1)]


def cells_now(**others: int | None) -> dict[str, int | None]:
    return usual(**others) | {name: USUAL_NOW for name in NAMES if name.replace("-", "_") not in others}


def sensor(folder: Path, changed: bool, budget: int = 1000) -> CountingSensor:
    declared, earlier = (NEW, [CHANGE]) if changed else (OLD, [])
    return CountingSensor(
        "room-00", declared, journal=folder / "s", ledger=folder / "l", budget=budget, earlier=earlier
    )


def test_another_grid_and_period_hold_from_their_window_on(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    for number in range(6):
        carried.carry(window(number, usual(room_03=FAULT) if number == 5 else usual(), OLD))
    for number in range(6, 11):
        carried.carry(window(number, cells_now(room_04=FAULT_NOW) if number == 8 else cells_now(), NEW))
    assert found(judging) == [
        (number, "judged", {5: ("room-03",), 8: ("room-04",)}.get(number, ())) for number in range(11)
    ]
    # Windows 0, 2, 4 under the old, 6 and 9 under the new: those that sensors pay for.
    assert [counter.released for counter in both] == [5, 5]


def test_what_was_usual_before_says_nothing_under_another_declaration(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    carried.carry(window(0, usual(), OLD))
    carried.carry(window(7, cells_now(), NEW, previous=0))  # nobody contributed to window 6
    carried.carry(window(9, cells_now(), NEW, previous=7))
    assert [(number, state) for number, state, _ in found(judging)] == [
        (0, "judged"), (7, "no window was counted yet"), (9, "judged"),
    ]  # fmt: skip


def test_a_contribution_under_another_declaration_is_not_taken_until_the_counter_knows_of_it(
    tmp_path: Path,
) -> None:
    old, new = (window(6, usual(), declared)[0].message for declared in (OLD, NEW))
    with counter(tmp_path, 1, changed=False) as party:
        with pytest.raises(NotYet, match="another declaration"):
            party.handle(new)
        party.handle(old)
        party.handle(window(5, usual(), OLD)[2].message)
    with counter(tmp_path, 1, changed=True) as party:
        # What was held under what is declared no more is dropped, and taken no more.
        assert [item.window for item in party.journal.stored(Contribution)] == [5]
        with pytest.raises(NotYet, match="another declaration"):
            party.handle(window(6, {"room-01": USUAL}, OLD)[0].message)
        party.handle(window(6, {"room-02": USUAL_NOW}, NEW)[0].message)
        assert sorted(item.window for item in party.journal.stored(Contribution)) == [5, 6]


@pytest.mark.parametrize("first", [1, 2])
def test_a_window_that_was_begun_under_what_is_declared_no_more_ends_and_the_next_goes_on(
    tmp_path: Path, first: int
) -> None:
    judging, old = owner(tmp_path), counters(tmp_path, (False, False))
    heard: dict[str, Any] = {party.address: party for party in (*old, judging)}
    late = []
    for item in window(6, usual(), OLD, previous=-1):  # nobody has heard of the change
        late += [made for made in heard[item.recipient].handle(item.message) if made.recipient in heard]
    kept = [made for item in late for made in heard[item.recipient].handle(item.message)]
    assert kept, "both have begun the check"
    old[first - 1].close()
    changed = counter(tmp_path, first, changed=True)
    both = [changed, old[2 - first]]
    carried = transport(*both, judging)
    for party in both:
        for item in party.resume():
            with suppress(InputError):  # as over a network: what is not taken is sent again
                carried.carry([item])
    old[2 - first].close()
    both = [changed, counter(tmp_path, 3 - first, changed=True)]
    carried = transport(*both, judging)
    carried.resume()
    carried.carry(window(9, cells_now(room_05=FAULT_NOW), NEW, previous=6))
    assert [(number, state) for number, state, _ in found(judging)] == [
        (6, "the counters do not agree"), (9, "judged"),
    ]  # fmt: skip
    assert found(judging)[-1][2] == ("room-05",)
    assert [party.waiting for party in both] == [0, 0]
    assert [party.released for party in both] == [1, 1]


def test_a_sensor_pays_what_is_declared_of_each_window_under_one_account(tmp_path: Path) -> None:
    with sensor(tmp_path, changed=False) as party:
        party.send([20.5] * 2, [START, START + 60])
        assert party.spent == 20
    with sensor(tmp_path, changed=True) as party:
        sent = party.send([20.5] * 6, [START + 60 * number for number in (4, 5, 6, 7, 8, 9)])
        assert {item.message.bits for item in sent[:4]} == {5}  # type: ignore[attr-defined]
        assert {item.message.bits for item in sent[4:]} == {9}  # type: ignore[attr-defined]
        assert party.spent == 20 + 20 + 30 + 30
        assert party.counted == 4
        promise = party.promise()
    assert promise.together is not None
    assert promise.together.epsilon == "100"
    text = promise.describe()
    assert "From window 6 on, a reading loses at most ε = 30 in one window of 3" in text
    assert "of the windows 0 to 5, it lost at most ε = 20 in one window of 2; in 2 that were paid" in text
    assert promise.to_dict()["earlier"] == [{"until": 6, "counted": 2, "epsilon": "40"}]
    with Ledger.audit(tmp_path / "l") as book:
        opened, amended = book.declarations("room-00")
        assert (opened.amended, amended.reason, amended.learned_from_rows) == (False, "summer", False)
        assert any("epsilon" in difference for difference in amended.differences)
        assert book.verify().ok
    with sensor(tmp_path, changed=True) as party:  # entered once
        assert party.spent == 100
    with pytest.raises(DeclarationChanged):
        sensor(tmp_path, changed=False)


def test_a_batch_over_a_change_that_the_budget_does_not_suffice_for_sends_nothing(tmp_path: Path) -> None:
    with sensor(tmp_path, changed=True, budget=49) as party:
        with pytest.raises(BudgetExceeded):
            party.send([20.5] * 2, [START + 60 * number for number in (4, 6)])
        assert (party.spent, party.newest, party.waiting) == (0, -1, 0)


def test_a_sensor_withdraws_what_it_made_under_what_is_declared_no_more(tmp_path: Path) -> None:
    with sensor(tmp_path, changed=False) as party:
        party.send([20.5] * 3, [START + 60 * number for number in (5, 6, 7)])
        assert (party.waiting, party.spent) == (6, 20)
    with sensor(tmp_path, changed=True) as party:
        assert {item.message.window for item in party.resume()} == {5}
        assert party.spent == 20, "what was spent stays spent"
        assert party.send([20.5], [START + 60 * 7]) == []
        assert len(party.send([20.5], [START + 60 * 9])) == 2
        assert party.spent == 50


def test_sensor_counters_and_owner_that_change_together_find_a_fault(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    with sensor(tmp_path, changed=True) as party:
        carried = LocalTransport([*transport(*both, judging).parties.values()])
        carried.parties[party.address] = party
        for number, celsius in ((5, 20.5), (6, 74.0)):
            carried.carry(party.send([celsius], [START + 60 * number]))
            others = usual() if number < 6 else cells_now()
            del others[NAMES[0]]
            carried.carry(window(number, others, OLD if number < 6 else NEW, previous={5: -1}.get(number)))
        assert party.waiting == 0
    assert found(judging) == [(5, "no window was counted yet", ()), (6, "judged", ("room-00",))]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"pool": "another"}, "pool"),
        ({"columns": [COLUMN | {"name": "kelvin"}]}, "columns"),
        ({"windows": WINDOWS.to_dict() | {"seconds": 30}}, "windows.seconds"),
        ({"windows": WINDOWS.to_dict() | {"start": "2026-01-02T00:00:00+00:00"}}, "windows.start"),
        ({"period": 4}, "from_window"),
    ],
)
def test_a_change_that_would_give_a_window_two_meanings_is_refused(
    change: dict[str, Any], field: str
) -> None:
    after = CountingDeclaration.read(OLD.to_dict() | change)
    with pytest.raises(InputError) as refusal:
        PoolDeclarations(after, [CHANGE])
    assert refusal.value.field == field


def test_changes_follow_each_other() -> None:
    again = CHANGE.model_copy(update={"declared": NEW})
    with pytest.raises(InputError, match="another declaration holds from window 6 on"):
        PoolDeclarations(OLD, [CHANGE, again])
    declared = PoolDeclarations(OLD, [CHANGE, again.model_copy(update={"until": 12})])
    assert [declared.of(number).period for number in (5, 6, 11, 12)] == [2, 3, 3, 2]
    assert [declared.begins(number) for number in (5, 6, 11, 12)] == [0, 6, 6, 12]
