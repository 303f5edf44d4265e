# SPDX-License-Identifier: Apache-2.0
"""What owners of pools do alike: they know all sensors, and give up windows in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.protocol.fetching_owner import FetchingOwner
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.owner import AlarmEntry, alarms_of, check_given_up, check_reason
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.pool import DeclaredPool, read_sensors
from anonymaly.stream.protocol.windows import LAST_WINDOW

Declared = TypeVar("Declared", bound=DeclaredPool)


class OwnerOfPool(FetchingOwner, Generic[Declared]):
    """The owner of a pool, whatever its protocol; keeps exactly one verdict for each window.

    Parameters
    ----------
    declaration
        What is public about the pool.
    sensors : list of str
        All of its sensors, as the servers list them.
    journal : path
        The owner's own file; verdicts stay in it.
    retired : list of str, optional
        Those of the sensors that contribute no more.
    fetchable : list of str, optional
        The sensors that can be asked for readings; all that are not retired, if not given.
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

    def _names(self, members: Booleans) -> tuple[str, ...]:
        return tuple(name for name, there in zip(self.sensors, members, strict=False) if there)

    def _absent(self, members: Booleans) -> tuple[str, ...]:
        """Return who did not contribute to a judged window, but for those who are retired."""
        return tuple(name for name in self._names(~members) if name not in self.retired)
