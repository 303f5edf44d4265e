# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from anonymaly.ask.store import Store
from anonymaly.core.files import PartialFile
from anonymaly.errors import LedgerDamaged, LedgerError

KEY, OTHER = "a" * 64, "b" * 64


def _write(data: bytes) -> object:
    def write(file: BinaryIO) -> None:
        for start in range(0, len(data), 3):
            file.write(data[start : start + 3])

    return write


def test_what_is_kept_is_found_by_its_digest(tmp_path: Path) -> None:
    store = Store(tmp_path / "answers")
    stored = store.keep(KEY, _write(b"forty-two"))  # type: ignore[arg-type]
    assert stored.size == 9
    with store.open(KEY, stored.digest) as file:
        assert file.read() == b"forty-two"
    assert oct(os.stat(store.folder).st_mode & 0o777) == "0o700"
    assert oct(os.stat(store.path(KEY, stored.digest)).st_mode & 0o777) == "0o600"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.keep(KEY, fail)
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_no_digest_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key, digest in ((KEY, "../../etc/passwd"), ("../x", KEY)):
        with pytest.raises(LedgerDamaged):
            store.open(key, digest)


def test_sweeping_removes_overtaken_draws_and_keeps_released_and_open_ones(tmp_path: Path) -> None:
    store = Store(tmp_path)
    released = store.keep(KEY, _write(b"released"))  # type: ignore[arg-type]
    overtaken = store.keep(KEY, _write(b"overtaken"))  # type: ignore[arg-type]
    still_open = store.keep(OTHER, _write(b"open"))  # type: ignore[arg-type]
    store.sweep({KEY: released.digest})
    left = {path.name for path in tmp_path.iterdir()}
    assert store.path(KEY, overtaken.digest).name not in left
    assert left == {
        store.path(KEY, released.digest).name,
        store.path(OTHER, still_open.digest).name,
    }


def test_a_draw_that_a_killed_process_left_half_written_goes_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "partial.left").write_text("half a draw that nobody was given")
    with PartialFile(tmp_path, prefix="partial.") as written:
        (running,) = tmp_path.glob("partial.[!l]*")
        assert oct(os.stat(running).st_mode & 0o777) == "0o600"
        Store(tmp_path).sweep({})
        assert list(tmp_path.iterdir()) == [running], "one that is being written stays"
        written.file.write(b"whole")
        written.appear(tmp_path / "appeared")
    assert (tmp_path / "appeared").read_bytes() == b"whole"


def test_a_name_holds_the_whole_key(tmp_path: Path) -> None:
    store = Store(tmp_path)
    twin = KEY[:16] + OTHER[16:]  # as hard to find as 2^32 hashes, if the name holds 16 digits
    first = store.keep(KEY, _write(b"first"))  # type: ignore[arg-type]
    second = store.keep(twin, _write(b"second"))  # type: ignore[arg-type]
    store.settle(twin, second.digest)
    store.sweep({twin: second.digest})
    store.open(KEY, first.digest).close()
    assert {path.name for path in tmp_path.iterdir()} == {f"{KEY}-{first.digest}", f"{twin}-{second.digest}"}


def test_an_answer_under_the_shorter_name_of_earlier_versions_is_read_and_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored = store.keep(KEY, _write(b"released"))  # type: ignore[arg-type]
    dropped = store.keep(KEY, _write(b"dropped"))  # type: ignore[arg-type]
    for digest in (stored.digest, dropped.digest):
        store.path(KEY, digest).rename(tmp_path / f"{KEY[:16]}-{digest}")
    store.sweep({KEY: stored.digest})
    assert [path.name for path in tmp_path.iterdir()] == [f"{KEY[:16]}-{stored.digest}"]
    with store.open(KEY, stored.digest) as file:
        assert file.read() == b"released"


@pytest.mark.parametrize("name", [f"{KEY}-x", f"{KEY[:16]}-x", "partial.x", "x"])
def test_a_folder_among_the_answers_disturbs_nobody(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    (tmp_path / name).mkdir()
    stored = store.keep(KEY, _write(b"kept"))  # type: ignore[arg-type]
    store.settle(KEY, stored.digest)
    store.sweep({KEY: stored.digest})
    store.open(KEY, stored.digest).close()
    assert [path.name for path in store.strangers(lambda: [KEY])] == [name]


def test_a_folder_in_the_place_of_an_answer_is_a_missing_answer(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / f"{KEY}-{OTHER}").mkdir()
    with pytest.raises(LedgerDamaged, match="missing"):
        store.open(KEY, OTHER)


def test_settling_a_question_keeps_its_answer_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    kept, dropped = (store.keep(KEY, _write(data)) for data in (b"kept", b"dropped"))  # type: ignore[arg-type]
    other = store.keep(OTHER, _write(b"dropped"))  # type: ignore[arg-type]
    store.settle(KEY, kept.digest)
    assert store.path(KEY, kept.digest).exists()
    assert not store.path(KEY, dropped.digest).exists()
    assert store.path(OTHER, other.digest).exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LedgerError, match="store"):
        Store(tmp_path / "file" / "answers")


def test_an_answer_is_handed_over_though_its_file_cannot_be_closed(tmp_path: Path) -> None:
    store = Store(tmp_path / "answers")
    kept = store.keep("a" * 64, lambda file: file.write(b"{}"))
    with store.open("a" * 64, kept.digest) as file:
        assert file.read() == b"{}"
        os.close(file.fileno())  # to close it once more fails
