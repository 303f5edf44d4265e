# SPDX-License-Identifier: Apache-2.0
"""Reports of how far long work has come, in public units only: contexts, records asked about; never rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], object]

# Not an argument of stages: a listener must not be able to change an answer.
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have ``listener(unit, done, total)`` called, in this thread, while a question is answered.

    Examples
    --------
    >>> with listening(print):
    ...     tell("contexts", 4, 8)
    contexts 4 8
    >>> tell("contexts", 8, 8)
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(unit: str, done: int, total: int) -> None:
    """Report how many of a public number of units are done, if anybody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(unit, done, total)
