# SPDX-License-Identifier: Apache-2.0
"""Each handler on the way of a sensor's readings, made to fail while it handles something else."""

from __future__ import annotations

import errno
import os
import sqlite3
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymaly.errors import InputError, LedgerError
from anonymaly.ledger import Ledger
from anonymaly.stream import Detector
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.journal_file import ROOM_BESIDE, TIDY_AFTER
from anonymaly.stream.protocol.messages import Readings, Thresholds
from tests.stream.protocol.parties import ROOM
from tests.stream.protocol.test_sharing import open_sensor

READING = 73.125  # on no grid, so that it can only come from the readings themselves


class Stubborn:
    """A connection of which some statements fail; everything else is the real one's."""

    def __init__(self, connection: sqlite3.Connection, *failing: str, after: int = 0) -> None:
        self._connection, self._failing, self._after = connection, list(failing), after

    def __getattr__(self, name: str) -> Any:
        if name in self._failing:
            raise sqlite3.OperationalError("disk I/O error")
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        if statement in self._failing and self._after:
            self._after -= 1
        elif statement in self._failing:
            raise sqlite3.OperationalError("disk I/O error")
        return self._connection.execute(statement, *values)


def chain(problem: BaseException | None) -> str:
    texts = []
    while problem is not None:
        texts += [*traceback.format_exception(problem), repr(problem)]
        problem = problem.__cause__ or problem.__context__
    return "".join(texts)


@pytest.mark.parametrize("failing", [["COMMIT"], ["COMMIT", "ROLLBACK"]])
def test_readings_that_the_journal_does_not_take_are_forfeited_and_the_next_are_sent(
    tmp_path: Path, failing: list[str]
) -> None:
    with open_sensor(tmp_path) as sensor:
        sensor.send([20.0])
        journal = sensor._journal
        # The first commit is the trial before the charge.
        journal._connection = Stubborn(journal._file, *failing, after=1)  # type: ignore[assignment]
        with pytest.raises(LedgerError, match="journal: cannot be used") as caught:
            sensor.send([READING])
        assert str(READING) not in chain(caught.value)
        if isinstance(journal._connection, Stubborn):
            journal._connection = journal._connection._connection
        assert (sensor.accepted, sensor.spent) == (1, 4)
        sensor.send([21.0])
        assert (sensor.accepted, sensor.spent) == (2, 6)
        kept = [item.message for item in sensor.resume() if isinstance(item.message, Readings)]
        assert [(message.window, message.sequence) for message in kept] == [(0, 0), (0, 1)]
    with open_sensor(tmp_path) as again:
        states = [charge.state for charge in again._ledger.reservations("room-1")]
        assert states == ["committed", "failed", "committed"]
        assert again._ledger.verify().ok


def test_a_journal_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        journal = sensor._journal
        whole = journal._file
        for _ in range(3):
            journal._connection = Stubborn(whole, "COMMIT")  # type: ignore[assignment]
            with pytest.raises(LedgerError, match="journal: cannot be used"):
                sensor.send([READING])
            journal._connection = whole
        assert (sensor.accepted, sensor.spent) == (0, 0)
        assert sensor.send([20.0])


def test_a_full_disk_is_found_before_the_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_sensor(tmp_path) as sensor:
        monkeypatch.setattr(os, "posix_fallocate", full)
        for _ in range(3):
            with pytest.raises(LedgerError, match=r"the disk is full. Make room"):
                sensor.send([READING])
        assert (sensor.accepted, sensor.spent) == (0, 0)
        monkeypatch.undo()
        assert sensor.send([20.0])
        assert (sensor.accepted, sensor.spent) == (1, 2)
    assert not list(tmp_path.glob("*-room"))


