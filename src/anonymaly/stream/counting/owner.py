# SPDX-License-Identifier: Apache-2.0
"""The owner of a pool: adds two shares of every verdict, and learns one bit of each sensor and window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.counting.counter import read_sensors
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import COUNTERS, PoolVerdict, VerdictShares, WindowState
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.fetching_owner import FetchingOwner
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.owner import check_given_up, check_reason
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.windows import LAST_WINDOW

WORDS = {
    WindowState.JUDGED: "judged",
    WindowState.TOO_FEW: "too few sensors",
    WindowState.NOTHING_USUAL: "nothing is usual",
    WindowState.NOT_PLAUSIBLE: "the counts are not plausible",
    WindowState.NOT_AGREED: "the counters do not agree",
    WindowState.NOT_COUNTED: "no window was counted yet",
    WindowState.GIVEN_UP: "given up by the owner",
}


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
    """

    number: int
    window: int
    state: str
    contributed: tuple[str, ...]
    faults: tuple[str, ...]
    lies: tuple[str, ...]


class PoolOwner(FetchingOwner):
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

    def __init__(
        self,
        declaration: CountingDeclaration,
        sensors: Iterable[str],
        journal: str | Path,
        retired: Iterable[str] = (),
        fetchable: Iterable[str] | None = None,
    ) -> None:
        self.declaration = declaration
        gone = frozenset(retired)
        self.sensors = read_sensors(sensors, declaration.windows.least_sensors, gone)
        super().__init__("owner", journal)
        self._set_fetchable(set(self.sensors) - gone if fetchable is None else fetchable)

    def verdicts(self, after: int = 0) -> Iterator[PoolJudgement]:
        """Return what was judged, oldest first; ``after`` is the number of the last one seen."""
        for number, message in self._journal.verdicts(after):
            if isinstance(message, PoolVerdict):
                yield PoolJudgement(
                    number,
                    message.window,
                    WORDS[message.state],
                    self._names(message.members),
                    self._names(message.faults),
                    self._names(message.lies),
                )

    def skip(self, last: int, *, reason: str) -> list[Outgoing]:
        """Give up all windows up to the last: those without a verdict get one that says so.

        The decision stays in the journal, with its reason, and goes to both counters, which go on behind it,
        also one whose partner lost its journal. Shares of a verdict that come later change nothing.
        """
        pool = self.declaration.pool
        check_reason(reason)
        with self._journal.transaction():
            missing = self._missing(last)
            nobody = np.zeros(len(self.sensors), np.bool_)
            for window in missing:
                verdict = PoolVerdict(pool, window, WindowState.GIVEN_UP, nobody, nobody, nobody)
                self._journal.judge(pool, window, verdict.to_bytes())
                self._journal.forget(pool, window)
            number = self._journal.decide(pool, min(missing, default=last), last, reason)
            made = self._hand_on(pool, min(missing, default=last), last, number)
            for message in made:
                self._journal.keep(message)
        return [Outgoing(message.recipient, message) for message in made]

    def _is_flagged(self, sensor: str, window: int, place: int) -> bool:
        verdict = self._journal.verdict(self.declaration.pool, window)
        return isinstance(verdict, PoolVerdict) and place == 0 and sensor in self._names(verdict.faults)

    def _missing(self, last: int) -> list[int]:
        """Return the windows without a verdict: one share is here, or both counters are not as far yet."""
        pool = self.declaration.pool
        halves = {part.window for part in self._journal.stored(VerdictShares)}
        newest = max(self._journal.judged(pool, 0, LAST_WINDOW), default=-1)
        check_given_up(last - newest)
        return sorted({window for window in halves if window <= last} | set(range(newest + 1, last + 1)))

    def _names(self, members: Booleans) -> tuple[str, ...]:
        return tuple(name for name, there in zip(self.sensors, members, strict=False) if there)

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
        nobody = np.zeros(len(self.sensors), np.bool_)
        members = self._placed(first)
        same = (
            (first.state, first.agreed, first.faults) == (second.state, second.agreed, second.faults)
            and np.array_equal(members, self._placed(second))
            and len(first.values) == len(second.values) == members.sum() * (first.state == WindowState.JUDGED)
        )
        if not same:
            return PoolVerdict(first.sensor, first.window, WindowState.NOT_AGREED, nobody, nobody, nobody)
        faults, lies = nobody.copy(), nobody.copy()
        if first.state == WindowState.JUDGED:
            # 0 or 1, exactly; anything else is a lie of one of the two (GUARANTEE, lemma C5).
            bits = (first.values + second.values) % PRIME
            places = np.flatnonzero(members)
            faults[places[bits == 1]] = True
            lies[places[bits > 1]] = True
        return PoolVerdict(first.sensor, first.window, first.state, members, faults, lies)

    def _placed(self, message: VerdictShares) -> Booleans:
        """Return whose shares a message has, among all sensors: its counter may not know the newest."""
        members = np.zeros(len(self.sensors), np.bool_)
        members[: len(message.members)] = message.members
        return members
