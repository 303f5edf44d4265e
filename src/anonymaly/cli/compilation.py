# SPDX-License-Identifier: Apache-2.0
"""What a terminal shows while functions are compiled: that it happens once, and how many there were."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from anonymaly.cli.output import err, shown_bars
from anonymaly.core.code_folder import code_folder
from anonymaly.core.compiling import heard_by


@contextmanager
def compilation_shown() -> Iterator[None]:
    """Say on a terminal that something must be compiled, once, with a bar; elsewhere say nothing.

    A file, a pipe or a program that reads the error stream has no use for it.
    """
    if not err.is_terminal:
        yield
        return
    shown = _Shown()
    with heard_by(shown.hear):
        try:
            yield
        finally:
            shown.stop()


class _Shown:
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = self._count = 0
        self._bars: Progress | None = None  # that of a command, or one of our own
        self._own = False
        self._task: TaskID | None = None

    def hear(self, name: str, began: bool) -> None:
        with self._lock:
            self._depth += 1 if began else -1
            if began and self._count == 0 and self._task is None:
                err.print(_sentence(), markup=False)
            self._count += not began
            if self._task is None and began:
                self._begin()
            if self._bars is not None and self._task is not None:
                self._bars.update(self._task, count=f"{self._count} done, now {name}", refresh=True)
            if self._depth <= 0:
                self.stop()

    def _begin(self) -> None:
        self._bars = shown_bars()
        self._own = self._bars is None
        if self._bars is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"))
            self._bars = Progress(*columns, console=err, transient=True)
            self._bars.start()
        self._task = self._bars.add_task("compiling", total=None, count="")

    def stop(self) -> None:
        with self._lock:
            if self._bars is not None and self._task is not None:
                self._bars.remove_task(self._task)
                if self._own:
                    self._bars.stop()
            self._bars = self._task = None


def _sentence() -> str:
    folder = code_folder()
    if folder.problem is not None:
        return f"compiling for this machine; it cannot be kept, because {folder.problem}"
    return f"compiling for this machine, once: the next time it comes from {folder.path}"
