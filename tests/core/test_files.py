# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymaly.core import files
from anonymaly.core.files import PartialFile, appearing, make_folder, sweep_partial, sync_folder
from tests.children import IdleChild


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_another_name_until_it_is_complete(tmp_path: Path) -> None:
    with appearing(tmp_path / "a") as file:
        file.write(b"whole")
        file.flush()
        (partial,) = tmp_path.iterdir()
        assert partial.name != "a"
        assert mode(partial) == 0o600
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_two_files_on_their_way_to_one_name_do_not_meet(tmp_path: Path) -> None:
    with appearing(tmp_path / "a") as one, appearing(tmp_path / "a") as other:
        one.write(b"one")
        other.write(b"other")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"one", "the outer block ends last"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError, ValueError])
def test_whatever_interrupts_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    (tmp_path / "a").write_text("old")

    def interrupted() -> None:
        with appearing(tmp_path / "a") as file:
            file.write(b"half")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_name_that_cannot_be_taken_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="a"), appearing(tmp_path / "a") as file:
        file.write(b"whole")
    assert names(tmp_path) == ["a"]
    assert not names(tmp_path / "a")


def test_a_private_file_is_its_owners_alone_and_others_are_as_the_system_makes_them(tmp_path: Path) -> None:
    for name, private in (("private", True), ("ordinary", False)):
        with appearing(tmp_path / name, private=private) as file:
            file.write(b"whole")
    assert (mode(tmp_path / "private"), mode(tmp_path / "ordinary")) == (0o600, 0o640)


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("untouched")
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    with appearing(tmp_path / "a") as file:
        file.write(b"new")
    assert not (tmp_path / "a").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "untouched"


def test_a_name_may_be_chosen_when_the_content_is_known(tmp_path: Path) -> None:
    with PartialFile(tmp_path, prefix="partial.") as partial:
        partial.file.write(b"whole")
        assert names(tmp_path)[0].startswith("partial.")
        partial.appear(tmp_path / "chosen")
        with pytest.raises(ValueError, match="already"):
            partial.appear(tmp_path / "twice")
    assert names(tmp_path) == ["chosen"]


def test_what_is_complete_is_on_the_disk_before_its_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def sync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    def replace(source: Path, target: Path) -> None:
        done.append("name")
        Path(source).rename(target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    with appearing(tmp_path / "a") as file:
        file.write(b"whole")
    assert done == ["file", "name", "folder"]
    sync_folder(tmp_path)
    assert done[-1] == "folder"


def test_a_new_folder_and_those_it_lies_in_are_on_the_disk_when_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(files, "sync_folder", lambda path: synced.append(path.name))
    make_folder(tmp_path / "answers" / "patients", mode=0o700)
    assert synced == [tmp_path.name, "answers"]
    assert mode(tmp_path / "answers" / "patients") == 0o700
    assert mode(tmp_path / "answers") == 0o750
    make_folder(tmp_path / "answers" / "patients", mode=0o700)
    assert len(synced) == 2, "nothing was made"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_born_in_the_middle_of_a_sweep_lets_the_maker_of_a_file_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".partial.new").touch()
    made = os.open(tmp_path / ".partial.new", os.O_WRONLY)  # not locked yet
    unlink, born = Path.unlink, []

    def unlink_and_fork(path: Path) -> None:
        unlink(path)
        born.append(IdleChild())

    monkeypatch.setattr(Path, "unlink", unlink_and_fork)
    sweep_partial(tmp_path)
    try:
        fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as the maker does, which would wait
    finally:
        born[0].end()
        os.close(made)
