# SPDX-License-Identifier: Apache-2.0
"""A sensor in threads and across a fork: every batch that leaves has a charge of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from anonymaly.errors import LedgerError
from anonymaly.ledger import Ledger
from anonymaly.stream import Sensor
from anonymaly.stream.protocol.journal import Journal
from anonymaly.stream.protocol.journal_file import _journals
from anonymaly.stream.protocol.messages import Readings
from tests.children import born_while_another_opens, in_child
from tests.stream.protocol.parties import ROOM

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def open_sensor(folder: Path, **options: object) -> Sensor:
    return Sensor(
        "room-1", ROOM, journal=folder / "s.journal", ledger=folder / "s.ledger", budget=1000, **options
    )


def test_threads_that_share_a_sensor_pay_for_every_batch(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        with ThreadPoolExecutor(8) as pool:
            sent = list(pool.map(lambda number: sensor.send([20.0 + number]), range(16)))
        assert len(sent) == 16
        assert sensor.accepted == 16
        assert sensor.spent == 16 * 2
        places = {(item.message.window, item.message.sequence) for batch in sent for item in batch}
        assert len(places) == 16
        assert {charge.state for charge in sensor._ledger.reservations("room-1")} == {"committed"}


def test_a_forked_child_cannot_send_and_its_parent_goes_on(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        first = sensor.send([20.0])

        def send_in_child() -> None:
            for use in (lambda: sensor.send([21.0]), sensor.flush, sensor.resume, lambda: sensor.accepted):
                with pytest.raises(LedgerError, match="process that opened it"):
                    use()
            sensor.close()

        assert in_child(send_in_child)
        second = sensor.send([22.0])
        assert sensor.spent == 2 * 2
        assert [item.message for item in sensor.resume()] == [item.message for item in first + second]
    with open_sensor(tmp_path) as again:
        assert again.accepted == 2


def test_a_child_born_while_another_thread_sends_is_refused_and_does_not_wait(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with sensor._one_send:  # as in the middle of a send
                held.set()
                done.wait()

        def send_in_child() -> None:
            for use in (lambda: sensor.send([21.0]), sensor.flush):
                with pytest.raises(LedgerError, match="process that opened it"):
                    use()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        try:
            assert in_child(send_in_child)
        finally:
            done.set()
            thread.join()
        sensor.send([20.0])


def test_a_journal_opened_while_a_fork_waits_for_another_is_not_inherited_shut(tmp_path: Path) -> None:
    @contextmanager
    def in_use(journal: Journal) -> Iterator[None]:
        with journal, journal._lock:
            yield

    def free() -> bool:
        return all(known._lock.acquire(timeout=1) for known in list(_journals))

    first = in_use(Journal(tmp_path / "a", "owner"))
    assert born_while_another_opens(first, lambda: in_use(Journal(tmp_path / "b", "owner")), free)


def test_a_journal_is_still_held_after_a_fork(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        sensor.send([20.0])
        assert in_child(lambda: None)
        with pytest.raises(Exception, match="one program only"):
            open_sensor(tmp_path)
        sensor.send([20.0])


def test_a_charge_that_another_process_made_pays_for_nothing_here(tmp_path: Path) -> None:
    with open_sensor(tmp_path) as sensor:
        sensor.send([20.0])
        with Ledger.open(tmp_path / "s.ledger") as other:
            other.reserve("room-1", analyst="stream", key="send-1", cost=ROOM.cost_of(1), record={})
        with pytest.raises(LedgerError, match="another process sends"):
            sensor.send([21.0])
        assert sensor.accepted == 1
        sensor.send([21.0])
        assert sensor.spent == 3 * 2


def test_no_two_sends_share_a_charge_though_the_first_failed_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sensor(tmp_path, anchor=tmp_path / "s.anchor") as sensor:
        sensor.send([20.0])
        with monkeypatch.context() as patch:
            patch.setattr("anonymaly.core.files.os.fsync", _full)
            with pytest.raises(LedgerError, match="what was charged stands"):
                sensor.send([21.0])  # the charge is on the disk, and its anchor is not
        assert sensor.accepted == 1
        sensor.send([21.0, 22.0, 23.0])
        assert (sensor.accepted, sensor.spent) == (4, (1 + 1 + 3) * 2)
    with open_sensor(tmp_path, anchor=tmp_path / "s.anchor") as again:
        states = [charge.state for charge in again._ledger.reservations("room-1")]
        assert states == ["committed", "failed", "committed"]
        again.send([20.0])
        assert again.spent == (5 + 1) * 2


def test_a_charge_whose_commit_failed_is_committed_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_sensor(tmp_path) as sensor:
        with monkeypatch.context() as patch:
            patch.setattr(sensor._ledger, "commit", _closed)
            with pytest.raises(LedgerError):
                sensor.send([20.0])
        assert sensor.accepted == 1  # it is in the journal, and will be sent
        sensor.send([21.0])
    with open_sensor(tmp_path) as again:
        assert [charge.state for charge in again._ledger.reservations("room-1")] == ["committed"] * 2
        kept = [item.message for item in again.resume() if isinstance(item.message, Readings)]
        assert len(kept) == 2


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def _closed(*_: object, **__: object) -> None:
    raise LedgerError("is closed", field="ledger", next_step="Open it again.")
