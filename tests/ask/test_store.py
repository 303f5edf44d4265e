# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from anonymaly.ask.store import ABANDONED, Store
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
    for name, age in (("partial.old", ABANDONED + 60), ("partial.new", 0)):
        (tmp_path / name).write_text("x")
        moment = os.stat(tmp_path / name).st_mtime - age
        os.utime(tmp_path / name, (moment, moment))
    store.sweep({KEY: released.digest})
    left = {path.name for path in tmp_path.iterdir()}
    assert store.path(KEY, overtaken.digest).name not in left
    assert left == {
        store.path(KEY, released.digest).name,
        store.path(OTHER, still_open.digest).name,
        "partial.new",
    }


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
