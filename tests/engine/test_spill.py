# SPDX-License-Identifier: Apache-2.0
"""Where the embedded engine writes rows that do not fit in memory, and that they do not stay there."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anonymaly.engine import spill
from anonymaly.engine.statements import collect
from tests.declare.tables import PLACES, arrow, declare

LIVING = """
import os, sys
from anonymaly.engine import spill
(spill.folder() / "duckdb_temp_storage.tmp").write_text("rows")
print(spill.folder(), flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for temporary files that no other test looks at."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(spill, "_of_process", None)
    yield tmp_path / "temporary"
    monkeypatch.undo()


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", LIVING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def where(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


@pytest.mark.parametrize("place", ["csv", "parquet", "arrow", "duckdb file", "duckdb url"])
def test_rows_are_spilled_where_only_their_owner_can_look(
    place: str, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "working").mkdir()
    monkeypatch.chdir(tmp_path / "working")
    table = declare(PLACES[place](arrow(), tmp_path)).table
    ((path,),) = table.get_backend().con.execute("SELECT current_setting('temp_directory')").fetchall()
    assert Path(path).parent == elsewhere
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
    collect(table)
    assert list((tmp_path / "working").iterdir()) == []


def test_what_a_killed_process_left_is_swept_when_the_next_one_starts(elsewhere: Path) -> None:
    with start() as living, start() as killed:
        left, kept = where(killed), where(living)
        killed.communicate("\n")
        assert (left / "duckdb_temp_storage.tmp").exists()
        own = spill.folder()
        assert sorted(elsewhere.iterdir()) == sorted([kept, own])
        assert (kept / "duckdb_temp_storage.tmp").exists()
        living.communicate("\n")


def test_a_folder_swept_before_it_was_locked_is_made_again(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = fcntl.flock, []

    def sweep_first(file: Any, operation: int) -> None:
        if not swept:
            swept.append(True)
            spill.sweep()  # as another process does at this moment, from beginning to end
            assert list(elsewhere.iterdir()) == []
        lock(file, operation)

    monkeypatch.setattr("fcntl.flock", sweep_first)
    path, held = spill._make()
    assert path.is_dir()
    held.close()


def test_a_process_that_ends_takes_its_folder_along(elsewhere: Path) -> None:
    code = "from anonymaly.engine import spill; print(spill.folder())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert Path(made.strip()).parent == elsewhere
    assert list(elsewhere.iterdir()) == []


def test_a_sweep_follows_no_link_and_takes_nothing_else(elsewhere: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / spill.LOCK).touch()
    (elsewhere / f"{spill.PREFIX}link").symlink_to(tmp_path / "precious")
    (elsewhere / "other").mkdir()
    (elsewhere / f"{spill.PREFIX}full").mkdir()
    (elsewhere / f"{spill.PREFIX}full" / "file").touch()  # without a lock it is none of ours
    (elsewhere / f"{spill.PREFIX}empty").mkdir()
    spill.sweep()
    assert (tmp_path / "precious" / spill.LOCK).exists()
    assert {path.name for path in elsewhere.iterdir()} == {
        "other",
        f"{spill.PREFIX}link",
        f"{spill.PREFIX}full",
    }


def test_a_forked_child_has_a_folder_of_its_own(elsewhere: Path) -> None:
    own = spill.folder()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, str(spill.folder()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = Path(os.read(read, 1000).decode())
    assert own != theirs
    assert own.exists()
    spill.sweep()
    assert not theirs.exists()
