# SPDX-License-Identifier: Apache-2.0
"""A sensor whose folder was copied is found by both counters, and the copy stops."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anonymaly.stream import CountingSensor, LocalTransport, PoolOwner
from anonymaly.stream.counting.messages import COUNTERS, Contribution
from anonymaly.stream.protocol.messages import MessageReceipt
from anonymaly.stream.protocol.notices import AlarmReason
from tests.stream.counting.pool import NAMES, POOL, counters, owner, transport, usual, window
from tests.stream.counting.test_counter import found

START = 1767225600.0  # 2026-01-01, in seconds since 1970
BOTH = {("room-00", name) for name in COUNTERS}


def sensor(folder: Path) -> CountingSensor:
    return CountingSensor("room-00", POOL, journal=folder / "s", ledger=folder / "l", budget=1000)


@contextmanager
def copied(folder: Path, sent: int = 0) -> Iterator[tuple[CountingSensor, CountingSensor]]:
    """Yield a sensor that had contributed to some windows, and its copy from then."""
    for name in ("one", "other"):
        (folder / name).mkdir()
    with sensor(folder / "one") as one:
        for message in [item.message for number in range(sent) for item in read(one, number)]:
            one.handle(MessageReceipt.for_message(message))
    for file in (folder / "one").iterdir():
        shutil.copy(file, folder / "other")
    with sensor(folder / "one") as one, sensor(folder / "other") as other:
        yield one, other


def read(party: CountingSensor, number: int, celsius: float = 20.5) -> list:
    return party.send([celsius], [START + 60 * number])


def others() -> dict[str, int | None]:
    cells = usual()
    del cells[NAMES[0]]
    return cells


def seen(judging: PoolOwner, reason: AlarmReason) -> set[tuple[str, str]]:
    alarms = judging.alarms()
    assert {alarm.reason for alarm in alarms} <= {reason}
    return {(alarm.sensor, alarm.reporter) for alarm in alarms}


@pytest.mark.parametrize("finished", [False, True])
def test_the_second_version_of_a_window_gets_no_receipt_and_the_owner_an_alarm(
    tmp_path: Path, finished: bool
) -> None:
    judging = owner(tmp_path)
    carried = transport(*counters(tmp_path), judging)
    with copied(tmp_path) as (one, other):
        carried.parties[one.address] = one
        carried.carry(read(one, 0))
        if finished:
            carried.carry(window(0, others()))
        # The copy's reading is a fault, and charged in its own ledger.
        carried.carry(read(other, 0, 74.0))
        assert (one.waiting, other.waiting) == (0, 2), "nothing of the copy's is taken for arrived"
        assert seen(judging, AlarmReason.OTHER_VERSION) == BOTH
        carried.carry(other.resume())
        assert len(judging.alarms()) == 2, "each counter says it once a window"
        if not finished:
            carried.carry(window(0, others()))
        assert found(judging) == [(0, "judged", ())], "the first version is judged, and no other"
        carried.carry(read(one, 1, 74.0))
        carried.carry(window(1, others()))
        assert found(judging)[1:] == [(1, "judged", ("room-00",))], "the one that was first goes on"


def test_two_that_contribute_by_turns_never_to_the_same_window_are_found(tmp_path: Path) -> None:
    judging = owner(tmp_path)
    carried = transport(*counters(tmp_path), judging)
    with copied(tmp_path) as (one, other):
        carried.parties[one.address] = one
        carried.carry(read(one, 0))
        carried.carry(read(other, 1))
        assert other.waiting == 2
        assert seen(judging, AlarmReason.PASSED_OVER) == BOTH
        assert "passed over a window" in judging.alarms()[0].reason.words
        carried.carry(read(one, 2))
        assert one.waiting == 0


def test_what_is_sent_again_and_passes_over_windows_raises_no_alarm(tmp_path: Path) -> None:
    judging, both = owner(tmp_path), counters(tmp_path)
    carried = transport(*both, judging)
    with sensor(tmp_path) as party:
        carried.parties[party.address] = party
        sent = [item for number in (0, 1, 5, 6) for item in read(party, number)]
        carried.carry([*sent[::-1], *sent])
        for number in (0, 1, 5, 6):
            carried.carry(window(number, others(), previous={5: 1}.get(number)))
        carried.carry(sent)
        assert party.waiting == 0
    assert judging.alarms() == []
    assert [number for number, _, _ in found(judging)] == [0, 1, 5, 6]


def test_a_counter_that_was_restarted_still_knows_the_versions(tmp_path: Path) -> None:
    judging = owner(tmp_path)
    with copied(tmp_path, sent=2) as (one, other):
        both = counters(tmp_path)
        carried = transport(*both, judging)
        carried.carry(read(one, 2))
        for counter in both:
            counter.close()
        carried = LocalTransport([*counters(tmp_path), judging])
        sent = [item for item in read(other, 2) if isinstance(item.message, Contribution)]
        carried.carry(sent)
    assert seen(judging, AlarmReason.OTHER_VERSION) == BOTH
