# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is at the engine: two threads at once hang or fail, and a failed question stays charged.

A statement that is half read may be found to be garbage in any thread, which then ends its turn: so the lock
is a plain one, and who took it is noted beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from anonymaly.core.forks import at_fork

Block = AbstractContextManager[object]


class Turns:
    """One turn after the other; a thread whose turn it is may begin another statement meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None

    def take(self) -> tuple[Block, Block]:
        """Return two blocks to enter, the first of which waits for the end of other threads' turns.

        A generator enters them itself: garbage is ended in any order, and a helper's frame that holds the
        lock might be ended before the statement.
        """
        if self._lock.locked() and self._thread == threading.get_ident():
            return nullcontext(), nullcontext()
        return self._lock, self._noted()

    @contextmanager
    def _noted(self) -> Iterator[None]:
        self._thread = threading.get_ident()
        try:
            yield
        finally:
            self._thread = None


_turns = Turns()
_of_fork = ExitStack()


def take_turn() -> tuple[Block, Block]:
    """Return the two blocks to be in, one inside the other, while an engine's connection is used."""
    return _turns.take()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Be the only thread that uses an engine's connection, for as long as the block runs."""
    lock, noted = take_turn()
    with lock, noted:
        yield


def _before_fork() -> None:
    # The child has a copy of the engine: one that is in the middle of a statement would wait for ever.
    _of_fork.enter_context(one_at_a_time())


def _after_in_child() -> None:
    # Fresh ones, whatever this thread held.
    global _turns  # noqa: PLW0603
    _of_fork.pop_all()
    _turns = Turns()


at_fork("table", before=_before_fork, in_parent=_of_fork.close, in_child=_after_in_child)
