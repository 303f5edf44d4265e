# SPDX-License-Identifier: Apache-2.0
"""Operations that are counted, so that the n-th of them can be made to fail.

SQLite is tested in this way: first a run without a fault says how many operations there are, then the run is
made again for each of them. Luck has no part in it, and a number is enough to see a failure again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Kind = Literal["file", "sqlite", "database", "clock", "call"]
ErrorName = Literal["no space", "input/output", "refused", "memory", "interrupt"]

KINDS: tuple[Kind, ...] = get_args(Kind)
# What an operation of each kind may fail with. "refused" is the database's own error.
ERRORS: dict[Kind, tuple[ErrorName, ...]] = {
    "file": ("no space", "input/output", "memory", "interrupt"),
    "sqlite": ("no space", "input/output", "memory"),
    "database": ("refused", "memory", "interrupt"),
    "clock": ("input/output", "memory", "interrupt"),
    "call": ("memory", "interrupt"),
}
# A full disk stays full, and a server that is gone stays gone for a while.
LASTING: frozenset[ErrorName] = frozenset({"no space", "input/output", "refused"})


class InjectedInterrupt(KeyboardInterrupt):
    """An interrupt that was planted."""


@dataclass(frozen=True)
class NumberedFault:
    """Which operation of a run fails, and with what.

    Parameters
    ----------
    kind : Kind
        Of which operations the number is: see the file of that name, such as ``file_operations``.
    number : int
        Counted from 1.
    error : ErrorName
        What it fails with.
    lasting : bool
        Whether all later ones fail too.
    """

    kind: Kind
    number: int
    error: ErrorName
    lasting: bool = False

    def __str__(self) -> str:
        lasting = " and all after it" if self.lasting else ""
        return f"{self.kind} operation {self.number}{lasting}: {self.error}"


@dataclass
class Operations:
    """Counts the operations of a run, and makes one of them fail."""

    fault: NumberedFault | None = None
    names: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)  # of the run, when each was counted
    hit: str | None = None  # the name of the first operation that failed
    hit_in: str | None = None  # the phase of the run in which it did
    # What the error of an operation says beside its class: whatever reads rows may quote one.
    words: Callable[[str], str] = lambda name: ""
    phase: Callable[[], str] = lambda: ""
    _deaf: int = 0

    def step(
        self, name: str, own: Callable[[str], BaseException] | None = None, *, writes: bool = True
    ) -> None:
        """Count an operation, and raise its error if it is the one that fails.

        ``own`` makes the error of a database from words. Only what ``writes`` needs space.
        """
        fault = self.fault_now(name, writes=writes)
        if fault is not None:
            raise self._error(fault, self.words(name), own)

    def fault_now(self, name: str, *, writes: bool = True) -> NumberedFault | None:
        """Count an operation; return the fault if it is the one that fails, or one of those after it."""
        if self._deaf:
            return None
        self.names.append(name)
        self.phases.append(self.phase())
        fault, number = self.fault, len(self.names)
        if fault is None or not (number == fault.number or (fault.lasting and number > fault.number)):
            return None
        if fault.error == "no space" and not writes:
            if number > fault.number:
                return None
            fault = replace(fault, error="input/output")
        if self.hit is None:
            self.hit, self.hit_in = name, self.phases[-1]
        return fault

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """Let whoever looks on do so without being counted."""
        self._deaf += 1
        try:
            yield
        finally:
            self._deaf -= 1

    def _error(
        self, fault: NumberedFault, words: str, own: Callable[[str], BaseException] | None
    ) -> BaseException:
        match fault.error:
            case "no space":
                return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case "input/output":
                return OSError(errno.EIO, os.strerror(errno.EIO))
            case "memory":
                return MemoryError(words)
            case "interrupt":
                return InjectedInterrupt()
            case "refused":
                if own is None:
                    raise AssertionError("only a database refuses")
                return own(words)
