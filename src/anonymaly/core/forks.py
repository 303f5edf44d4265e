# SPDX-License-Identifier: Apache-2.0
"""What a fork waits for: a child must not inherit a lock that another thread of its parent holds.

That thread does not exist in the child, so the child would wait for ever. All that must be waited for is
named here, in the one order in which threads take several of them: a thread that reads a table may compile a
function meanwhile, one at the ledger may move its anchor, and nobody else holds two of them.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import Literal, NamedTuple

from anonymaly.core.held_signals import HeldSignals

Place = Literal["table", "compiler", "ledger", "anchor", "journal"]
ORDER: tuple[Place, ...] = ("table", "compiler", "ledger", "anchor", "journal")


class _Hooks(NamedTuple):
    before: Callable[[], object]
    in_parent: Callable[[], object]
    in_child: Callable[[], object]


_hooks: dict[Place, _Hooks] = {}
_taken: list[Callable[[], object]] = []  # what the fork under way calls in the parent, last first
_one_fork = threading.RLock()
_signals = HeldSignals()


def at_fork(
    place: Place,
    *,
    before: Callable[[], object],
    in_parent: Callable[[], object],
    in_child: Callable[[], object],
) -> None:
    """Call ``before`` ahead of each fork of this process, and one of the others after it.

    Parameters
    ----------
    place : {"table", "compiler", "ledger", "anchor", "journal"}
        What is waited for.
    before, in_parent, in_child : callable
        Must not raise: nobody is there to see it. ``in_child`` makes new locks, whether or not ``before``
        came to its end.
    """
    _hooks[place] = _Hooks(before, in_parent, in_child)


def _before() -> None:
    _signals.hold(sys._getframe(1))
    _one_fork.acquire()
    _taken.append(_one_fork.release)
    for place in ORDER:
        if place in _hooks:
            _hooks[place].before()
            _taken.append(_hooks[place].in_parent)


def _in_parent() -> None:
    # Copied first: as soon as the last one lets another fork begin, that one fills the list anew.
    taken = _taken[::-1]
    _taken.clear()
    for let_go in taken:
        let_go()
    _signals.deliver()


def _in_child() -> None:
    # All of them, whatever was taken: what waited may have failed, and the child must not wait for ever.
    global _one_fork  # noqa: PLW0603
    # What the parent left for its collector may be an engine: to close it, the child would end threads that
    # it does not have, and die of it.
    gc.freeze()
    _taken.clear()
    for place in reversed(ORDER):
        if place in _hooks:
            _hooks[place].in_child()
    _one_fork = threading.RLock()
    _signals.drop()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
