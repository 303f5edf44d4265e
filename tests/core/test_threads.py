# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymaly
from anonymaly.core import threads
from anonymaly.core.threads import equal_ranges, in_threads


@pytest.fixture(autouse=True)
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "worker_threads", lambda: 3)


@pytest.mark.parametrize("alone", [False, True])
def test_results_come_in_the_order_of_the_pieces(alone: bool) -> None:
    seen: list[int] = []
    assert in_threads(lambda piece: piece**2, range(50), each=seen.append, alone=alone) == [
        piece**2 for piece in range(50)
    ]
    assert seen == [piece**2 for piece in range(50)]


def test_several_pieces_are_worked_on_at_once_and_one_piece_in_the_callers_thread() -> None:
    together = threading.Barrier(3)
    in_threads(lambda piece: together.wait(timeout=60), range(3))
    caller = threading.get_ident()
    assert in_threads(lambda piece: threading.get_ident(), [0]) == [caller]
    assert set(in_threads(lambda piece: threading.get_ident(), range(9), alone=True)) == {caller}
    assert in_threads(len, []) == []


def test_when_progress_raises_pieces_not_begun_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    dropped = threading.Event()

    class Watched(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            dropped.set()
            super().shutdown(wait=wait)

    def work(piece: int) -> int:
        begun.append(piece)
        return piece if not piece else int(dropped.wait(60))

    def refuse(result: int) -> None:
        raise RuntimeError("refused")

    monkeypatch.setattr(threads, "ThreadPoolExecutor", Watched)
    with pytest.raises(RuntimeError, match="refused"):
        in_threads(work, range(1000), each=refuse)
    assert len(begun) <= 4


def test_a_failure_is_raised() -> None:
    def fail(piece: int) -> int:
        raise ValueError(piece)

    with pytest.raises(ValueError, match="0"):
        in_threads(fail, range(10))


def test_no_thread_outlives_its_call_so_that_a_fork_is_safe() -> None:
    before = threading.active_count()
    in_threads(lambda piece: piece, range(30))
    assert threading.active_count() == before
    child = os.fork()
    if not child:
        os._exit(0 if in_threads(lambda piece: piece, range(30)) == list(range(30)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@given(st.integers(0, 10_000), st.integers(1, 3_000))
def test_ranges_cover_everything_once_and_are_long_enough(number: int, least: int) -> None:
    ranges = equal_ranges(number, least)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == number
    assert all(one[1] == other[0] for one, other in itertools.pairwise(ranges))
    assert len(ranges) <= 3
    assert len(ranges) == 1 or all(end - start >= least for start, end in ranges[:-1])


def test_nobody_else_keeps_a_pool() -> None:
    sources = Path(anonymaly.__file__).parent.rglob("*.py")
    pools = [path.name for path in sources if re.search("ThreadPoolExecutor", path.read_text("utf-8"))]
    # A party of a stream has one thread of its own for as long as it lives; audits attack with theirs.
    assert sorted(pools) == ["carrier.py", "entropy.py", "locks.py", "threads.py"]