def test_room_is_taken_where_a_disk_knows_no_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    with open_sensor(tmp_path) as sensor:
        monkeypatch.setattr(os, "posix_fallocate", unknown)
        room = sensor.journal.reserve_room(10)
        assert room.stat().st_size > ROOM_BESIDE
        monkeypatch.delattr(os, "posix_fallocate")
        room = sensor.journal.reserve_room(100_000)
        assert room.stat().st_size > ROOM_BESIDE + 100_000
        assert sensor.send([20.0])


def test_a_full_database_says_so_in_words(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        pages = sensor._journal.execute("PRAGMA page_count").fetchone()[0]
        sensor._journal.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(LedgerError, match="the disk is full"):
            sensor.send([20.0] * 450)
        sensor._journal.execute("PRAGMA max_page_count=1000000")
        assert sensor.send([20.0])


def test_what_is_finished_is_gone_from_the_disk(tmp_path: Path) -> None:
    marked = np.full((ROOM.window, 1), 0x1122334455667788)
    path = tmp_path / "detector.journal"
    path.touch(mode=0o644)
    with Detector({"room-1": ROOM}, path) as detector:
        assert path.stat().st_mode & 0o777 == 0o600
        detector.handle(Readings("room-1", 0, marked, last=True))
        assert on_disk(tmp_path, marked)
        for window in range(TIDY_AFTER):
            if window:
                detector.handle(Readings("room-1", window, np.zeros((ROOM.window, 1), np.int64), last=True))
            detector.handle(Thresholds("room-1", window, None, None))
        assert not on_disk(tmp_path, marked), "neither in the file nor in SQLite's log"


def on_disk(folder: Path, values: np.ndarray) -> bool:
    return any(values[:1].tobytes() in path.read_bytes() for path in folder.glob("*.journal*"))


def test_an_interrupt_stays_one_though_nothing_can_be_rolled_back(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "owner") as journal:
        journal._connection = Stubborn(journal._file, "ROLLBACK")  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt), journal.transaction():
            _note_and_stop(journal)
        assert journal.read_note("a") is None
        with journal.transaction():
            journal.note("b", "2")
    with Journal(tmp_path / "j", "owner") as again:
        assert (again.read_note("a"), again.read_note("b")) == (None, "2")


def test_a_journal_that_can_neither_be_used_nor_closed_says_that_it_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "j").write_bytes(b"no database" * 1000)
    connect = sqlite3.connect
    monkeypatch.setattr(
        "anonymaly.stream.protocol.journal_file.sqlite3.connect",
        lambda *given, **options: Stubborn(connect(*given, **options), "close"),
    )
    with pytest.raises(InputError, match="cannot be used"):
        Journal(tmp_path / "j", "owner")


@pytest.mark.parametrize("of", ["journal", "sensor"])
def test_what_went_wrong_inside_a_block_is_not_hidden_by_its_end(tmp_path: Path, of: str) -> None:
    party: Any = Journal(tmp_path / "j", "owner") if of == "journal" else open_sensor(tmp_path)
    journal = party if of == "journal" else party._journal
    whole = journal._file
    journal._connection = Stubborn(whole, "close")
    with pytest.raises(KeyError, match="inside"), party:
        raise KeyError("inside")
    whole.close()
    if of == "sensor":
        assert party._ledger._session.closed


def test_a_sensor_that_cannot_open_its_account_says_so_though_nothing_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Journal.close

    def closing(self: Journal) -> None:
        close(self)
        raise OSError(5, "Input/output error")

    closed = []
    monkeypatch.setattr(Journal, "close", closing)
    monkeypatch.setattr(Ledger, "close", lambda self: closed.append("closed"))
    monkeypatch.setattr(Ledger, "open_account", _refused)
    with pytest.raises(LedgerError, match="is full"):
        open_sensor(tmp_path)
    assert len(closed) == 1


def _note_and_stop(journal: Journal) -> None:
    journal.note("a", "1")
    raise KeyboardInterrupt


def _refused(*_: Any, **__: Any) -> None:
    raise LedgerError("is full", field="ledger", next_step="Make room.")
