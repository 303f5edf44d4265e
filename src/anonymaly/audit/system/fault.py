# SPDX-License-Identifier: Apache-2.0
"""A fault in what all questions share, and the layer that must notice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.errors import InputError

SystemLayer = Literal[
    "entropy",
    "power cut",
    "fault by number",
    "locks",
    "opening",
    "reading",
    "parts",
    "rules",
    "statement",
    "digests",
    "verify",
]
Problems = Generator[str]  # violations in words, each told when it is found
Check = Callable[[], Problems]


class LackingHere(InputError):
    """This machine lacks what a layer needs, so that it cannot run; nothing under audit raises it."""


def found_as_it_is(check: Check) -> list[str]:
    """Return what a layer's check finds where nothing is planted."""
    found = list(check())
    _RED[check] = bool(found)
    return found


_RED: dict[Check, bool] = {}  # whether a check finds something where nothing is planted


@dataclass(frozen=True)
class SystemFault:
    """A broken variant of what all questions share, and the layer that must notice.

    Parameters
    ----------
    name : str
        What is broken.
    layer : SystemLayer
        Which layer must reject it: each has a file of its name beside this one.
    planted : callable
        Returns a block in which the fault is in the code that runs.

    Examples
    --------
    >>> from anonymaly.audit.system.entropy import ENTROPY_FAULTS, entropy_problems
    >>> fault = ENTROPY_FAULTS[0]
    >>> fault.name, fault.is_rejected(entropy_problems), list(entropy_problems())
    ('Mersenne Twister', True, [])
    """

    name: str
    layer: SystemLayer
    planted: Callable[[], AbstractContextManager[None]]

    def is_rejected(self, check: Check) -> bool:
        """Say whether a layer's check finds a violation while the fault is there, and none without it."""
        with self.planted(), closing(check()) as problems:
            if next(problems, None) is None:
                return False
        if check not in _RED:
            with closing(check()) as problems:
                _RED[check] = next(problems, None) is not None
        return not _RED[check]


@contextmanager
def replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    """Give a module or a class another attribute while the block runs."""
    before = vars(owner).get(name, _INHERITED)  # as it stands there: a class method stays one when put back
    setattr(owner, name, new)
    try:
        yield
    finally:
        if before is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


_INHERITED = object()
