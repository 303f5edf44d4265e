# SPDX-License-Identifier: Apache-2.0
"""How far a run has come: in papers, in a paper's own units and, for outliers, in contexts of this one."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars


class Progress:
    """Up to three bars on standard error, or none where nobody looks.

    Examples
    --------
    >>> with Progress(None) as progress:
    ...     progress.start("salary", total=2, done=0)
    ...     progress.advance(1)
    """

    def __init__(self, console: Console | None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        # A unit may take a minute: of the default's last half minute no time left could be told.
        self._bars = (
            None
            if console is None
            else Bars(*columns, console=console, transient=True, speed_estimate_period=600)
        )
        self._papers: TaskID | None = None
        self._outliers: TaskID | None = None
        self._contexts: TaskID | None = None

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def papers(self, name: str, done: int, total: int) -> None:
        """Say which paper of several is at work, in a bar above its own."""
        if self._bars is None:
            return
        if self._papers is None:
            self._papers = self._bars.add_task("", total=total)
        self._bars.update(self._papers, description=f"papers ({name})", completed=done)

    def start(self, name: str, total: int, done: int, unit: str = "outliers") -> None:
        """Begin a study; what an earlier run measured is done already."""
        if self._bars is None:
            return
        for task in (self._outliers, self._contexts):
            if task is not None:
                self._bars.remove_task(task)
        self._outliers = self._bars.add_task(f"{name}: {unit}", total=total, completed=done)
        self._contexts = None
        if unit == "outliers":
            self._contexts = self._bars.add_task(f"{name}: contexts", total=None)

    def advance(self, done: int) -> None:
        """Say how many outliers, or other units, are done."""
        if self._bars is not None and self._outliers is not None:
            self._bars.update(self._outliers, completed=done)

    def contexts(self, done: int, total: int) -> None:
        """Say how many contexts of the present outlier are done."""
        if self._bars is not None and self._contexts is not None:
            self._bars.update(self._contexts, completed=done, total=total)
