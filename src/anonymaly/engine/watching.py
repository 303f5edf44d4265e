# SPDX-License-Identifier: Apache-2.0
"""How far a statement of the embedded engine has come: for the terminal of the table's owner alone.

The share of rows that were read, second by second, says how many there are. So nobody sees it who did not ask
for it by ``watching``, which only the command line does: neither an asker, nor a server, nor a document.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ibis.expr.types as ir

Watcher = Callable[[float], object]
EACH = 0.25  # seconds
SETTINGS = {"enable_progress_bar": True, "enable_progress_bar_print": False}

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Have ``watcher(percent)`` called, by another thread, while a statement runs on the embedded engine."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@contextmanager
def watched(expression: ir.Expr) -> Iterator[None]:
    """Tell the watcher, if there is one, how far the statement has come that runs in this block."""
    watcher = _WATCHER.get()
    if watcher is None or (backend := expression.get_backend()).name != "duckdb":
        yield
        return
    with _counted(backend.con):
        ended = threading.Event()
        looking = threading.Thread(target=_look, args=(backend.con, watcher, ended), daemon=True)
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()


@contextmanager
def _counted(connection: Any) -> Iterator[None]:
    """Let a connection count how far it has come without printing it, and be as it was afterwards."""
    before: dict[str, Any] = {}
    for name, value in SETTINGS.items():
        with suppress(Exception):  # its owner locked the settings: then nothing is counted
            ((before[name],),) = connection.execute(f"SELECT current_setting('{name}')").fetchall()
            connection.execute(f"SET {name} = {value}")
    try:
        yield
    finally:
        for name, value in before.items():
            with suppress(Exception):
                connection.execute(f"SET {name} = {value}")


def _look(connection: Any, watcher: Watcher, ended: threading.Event) -> None:
    while not ended.wait(EACH):
        with suppress(Exception):
            percent = connection.query_progress()
            if percent >= 0:  # below, the engine does not know
                watcher(min(percent, 100.0))
