# SPDX-License-Identifier: Apache-2.0
"""What a fork waits for: a child must not inherit a lock that another thread of its parent holds.

That thread does not exist in the child, so the child would wait for ever. All that must be waited for is
named here, in the one order in which threads take several of them: a thread that reads a table may compile a
function meanwhile, one at the ledger may move its anchor, and nobody else holds two of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Literal, NamedTuple

Place = Literal["table", "compiler", "ledger", "anchor", "journal"]
ORDER: tuple[Place, ...] = ("table", "compiler", "ledger", "anchor", "journal")


class _Hooks(NamedTuple):
    before: Callable[[], object]
    in_parent: Callable[[], object]
    in_child: Callable[[], object]


_hooks: dict[Place, _Hooks] = {}
_taken: list[_Hooks] = []  # by the fork under way
_ONE_FORK = threading.RLock()


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
        Must not raise: nobody is there to see it.
    """
    _hooks[place] = _Hooks(before, in_parent, in_child)


def _before() -> None:
    _ONE_FORK.acquire()
    for place in ORDER:
        if place in _hooks:
            _hooks[place].before()
            _taken.append(_hooks[place])


def _in_parent() -> None:
    while _taken:
        _taken.pop().in_parent()
    _ONE_FORK.release()


def _in_child() -> None:
    while _taken:
        _taken.pop().in_child()
    _ONE_FORK.release()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
