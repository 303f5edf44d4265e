# SPDX-License-Identifier: Apache-2.0
"""What owners of pools do alike: they know all sensors, and give up windows in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypedDict, TypeVar

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.protocol.fetching_owner import FetchingOwner
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.owner import AlarmEntry, alarms_of, check_given_up, check_reason
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.pool import WORDS, DeclaredPool, WindowState, read_sensors
from anonymaly.stream.protocol.windows import LAST_WINDOW

Declared = TypeVar("Declared", bound=DeclaredPool)


class JudgedWindow(TypedDict):
    """What the judgements of both protocols say."""

    number: int
    window: int
    state: str
    contributed: tuple[str, ...]
    known: int
    missing: tuple[str, ...]


class OwnerOfPool(FetchingOwner, Generic[Declared]):
    """The owner of a pool, whatever its protocol; keeps exactly one verdict for each window.

    Parameters
    ----------
    declaration, sensors, journal, retired, fetchable
        As of `PoolOwner`.
    """

    def __init__(
        self,
        declaration: Declared,
        sensors: Iterable[str],
        journal: str | Path,
        retired: Iterable[str] = (),
        fetchable: Iterable[str] | None = None,
    ) -> None:
        self.declaration = declaration
        self.retired = frozenset(retired)
        self.sensors = read_sensors(sensors, declaration.windows.least_sensors, self.retired)
        super().__init__("owner", journal)
        self._set_fetchable(set(self.sensors) - self.retired if fetchable is None else fetchable)

    def alarms(self, after: int = 0) -> list[AlarmEntry]:
        """Return what was found wrong, oldest first; ``after`` is the number of the last one seen."""
        return alarms_of(self._journal, after)

    def skip(self, last: int, *, reason: str) -> list[Outgoing]:
        """Give up all windows up to the last: those without a verdict get one that says so.

        The decision stays in the journal, with its reason, and goes to the servers, which go on behind it,
        also one whose partner lost its journal. What comes later of a verdict changes nothing.
        """
        pool = self.declaration.pool
        check_reason(reason)
        with self._journal.transaction():
            missing = self._missing(last)
            for window in missing:
                self._journal.judge(pool, window, self._given_up(window).to_bytes())
                self._journal.forget(pool, window)
            number = self._journal.decide(pool, min(missing, default=last), last, reason)
            made = self._hand_on(pool, min(missing, default=last), last, number)
            for message in made:
                self._journal.keep(message)
        return [Outgoing(message.recipient, message) for message in made]

    def _missing(self, last: int) -> list[int]:
        """Return the windows up to the last that have no verdict: the servers are not as far yet."""
        newest = max(self._journal.judged(self.declaration.pool, 0, LAST_WINDOW), default=-1)
        check_given_up(last - newest)
        return list(range(newest + 1, last + 1))

    @abstractmethod
    def _given_up(self, window: int) -> Message:
        """Return the verdict that says nothing."""

    @property
    def _nobody(self) -> Booleans:
        return np.zeros(len(self.sensors), np.bool_)

    def _judged(self, number: int, window: int, state: WindowState, members: Booleans) -> JudgedWindow:
        """Return what is known of a window by its verdict; nobody is missing unless it was judged."""
        missing = self._names(~members) if state == WindowState.JUDGED else ()
        return {
            "number": number,
            "window": window,
            "state": WORDS[state],
            "contributed": self._names(members),
            "known": len(members),
            "missing": tuple(name for name in missing if name not in self.retired),
        }

    def _names(self, members: Booleans) -> tuple[str, ...]:
        return tuple(name for name, there in zip(self.sensors, members, strict=False) if there)
