# SPDX-License-Identifier: Apache-2.0
"""Compiled code is kept by what it depends on: nothing stale, damaged or of another signature is ever run."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from anonymaly.core.code_folder import code_folder
from anonymaly.core.compiled import KERNELS
from anonymaly.core.compiling import heard_by
from anonymaly.core.fingerprint import fingerprint

CALLED = """
from anonymaly.core.compiled import compiled, inlined

STEP = {step}


@{how}
def plus(number):
    return number + STEP
"""
CALLING = """
import plus_of_test
from anonymaly.core.compiled import compiled


@compiled
def twice(number):
    return plus_of_test.plus(plus_of_test.plus(number))
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """What writes the two modules and imports them anew, as another process would."""
    before = list(KERNELS)
    monkeypatch.setenv("ANONYMALY_CACHE", str(tmp_path / "cache"))
    code_folder.cache_clear()

    def anew(step: int = 1, how: str = "compiled") -> ModuleType:
        texts = {"plus_of_test": CALLED.format(step=step, how=how), "twice_of_test": CALLING}
        for name, text in texts.items():
            path = tmp_path / f"{name}.py"
            path.write_text(text)
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return module

    yield anew
    KERNELS[:] = before
    code_folder.cache_clear()


def compiled_for(use: Callable[[], Any]) -> tuple[Any, list[str]]:
    heard: list[str] = []
    with heard_by(lambda name, began: heard.append(name) if began else None):
        found = use()
    return found, heard


def test_what_was_compiled_once_is_not_compiled_again(
    load: Callable[..., ModuleType], tmp_path: Path
) -> None:
    assert compiled_for(lambda: load().twice(5)) == (7, ["twice", "plus"])
    assert compiled_for(lambda: load().twice(5)) == (7, [])
    folder = code_folder().for_this_version
    assert folder is not None
    assert {file.name.partition("-")[0] for file in folder.iterdir()} == {"twice", "plus"}
    assert {file.stat().st_mode & 0o077 for file in folder.iterdir()} == {0}


@pytest.mark.parametrize("how", ["compiled", "inlined"])
def test_a_constant_of_another_file_that_changes_is_compiled_in(
    how: str, load: Callable[..., ModuleType]
) -> None:
    assert load(1, how).twice(5) == 7
    assert load(10, how).twice(5) == 25
    assert compiled_for(lambda: load(1, how).twice(5)) == (7, [])


def test_another_signature_has_a_file_of_its_own(load: Callable[..., ModuleType]) -> None:
    module = load()
    assert (module.twice(5), module.twice(0.5)) == (7, 2.5)
    again = load()
    assert compiled_for(lambda: (again.twice(0.5), again.twice(5))) == ((2.5, 7), [])


def test_damaged_code_is_compiled_again_and_mended(load: Callable[..., ModuleType]) -> None:
    load().twice(5)
    folder = code_folder().for_this_version
    assert folder is not None
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    assert compiled_for(lambda: load().twice(5)) == (7, ["twice", "plus"])
    assert compiled_for(lambda: load().twice(5)) == (7, [])


def test_a_disk_that_is_full_costs_no_answer_and_leaves_no_part_of_a_file(
    load: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert load().twice(5) == 7
    folder = code_folder().for_this_version
    assert folder is not None
    assert list(folder.iterdir()) == []


def test_without_a_folder_everything_works_and_nothing_is_kept(
    load: Callable[..., ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()
    code_folder.cache_clear()
    assert load().twice(5) == 7
    assert compiled_for(lambda: load().twice(5))[1] == ["twice", "plus"]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_compile_at_once_leave_code_that_is_right(load: Callable[..., ModuleType]) -> None:
    load()
    children = []
    for number in (5, 0.5, 5, 0.5):
        child = os.fork()
        if child == 0:
            os._exit(0 if load().twice(number) == number + 2 else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    again = load()
    assert compiled_for(lambda: (again.twice(5), again.twice(0.5))) == ((7, 2.5), [])
    folder = code_folder().for_this_version
    assert folder is not None
    assert not [file for file in folder.iterdir() if file.suffix == ".part"]


def test_arrays_tuples_and_what_emits_code_count(load: Callable[..., ModuleType]) -> None:
    def uses(value: Any) -> str:
        scope: dict[str, Any] = {"value": value}
        exec("def use():\n    return value\n", scope)  # noqa: S102
        return fingerprint(scope["use"])

    values = [1, 1.0, True, "1", None, (1, 2), (2, 1), np.array([1, 2]), np.array([1, 3]), np.int32(1)]
    values += [np.float64, load, Path]
    prints = [uses(value) for value in values]
    assert len(set(prints)) == len(prints)
    assert [uses(value) for value in values] == prints
