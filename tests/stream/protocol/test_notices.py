# SPDX-License-Identifier: Apache-2.0
"""A copied sensor is found, and windows that will never be finished are given up by a recorded decision."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.stream import LocalTransport, Owner, Party, Sensor
from anonymaly.stream.protocol import parties as parties_module
from anonymaly.stream.protocol import server as server_module
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Readings, Shifts, read_message
from anonymaly.stream.protocol.notices import Alarm, AlarmReason, NoticeReceipt, Skip, receipt_of
from anonymaly.stream.protocol.versions import REMEMBERED, is_other_version, remember
from tests.stream.protocol.parties import ROOM, close, make

DAY = np.full((ROOM.window, 1), 20.0)


def owner_of(parties: dict[str, Party]) -> Owner:
    found = parties["owner"]
    assert isinstance(found, Owner)
    return found


def sensor_of(parties: dict[str, Party]) -> Sensor:
    found = parties["sensor/room-1"]
    assert isinstance(found, Sensor)
    return found


@pytest.mark.parametrize("finished", [False, True])
def test_a_copied_sensor_gets_no_receipt_and_the_owner_an_alarm(tmp_path: Path, finished: bool) -> None:
    parties = make(tmp_path)
    twin = tmp_path / "twin"
    twin.mkdir()
    close(parties)
    for file in tmp_path.glob("room-1.*"):
        shutil.copy(file, twin)
    parties = make(tmp_path)
    copied = Sensor("room-1", ROOM, journal=twin / "room-1.journal", ledger=twin / "room-1.ledger")
    transport = LocalTransport(parties.values())
    readings = DAY if finished else DAY[:4]
    transport.carry(sensor_of(parties).send(readings))
    assert len(list(owner_of(parties).verdicts())) == finished
    # In range, with noise of its own: the batch differs.
    transport.carry(copied.send(readings))
    assert copied.waiting == 2, "nothing of the copy's is taken for arrived"
    assert {(alarm.sensor, alarm.window, alarm.reporter) for alarm in owner_of(parties).alarms()} == {
        ("room-1", 0, "detector"), ("room-1", 0, "corrector"),
    }  # fmt: skip
    assert owner_of(parties).alarms()[0].reason.words.startswith("sent a second version")
    transport.carry(copied.resume())
    assert len(owner_of(parties).alarms()) == 2, "each party says it once a window"
    assert all(party.waiting == 0 for party in parties.values())
    # The one that was first goes on.
    transport.carry(sensor_of(parties).send(DAY))
    assert sensor_of(parties).waiting == 0
    close(parties)
    copied.close()


def test_what_is_sent_again_raises_no_alarm_however_late(tmp_path: Path) -> None:
    parties = make(tmp_path)
    heard: list[Message] = []
    transport = LocalTransport(parties.values(), heard.append)
    for _ in range(3):
        transport.carry(sensor_of(parties).send(DAY))
    for message in [item for item in heard if isinstance(item, Readings | Shifts)]:
        answers = parties[message.recipient].handle(message)
        assert [type(item.message) for item in answers] == [MessageReceipt]
    assert owner_of(parties).alarms() == []
    close(parties)


def test_of_finished_windows_a_byte_of_each_batch_is_kept_and_of_old_ones_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "detector") as journal, journal.transaction():
        for window in range(REMEMBERED + 5):
            remember(journal, Readings("room-1", window, np.full((1, 1), window)))
            journal.finish("room-1", window)
        kept = journal.execute("SELECT COUNT(*), MIN(window), MAX(LENGTH(digest)) FROM versions").fetchone()
        assert kept == (REMEMBERED, 5, 1)
        others = [Readings("room-1", 9, np.full((1, 1), value)) for value in range(10_000, 10_400)]
        assert sum(is_other_version(journal, other) for other in others) > 390  # of 400, about 398
        assert not is_other_version(journal, Readings("room-1", 9, np.full((1, 1), 9)))


@pytest.fixture
def few_open(monkeypatch: pytest.MonkeyPatch) -> int:
    """Have servers keep fewer windows at a time, so that fewer are too many."""
    for module in (parties_module, server_module):
        monkeypatch.setattr(module, "MOST_OPEN", 8)
    return 8


def test_a_server_that_lost_its_journal_rejoins_once_the_owner_gives_up_what_is_lost(
    tmp_path: Path, few_open: int
) -> None:
    parties = make(tmp_path)
    transport = LocalTransport(parties.values())
    for _ in range(3):
        transport.carry(sensor_of(parties).send(np.tile(DAY, (few_open // 2, 1))))
    windows = 3 * (few_open // 2)
    assert len(list(owner_of(parties).verdicts())) == windows
    close(parties)
    for file in tmp_path.glob("corrector.journal*"):
        file.unlink()
    parties = make(tmp_path)
    transport = LocalTransport(parties.values())
    transport.carry(sensor_of(parties).send(DAY))
    assert parties["sensor/room-1"].waiting == 1, "the corrector cannot know that so many are finished"
    with pytest.raises(InputError, match=f"stream skip --sensor room-1 --until {windows}"):
        parties["corrector"].handle(Shifts("room-1", windows, np.zeros(1, np.int64)))
    transport.carry(owner_of(parties).skip("room-1", 0, windows - 1, reason="the corrector's disk is lost"))
    transport.resume()
    found = [item.verdict for item in owner_of(parties).verdicts()]
    assert [verdict.complete for verdict in found] == [True] * (windows + 1), "all of them had one"
    assert all(party.waiting == 0 for party in parties.values())
    close(parties)


def test_a_window_that_is_given_up_has_a_verdict_that_says_so_and_no_other(tmp_path: Path) -> None:
    parties = make(tmp_path)
    lost = sensor_of(parties).send(DAY)
    readings, shifts = lost
    # The detector's half never arrives; the others wait.
    transport = LocalTransport(parties.values())
    transport.carry([shifts, *sensor_of(parties).send(DAY)])
    transport.carry(owner_of(parties).skip("room-1", 0, 0, reason="room-1 was replaced"))
    transport.carry([readings])
    found = {item.verdict.window: item.verdict for item in owner_of(parties).verdicts()}
    assert {window: verdict.complete for window, verdict in found.items()} == {0: False, 1: True}
    assert len(found[0].found) == 0
    assert all(party.waiting == 0 for party in parties.values())
    journal = owner_of(parties).journal
    assert journal.execute("SELECT sensor, first, last, reason FROM decisions").fetchall() == [
        ("room-1", 0, 0, "room-1 was replaced")
    ]
    close(parties)


def test_decisions_come_from_the_owner_alone_and_with_a_reason(tmp_path: Path) -> None:
    parties = make(tmp_path)
    with pytest.raises(InputError, match="no decision of the owner"):
        parties["corrector"].handle(Skip("room-1", 0, "detector", "corrector", 5))
    with pytest.raises(InputError, match="reason"):
        owner_of(parties).skip("room-1", 0, 5, reason=" ")
    with pytest.raises(InputError, match="not declared"):
        owner_of(parties).skip("room-9", 0, 5, reason="gone")
    with pytest.raises(InputError, match="more than 100,000"):
        owner_of(parties).skip("room-1", 0, 10**6, reason="a slip of the hand")
    with pytest.raises(InputError, match="more than 256 windows"):
        parties["corrector"].handle(Skip("room-1", 7, "owner", "corrector", 7000))
    assert owner_of(parties).waiting == 0
    close(parties)


def test_more_windows_in_one_send_than_a_server_keeps_arrive(tmp_path: Path, few_open: int) -> None:
    parties = make(tmp_path)
    LocalTransport(parties.values()).carry(sensor_of(parties).send(np.tile(DAY, (3 * few_open, 1))))
    assert len(list(owner_of(parties).verdicts())) == 3 * few_open
    assert all(party.waiting == 0 for party in parties.values())
    close(parties)


NOTICES = [
    Alarm("room-1", 3, "detector", "corrector", "detector", AlarmReason.OTHER_VERSION, 7),
    Skip("room-1", 0, "owner", "corrector", 2**40, 1),
    receipt_of(Skip("room-1", 0, "owner", "corrector", 9, 1)),
]


@pytest.mark.parametrize("notice", NOTICES, ids=lambda notice: type(notice).__name__)
def test_a_notice_is_read_back_and_a_damaged_one_refused(notice: Message) -> None:
    data = notice.to_bytes()
    again = read_message(data)
    assert (again, again.sender, again.recipient) == (notice, notice.sender, notice.recipient)
    for end in range(len(data)):
        with pytest.raises(InputError, match=r"cut off|no party|unknown"):
            read_message(data[:end])
    with pytest.raises(InputError, match="behind its end"):
        read_message(data + b"!")


def test_the_receipt_of_a_notice_goes_back_to_whom_it_came_from() -> None:
    receipt = receipt_of(NOTICES[0])
    assert isinstance(receipt, NoticeReceipt)
    assert (receipt.sender, receipt.recipient, receipt.sequence) == ("corrector", "detector", 7)
