# SPDX-License-Identifier: Apache-2.0
"""What is declared of each window of a pool, where declarations follow each other (drift).

A change takes hold with a window that is a multiple of both periods. So each window has one declaration,
which alone says whether it is counted and at what ε; no period begins under one and ends under another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymaly.core.value import Value
from anonymaly.errors import InputError
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.protocol.windows import LAST_WINDOW


class EarlierDeclaration(Value):
    """What was declared of a pool before."""

    takes_positions = False

    until: StrictInt = Field(ge=1, le=LAST_WINDOW)
    """The first window of which it holds no more."""
    declared: CountingDeclaration
    """What was declared."""
    reason: StrictStr = Field(min_length=1, max_length=2000)
    """Why it was changed."""
    learned_from_readings: StrictBool
    """Whether the change was learned from the readings that are protected."""


class PoolDeclarations:
    """The declaration of every window.

    Parameters
    ----------
    newest : CountingDeclaration
        What is declared from the last change on.
    earlier : list of EarlierDeclaration
        What was declared before, oldest first.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream.counting.declaration import CountedColumn
    >>> from anonymaly.stream.protocol.windows import PooledWindows
    >>> first = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(0, 8), cells=8)], epsilon=2, period=2, share=0.2,
    ...     radius=1, windows=PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=60, lateness=5,
    ...                                     least_sensors=50))
    >>> second = first.model_copy(update={"period": 3})
    >>> change = EarlierDeclaration(until=6, declared=first, reason="winter", learned_from_readings=False)
    >>> both = PoolDeclarations(second, [change])
    >>> [window for window in range(13) if both.of(window).is_counted(window)]
    [0, 2, 4, 6, 9, 12]
    """

    def __init__(self, newest: CountingDeclaration, earlier: Sequence[EarlierDeclaration] = ()) -> None:
        self.newest = newest
        self.earlier = tuple(earlier)
        self._all = (*(change.declared for change in self.earlier), newest)
        self._begins = [0, *(change.until for change in self.earlier)]
        for place, change in enumerate(self.earlier):
            if change.until <= self._begins[place]:
                raise InputError(
                    f"is {change.until}, and another declaration holds from window {self._begins[place]} on",
                    field="from_window",
                    next_step="Give a later window.",
                )
            check_change(change.declared, self._all[place + 1], change.until)
        self._fingerprints = [declaration.fingerprint() for declaration in self._all]

    def of(self, window: int) -> CountingDeclaration:
        """Return what is declared of a window."""
        return self._all[self._place(window)]

    def fingerprint(self, window: int) -> bytes:
        """Return the digest of what is declared of a window."""
        return self._fingerprints[self._place(window)]

    def begins(self, window: int) -> int:
        """Return the first window under the declaration of a window."""
        return self._begins[self._place(window)]

    def each(self) -> list[tuple[int, CountingDeclaration]]:
        """Return all declarations, oldest first, each with its first window."""
        return list(zip(self._begins, self._all, strict=True))

    def as_accounts(self) -> list[dict[str, Any]]:
        """Return what an account is opened under: at the beginning, and after each change."""
        states = []
        for number, declaration in enumerate(self._all):
            before = [
                {"until": change.until, "stream": change.declared.to_dict()}
                for change in self.earlier[:number]
            ]
            state = {"adjacency": "replace", "stream": declaration.to_dict()}
            states.append(state | ({"earlier": before} if before else {}))
        return states

    def _place(self, window: int) -> int:
        return bisect_right(self._begins, window) - 1


def check_change(before: CountingDeclaration, after: CountingDeclaration, window: int) -> None:
    """Refuse a change that would give a window two meanings, or that the parties could not follow.

    Raises
    ------
    InputError
        The pool, the times of windows or the columns' names differ, or the window is no multiple of both
        periods.
    """
    kept = {
        "pool": (before.pool, after.pool),
        "windows.start": (before.windows.start, after.windows.start),
        "windows.seconds": (before.windows.seconds, after.windows.seconds),
        "columns": (before.names, after.names),
    }
    for field, (had, wanted) in kept.items():
        if had != wanted:
            raise InputError(
                f"is {wanted}, and was {had}: it stays, since windows and files of readings go by it",
                field=field,
                next_step="Change the grid, ε, period, share, radius, lateness or least_sensors; for all "
                "else set up another pool with `anonymaly stream init`.",
            )
    if not (before.is_counted(window) and after.is_counted(window)):
        raise InputError(
            f"is {window}, which is no multiple of both periods, {before.period} and {after.period}",
            field="from_window",
            next_step="A period must not begin under one declaration and end under another: give a multiple.",
        )
