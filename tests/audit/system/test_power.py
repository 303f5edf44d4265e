# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from anonymaly.audit.system.disk import TOP, watched
from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.power import POWER_FAULTS, power_moments, power_problems
from anonymaly.audit.system.power_sensor import SENSOR_FAULT, sensor_cuts, sensor_problems
from anonymaly.core.files import appearing, make_folder, sync_folder

pytestmark = pytest.mark.usefixtures("heard")


@pytest.mark.slow
def test_a_power_cut_at_any_moment_loses_neither_a_charge_nor_an_answer() -> None:
    assert found_as_it_is(power_problems) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [it for it in POWER_FAULTS if it is not SENSOR_FAULT], ids=lambda fault: fault.name
)
def test_what_is_not_on_the_disk_in_time_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(power_problems)


@pytest.mark.slow
def test_a_journal_that_is_not_on_the_disk_in_time_is_rejected() -> None:
    assert SENSOR_FAULT in POWER_FAULTS
    with SENSOR_FAULT.planted(), closing(sensor_problems()) as problems:
        assert next(problems, None) is not None


def test_the_power_is_cut_after_every_step_of_asking(tmp_path: Path) -> None:
    moments = power_moments(tmp_path, anchored=True)
    steps = [moment.after for moment in moments]
    assert {"reported a charge", "began to read rows", "handed over an answer"} <= set(steps)
    for part in ("ledger/patients.ledger-wal", "anchor/", "the folder answers"):
        assert any(f"synced {part}" in step for step in steps), part
    assert (moments[-1].draws, len(moments[-1].charged), len(moments[-1].told)) == (2, 2, 2)


def test_only_what_was_synced_survives(tmp_path: Path) -> None:
    root, left = tmp_path / "root", tmp_path / "left"
    for folder in (root, left):
        folder.mkdir()
    with watched(root) as disk:
        with appearing(root / "durable") as file:
            file.write(b"bytes")
        (root / "unsynced name").write_bytes(b"bytes")
        (root / "renamed").write_bytes(b"bytes")
        (root / "renamed").rename(root / "unsynced bytes")
        make_folder(root / "folder" / "inner")
        (root / "unsynced folder").mkdir()
        (root / "unsynced name").rename(root / "folder" / "inner" / "moved")
        image = disk.image()
        sync_folder(root / "folder" / "inner")
        later = disk.image()
    image.restore(left)
    found = {str(path.relative_to(left)): path.is_file() and path.read_bytes() for path in left.rglob("*")}
    assert found == {
        "durable": b"bytes",
        "unsynced name": b"",
        "unsynced bytes": b"",
        "folder": False,
        "folder/inner": False,
    }
    assert list(later.names[Path("folder/inner")]) == ["moved"]
    assert later.names[TOP] == image.names[TOP]


def test_a_file_that_is_written_after_its_sync_is_left_as_it_was_then(tmp_path: Path) -> None:
    root, left = tmp_path / "root", tmp_path / "left"
    for folder in (root, left):
        folder.mkdir()
    with watched(root) as disk:
        with appearing(root / "file") as file:
            file.write(b"first")
        (root / "file").write_bytes(b"second")
        disk.image().restore(left)
    assert (left / "file").read_bytes() == b"first"


def test_a_part_of_what_was_not_synced_may_be_left_and_the_same_part_by_the_same_seed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    found = []
    with watched(root) as disk:
        with appearing(root / "durable") as file:
            file.write(b"first")
        (root / "durable").write_bytes(b"second")
        (root / "unsynced").write_bytes(b"bytes")
        for seed in [*range(20), *range(20)]:
            left = tmp_path / f"left {len(found)}"
            left.mkdir()
            disk.image(random.Random(seed)).restore(left)
            found.append({path.name: path.read_bytes() for path in left.iterdir()})
    assert found[:20] == found[20:]
    assert {names["durable"] for names in found} == {b"first", b"second"}
    assert {names.get("unsynced") for names in found} == {None, b"", b"bytes"}


def test_the_power_is_cut_after_every_step_of_a_sensor(tmp_path: Path) -> None:
    cuts = sensor_cuts(tmp_path)
    steps = [cut.after for cut in cuts]
    for step in ("handed over a batch", "synced journal/room.journal-wal", "synced ledger/room.ledger-wal"):
        assert step in steps
    assert (cuts[-1].readings, len(cuts[-1].told)) == (5, 6)
