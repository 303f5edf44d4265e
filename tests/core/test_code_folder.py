# SPDX-License-Identifier: Apache-2.0
"""Compiled code is kept in one folder that nobody else can write to, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymaly.core.code_folder import CodeFolder, code_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX; run on Linux")


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ANONYMALY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    code_folder.cache_clear()
    yield
    code_folder.cache_clear()


def test_it_is_made_for_us_alone_where_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path / "mine"))
    folder = code_folder()
    assert folder == CodeFolder(tmp_path / "mine" / "compiled")
    assert (tmp_path / "mine" / "compiled").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("shared", "place"), [("caches", "caches/anonymaly"), ("", ".cache/anonymaly")])
def test_without_the_setting_it_is_in_the_users_caches(
    shared: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if shared:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / shared))
    assert code_folder().path == tmp_path / place / "compiled"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o755])
def test_a_folder_that_is_open_to_others_is_not_used(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path))
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled").chmod(mode)
    folder = code_folder()
    assert folder.for_this_version is None
    assert f"open to others (mode {mode:04o})" in str(folder.problem)


def test_a_folder_below_one_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o777)
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path / "all"))
    assert "above it, can be written to by others" in str(code_folder().problem)
    code_folder.cache_clear()
    (tmp_path / "all").chmod(0o1777)  # as /tmp: only the owner of a name can change it
    assert code_folder().problem is None


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "compiled").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path))
    assert "is not a folder" in str(code_folder().problem)


def test_a_place_that_cannot_be_made_is_a_reason_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path / "file"))
    assert "cannot be made" in str(code_folder().problem)


def test_clearing_removes_compiled_code_and_nothing_else(tmp_path: Path) -> None:
    ours, other = tmp_path / "anonymaly-0.1", tmp_path / "holiday"
    for folder in (ours, other):
        folder.mkdir()
        (folder / "f-1.code").write_bytes(b"12345")
    (ours / "f-2.code.x7.part").write_bytes(b"1")
    (tmp_path / "notes.txt").touch()
    folder = CodeFolder(tmp_path)
    assert folder.size() == 6
    assert folder.clear() == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["f-1.code", "holiday", "notes.txt"]
