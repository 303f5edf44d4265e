# SPDX-License-Identifier: Apache-2.0
"""Word of what is being compiled, for whoever shows it; imports nothing, so that listening costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, bool], object]

_listeners: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Have ``listener(name, began)`` called when a function begins to be compiled, and when it is.

    A function that another one calls is compiled while that one is. It may be called in any thread.

    Examples
    --------
    >>> with heard_by(print):
    ...     tell("refill", True)
    refill True
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell(name: str, began: bool) -> None:
    """Report the beginning or the end of a compilation."""
    for listener in list(_listeners):
        listener(name, began)
