# SPDX-License-Identifier: Apache-2.0
"""Work on all cores, in short-lived ordinary threads: compiled functions release the interpreter's lock.

Threads live for one call only: a pool kept between calls would not survive a fork, and numba's own pools are
fatal in a server (see `compiled`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def worker_threads() -> int:
    """Return the number of threads that share large work: the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def equal_ranges(number: int, least: int) -> list[tuple[int, int]]:
    """Cut 0 … number into one range for each worker; fewer, if they would be shorter than ``least``.

    Examples
    --------
    >>> equal_ranges(5, least=10), equal_ranges(0, least=10)
    ([(0, 5)], [(0, 0)])
    """
    threads = min(worker_threads(), number // least)
    if threads <= 1:
        return [(0, number)]
    step = -(-number // threads)
    return [(start, min(start + step, number)) for start in range(0, number, step)]


def in_threads(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    *,
    each: Callable[[Result], object] | None = None,
    alone: bool = False,
) -> list[Result]:
    """Return the work's results in the order of the pieces.

    Parameters
    ----------
    work : callable
        What is done to a piece.
    pieces : sequence
        What the work is done to; no two pieces may write to the same memory.
    each : callable, optional
        Called in this thread with every result, in order. If it raises, pieces not yet started are dropped.
    alone : bool
        Whether the work is so small that starting threads would take longer.

    Examples
    --------
    >>> in_threads(len, ["a", "bc", ""])
    [1, 2, 0]
    """
    threads = 1 if alone else min(worker_threads(), len(pieces))
    if threads <= 1:
        return [_handed_on(work(piece), each) for piece in pieces]
    pool = ThreadPoolExecutor(threads)
    try:
        return [_handed_on(result, each) for result in pool.map(work, pieces)]
    finally:
        pool.shutdown(cancel_futures=True)


def _handed_on(result: Result, each: Callable[[Result], object] | None) -> Result:
    if each is not None:
        each(result)
    return result
