# SPDX-License-Identifier: Apache-2.0
"""The owner of a pool: adds two shares of every verdict, and learns one bit of each sensor and window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import COUNTERS, PoolVerdict, VerdictShares
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pool_owner import OwnerOfPool


@dataclass(frozen=True)
class PoolJudgement:
    """What is known of a window, in the order in which it became known.

    Attributes
    ----------
    number
        Counted from 1.
    window
        Which window.
    state
        ``judged``, or why there is no verdict.
    contributed, faults, lies
        The sensors whose readings were counted, those whose reading is a fault, and those of which the
        counters' shares do not add up to 0 or 1: one of the two lies, or is broken.
    known
        How many sensors the pool had by then, in the order of joining it.
    missing
        Those of them without a reading in the window, but for sensors that are retired by now. Nobody is
        named unless the window was judged: who contributed to others, the owner is not told.
    """

    number: int
    window: int
    state: str
    contributed: tuple[str, ...]
    faults: tuple[str, ...]
    lies: tuple[str, ...]
    known: int
    missing: tuple[str, ...]


class PoolOwner(OwnerOfPool[CountingDeclaration]):
    """Keeps exactly one verdict for each window.

    Parameters
    ----------
    declaration : CountingDeclaration
        What is public about the pool.
    sensors : list of str
        All of its sensors, as the counters list them.
    journal : path
        The owner's own file; verdicts stay in it.
    retired : list of str, optional
        Those of the sensors that contribute no more.
    fetchable : list of str, optional
        Those of the sensors that can be asked for a reading; all that contribute, if not given.
    """

    followers = COUNTERS

    def verdicts(self, after: int = 0) -> Iterator[PoolJudgement]:
        """Return what was judged, oldest first; ``after`` is the number of the last one seen."""
        for number, message in self._journal.verdicts(after):
            if isinstance(message, PoolVerdict):
                yield PoolJudgement(
                    **self._judged(number, message.window, message.state, message.members),
                    faults=self._names(message.faults),
                    lies=self._names(message.lies),
                )

    def _is_flagged(self, sensor: str, window: int, place: int) -> bool:
        verdict = self._journal.verdict(self.declaration.pool, window)
        return isinstance(verdict, PoolVerdict) and place == 0 and sensor in self._names(verdict.faults)

    def _missing(self, last: int) -> list[int]:
        """Return the windows without a verdict: one share is here, or both counters are not as far yet."""
        halves = {part.window for part in self._journal.stored(VerdictShares)}
        return sorted({window for window in halves if window <= last} | {*super()._missing(last)})

    def _given_up(self, window: int) -> Message:
        return self._without(window, WindowState.GIVEN_UP)

    def _without(self, window: int, state: WindowState) -> PoolVerdict:
        """Return a verdict about nobody."""
        nobody = self._nobody
        return PoolVerdict(self.declaration.pool, window, state, nobody, nobody, nobody)

    def _take(self, message: Message) -> list[Message]:
        if not isinstance(message, VerdictShares) or message.sensor != self.declaration.pool:
            raise refused("is of a kind that an owner does not take")
        if len(message.members) > len(self.sensors):
            raise refused("is about sensors that are not known here yet")
        if self._journal.is_judged(message.sensor, message.window):
            return []
        self._journal.add(message)
        both = self._journal.parts(message.sensor, message.window, VerdictShares)
        if len(both) == 2:
            verdict = self._add_up(*both)
            self._journal.judge(message.sensor, message.window, verdict.to_bytes())
            self._journal.forget(message.sensor, message.window)
        return []

    def _add_up(self, first: VerdictShares, second: VerdictShares) -> PoolVerdict:
        members = self._placed(first)
        same = (
            (first.state, first.agreed, first.faults) == (second.state, second.agreed, second.faults)
            and np.array_equal(members, self._placed(second))
            and len(first.values) == len(second.values) == members.sum() * (first.state == WindowState.JUDGED)
        )
        if not same:
            return self._without(first.window, WindowState.NOT_AGREED)
        faults, lies = self._nobody, self._nobody
        if first.state == WindowState.JUDGED:
            # 0 or 1, exactly; anything else is a lie of one of the two (GUARANTEE, lemma C5).
            bits = (first.values + second.values) % PRIME
            places = np.flatnonzero(members)
            faults[places[bits == 1]] = True
            lies[places[bits > 1]] = True
        return PoolVerdict(first.sensor, first.window, first.state, members, faults, lies)

    def _placed(self, message: VerdictShares) -> Booleans:
        """Return whose shares a message has, among all sensors: its counter may not know the newest."""
        members = self._nobody
        members[: len(message.members)] = message.members
        return members
