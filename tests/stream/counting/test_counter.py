# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.stream import Counter, CountingDeclaration, LocalTransport, Outgoing, Party, PoolOwner
from anonymaly.stream.counting.messages import (
    Commitment,
    Contribution,
    FirstRound,
    HeldList,
    Opening,
    SecondRound,
    VerdictShares,
)
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.messages import Message
from tests.stream.counting.pool import (
    FAULT,
    LEAST,
    NAMES,
    POOL,
    WINDOWS,
    Given,
    counters,
    owner,
    transport,
    usual,
    window,
)


def found(judging: PoolOwner) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(item.window, item.state, item.faults) for item in judging.verdicts()]


def test_faults_are_found_exactly_and_a_sensor_without_a_reading_is_none(tmp_path: Path) -> None:
    judging = owner(tmp_path)
    carried = transport(*counters(tmp_path), judging)
    carried.carry(window(0, usual(room_03=FAULT, room_05=None)))
    carried.carry(window(1, usual()))
    assert found(judging) == [(0, "judged", ("room-03",)), (1, "judged", ())]
    assert all(len(item.contributed) == len(NAMES) for item in judging.verdicts())


def test_a_missing_sensor_is_waited_for_until_the_window_is_late(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    cells = usual()
    del cells["room-07"]
    carried.carry(window(0, cells))
    carried.carry(window(1, cells))
    for counter in both:
        carried.carry(counter.tick(WINDOWS.closes(0) - 1))
    assert found(judging) == []
    for counter in both:
        carried.carry(counter.tick(WINDOWS.closes(0)))
    assert [(item.window, len(item.contributed)) for item in judging.verdicts()] == [(0, len(NAMES) - 1)]
    # Late: has a receipt and no effect. Its next contribution says that it passed over nothing else.
    carried.carry(window(0, {"room-07": FAULT}))
    carried.carry(window(1, {"room-07": FAULT}))
    assert found(judging)[1:] == [(1, "judged", ("room-07",))]


def test_windows_that_sensors_passed_over_are_not_waited_for(tmp_path: Path) -> None:
    judging = owner(tmp_path)
    carried = transport(*counters(tmp_path), judging)
    cells = usual()
    del cells["room-07"]
    carried.carry(window(400_000, cells, previous=-1))
    carried.carry(window(400_001, {"room-07": FAULT}, previous=-1))
    assert [(item.window, len(item.contributed)) for item in judging.verdicts()] == [(400_000, len(cells))]
    carried.carry(window(400_001, cells))
    assert found(judging)[1:] == [(400_001, "judged", ("room-07",))]


def test_too_few_sensors_are_neither_counted_nor_judged(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    carried.carry(window(0, dict.fromkeys(NAMES[: LEAST - 1], FAULT)))
    for counter in both:
        carried.carry(counter.tick(WINDOWS.closes(0)))
    assert found(judging) == [(0, "too few sensors", ())]
    assert [counter.released for counter in both] == [0, 0]


def test_contributions_that_only_one_counter_holds_do_not_count(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    sent = window(0, usual(room_03=FAULT))
    carried.carry(
        item
        for item in sent
        if (item.message.sensor, item.recipient) not in {("room-00", "counter-1"), ("room-01", "counter-2")}
    )
    for counter in both:
        carried.carry(counter.tick(WINDOWS.closes(0)))
    (judged,) = judging.verdicts()
    assert judged.faults == ("room-03",)
    assert set(NAMES) - set(judged.contributed) == {"room-00", "room-01"}


def test_two_versions_of_a_contribution_count_nowhere(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    first, second = window(0, usual()), window(0, usual())
    carried.carry([*first[2:], first[0], second[1]])  # of the first sensor, each counter has another version
    (judged,) = judging.verdicts()
    assert set(NAMES) - set(judged.contributed) == {NAMES[0]}


def test_fault_cells_change_once_a_period(tmp_path: Path) -> None:
    pool = CountingDeclaration.read(POOL.to_dict() | {"period": 3})
    judging, both = owner(tmp_path, pool), counters(tmp_path, pool)
    carried = transport(*both, judging)
    moved = dict.fromkeys(NAMES, FAULT)
    for number, cells in enumerate(
        cast("list[dict[str, int | None]]", [usual(room_03=FAULT), moved, moved, moved])
    ):
        carried.carry(window(number, cells, pool))
    assert [len(faults) for _, _, faults in found(judging)] == [1, len(NAMES), len(NAMES), 0]
    assert [counter.released for counter in both] == [2, 2]


def test_a_period_whose_first_window_is_spread_out_has_no_verdict(tmp_path: Path) -> None:
    pool = CountingDeclaration.read(POOL.to_dict() | {"period": 2, "share": 0.5})
    judging = owner(tmp_path, pool)
    carried = transport(*counters(tmp_path, pool), judging)
    carried.carry(window(0, {name: place % 20 for place, name in enumerate(NAMES)}, pool))
    carried.carry(window(1, usual(), pool))
    assert [state for _, state, _ in found(judging)] == ["nothing is usual"] * 2


def test_a_window_before_the_first_count_has_no_verdict(tmp_path: Path) -> None:
    pool = CountingDeclaration.read(POOL.to_dict() | {"period": 2})
    judging = owner(tmp_path, pool)
    transport(*counters(tmp_path, pool), judging).carry(window(1, usual(), pool, previous=-1))
    assert found(judging) == [(1, "no window was counted yet", ())]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_killed_lost_doubled_and_reordered_each_window_has_one_verdict(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    parties: dict[str, Party] = {}
    versions: dict[tuple[str, object, int], set[bytes]] = {}

    def start(address: str) -> None:
        if address in parties:
            parties[address].close()
        made: list[Party] = [owner(tmp_path)] if address == "owner" else []
        if not made:
            number = int(address[-1])
            made = [Counter(number, POOL, NAMES, check_key=bytes(range(32)), journal=tmp_path / f"c{number}")]
        parties[address] = made[0]

    for address in ("counter-1", "counter-2", "owner"):
        start(address)
    sent = [*window(0, usual(room_03=FAULT)), *window(1, usual(room_04=FAULT))]
    waiting, unsettled = list(sent), {id(item): item for item in sent}
    for _ in range(100_000):
        if not waiting:
            waiting = [item for party in parties.values() for item in party.resume()]
            waiting += list(unsettled.values())
            if not waiting:
                break
        item = waiting.pop(chance.randrange(len(waiting)))
        if item.recipient.startswith("sensor/"):
            receipt = item.message
            unsettled = {
                key: kept
                for key, kept in unsettled.items()
                if (kept.message.sensor, kept.message.window, kept.message.sequence)
                != (receipt.sensor, receipt.window, receipt.sequence)
            }
            continue
        label = (type(item.message).__name__, item.message.window, item.message.sequence)
        if not isinstance(item.message, Contribution):
            versions.setdefault(label, set()).add(item.message.to_bytes())
        fate = chance.random()
        if fate < 0.1:
            continue  # lost
        if fate < 0.2:
            waiting.append(item)  # doubled
        answers = parties[item.recipient].handle(item.message)
        if fate > 0.9:
            start(item.recipient)  # killed before anything of it was sent
        else:
            waiting += answers
    judging = parties["owner"]
    assert isinstance(judging, PoolOwner)
    assert sorted(found(judging)) == [(0, "judged", ("room-03",)), (1, "judged", ("room-04",))]
    # A counter may be told again, with an empty list, that a window is over here.
    several = {label[0] for label, forms in versions.items() if len(forms) > 1}
    assert several <= {"HeldList", "MessageReceipt"}
    for party in parties.values():
        party.close()


def test_a_list_that_comes_again_after_the_end_is_answered_once_and_not_for_ever(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    lists: list[Message] = []
    carried = LocalTransport(
        [*both, judging, *cast("list[Party]", list(map(Given, NAMES)))],
        lambda message: lists.append(message) if isinstance(message, HeldList) else None,
    )
    carried.carry(window(0, usual()))
    again = lists[0]
    waiting, handed_over = [Outgoing(again.recipient, again)], 0
    while waiting and handed_over < 100:
        item = waiting.pop(0)
        handed_over += 1
        waiting += carried.parties[item.recipient].handle(item.message)
    assert handed_over == 4  # the list, its receipt, an empty one, and the receipt of that
    assert all(counter.waiting == 0 for counter in both)


def test_a_restarted_counter_sums_up_the_same_list_without_its_memory(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    kept: list[Outgoing] = []
    carried = transport(*both, judging)
    for item in window(0, usual(room_03=FAULT)):
        kept += carried.parties[item.recipient].handle(item.message)
    # Both are at their first round; forget what is only in memory.
    for counter in both:
        counter._totals.clear()
    carried.carry(kept)
    assert found(judging) == [(0, "judged", ("room-03",))]


class Lying(Counter):
    """Changes what it says of one kind, and believes itself."""

    kind: type[Message] = Message
    change: Callable[[Message], Message] = staticmethod(lambda message: message)

    def _advance(self) -> list[Message]:
        changed = type(self).change
        return [changed(item) if isinstance(item, self.kind) else item for item in super()._advance()]


def lie(about: type[Message], how: Callable[[Message], Message]) -> type[Counter]:
    return type("Lying", (Lying,), {"kind": about, "change": staticmethod(how)})


def one_more(message: Message) -> Message:
    values = message.values.copy()  # type: ignore[attr-defined]
    values[0] = (int(values[0]) + 1) % PRIME
    return replace(message, values=values)  # type: ignore[call-arg]


def judged_with(tmp_path: Path, kind: type[Counter]) -> tuple[PoolOwner, Counter]:
    judging, both = owner(tmp_path), counters(tmp_path, kinds=(Counter, kind))
    transport(*both, judging).carry(window(0, usual(room_03=FAULT)))
    return judging, both[0]


@pytest.mark.parametrize("about", [FirstRound, SecondRound])
def test_a_counter_that_lies_in_the_check_drops_the_contribution_and_learns_no_more(
    tmp_path: Path, about: type[Message]
) -> None:
    _, honest = judged_with(tmp_path, lie(about, one_more))
    told = [item.message for item in honest.resume() if isinstance(item.message, VerdictShares)]
    assert not told or NAMES[0] not in np.array(NAMES)[told[0].members]


def test_a_counter_that_opens_another_sum_than_it_committed_to_is_found(tmp_path: Path) -> None:
    judging, honest = judged_with(tmp_path, lie(Opening, one_more))
    assert [state for _, state, _ in found(judging)] == ["the counters do not agree"]
    assert honest._journal.read_note("faults") is None


def test_a_counter_that_commits_to_another_list_gets_no_sum(tmp_path: Path) -> None:
    _, honest = judged_with(
        tmp_path,
        lie(Commitment, lambda message: replace(message, accepted=b"x" * 32)),  # type: ignore[call-arg]
    )
    assert honest.released == 0


def test_a_wrong_share_of_a_verdict_is_reported_as_a_lie(tmp_path: Path) -> None:
    def two_more(message: Message) -> Message:
        return one_more(one_more(message))

    judging, _ = judged_with(tmp_path, lie(VerdictShares, two_more))
    (judged,) = judging.verdicts()
    assert judged.lies == (NAMES[0],)
    assert judged.faults == ("room-03",)


def test_counts_beyond_what_noise_allows_are_refused(tmp_path: Path) -> None:
    class Bent(Counter):
        def _noise(self, noise: object) -> np.ndarray:
            return np.array([10_000] + [0] * 19)

    judging, _ = judged_with(tmp_path, Bent)
    assert [state for _, state, _ in found(judging)] == ["the counts are not plausible"]


def test_a_sensor_whose_vector_is_no_unit_vector_is_dropped_for_good(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    sent = window(0, usual(room_03=FAULT))
    for place in (0, 1):  # both shares of the first sensor: the entry is 1 + 1
        message = sent[place].message
        assert isinstance(message, Contribution)
        last = message.key.last.copy()
        last[::2] = (last[::2] + 1) % PRIME
        forged = replace(message, key=replace(message.key, last=last))
        sent[place] = Outgoing(message.recipient, forged)
    carried.carry(sent)
    (judged,) = judging.verdicts()
    assert NAMES[0] not in judged.contributed
    assert judged.faults == ("room-03",)


def test_messages_of_others_about_other_pools_and_of_other_sizes_are_refused(tmp_path: Path) -> None:
    first, _ = counters(tmp_path)
    for wrong in (
        window(0, {"stranger": 3})[0].message,
        window(0, {"room-01": 3}, bits=9)[0].message,
        HeldList("elsewhere", 0, 1, bytes(32), np.zeros(0, np.bool_), ()),
        HeldList(POOL.pool, 0, 1, bytes(32), np.zeros(len(NAMES), np.bool_), ()),
        window(0, {"room-01": 3})[1].message,
    ):
        with pytest.raises(InputError):
            first.handle(wrong)
