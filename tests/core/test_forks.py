# SPDX-License-Identifier: Apache-2.0
"""A fork takes what it waits for in one order, and lets go exactly what it took."""

from __future__ import annotations

import os
import threading

import pytest

from anonymaly.core import forks
from anonymaly.core.forks import ORDER, Place, at_fork


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was called, of hooks that were registered in the opposite order."""
    monkeypatch.setattr(forks, "_hooks", {})
    found: list[str] = []
    for place in reversed(ORDER):
        _register(place, found)
    return found


def _register(place: Place, found: list[str]) -> None:
    at_fork(
        place,
        before=lambda: found.append(f"before {place}"),
        in_parent=lambda: found.append(f"parent {place}"),
        in_child=lambda: found.append(f"child {place}"),
    )


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_order_is_the_same_whoever_was_imported_first(called: list[str]) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, ",".join(called).encode())
        os._exit(0)
    os.waitpid(child, 0)
    before = [f"before {place}" for place in ORDER]
    assert os.read(read, 10_000).decode().split(",") == before + [f"child {place}" for place in ORDER[::-1]]
    assert called == before + [f"parent {place}" for place in ORDER[::-1]]


def test_what_is_registered_in_the_middle_of_a_fork_is_not_let_go(called: list[str]) -> None:
    del forks._hooks["journal"]
    forks._before()
    _register("journal", called)
    forks._in_parent()
    assert "parent journal" not in called


def test_two_threads_that_fork_wait_for_each_other(called: list[str]) -> None:
    forks._before()
    other = threading.Thread(target=lambda: (forks._before(), forks._in_parent()))
    other.start()
    forks._in_parent()
    other.join()
    once = [f"before {place}" for place in ORDER] + [f"parent {place}" for place in ORDER[::-1]]
    assert called == once * 2
