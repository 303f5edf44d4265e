# SPDX-License-Identifier: Apache-2.0
"""The owner of a pool of ``correction``: learns whose readings to look at, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pool_owner import OwnerOfPool
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.messages import PooledVerdict


@dataclass(frozen=True)
class PooledJudgement:
    """What is known of a window, in the order in which it became known.

    Attributes
    ----------
    number
        Counted from 1.
    window
        Which window.
    state
        ``judged``, or why there is no verdict.
    contributed
        The sensors whose readings were judged together; with too few of them, those that there were.
    look_at
        Those of them whose reading to look at.
    confirmed, inward, covered
        Why: a suspect that hardly moved, a reading that moved inward, one that may be hidden by its move.
    known
        How many sensors the servers knew, in the order of joining.
    missing
        Those of them that did not contribute to a judged window, but for retired ones.
    """

    number: int
    window: int
    state: str
    contributed: tuple[str, ...]
    look_at: tuple[str, ...]
    confirmed: tuple[str, ...]
    inward: tuple[str, ...]
    covered: tuple[str, ...]
    known: int
    missing: tuple[str, ...]


class PooledOwner(OwnerOfPool[PooledDeclaration]):
    """Keeps exactly one verdict for each window.

    Parameters
    ----------
    declaration : PooledDeclaration
        What is public about the pool.
    sensors, journal, retired, fetchable
        As of `PoolOwner`.
    """

    followers = ("corrector",)

    def verdicts(self, after: int = 0) -> Iterator[PooledJudgement]:
        """Return what was judged, oldest first; ``after`` is the number of the last one seen."""
        for number, message in self._journal.verdicts(after):
            if isinstance(message, PooledVerdict):
                yield PooledJudgement(
                    **self._judged(number, message.window, message.state, message.members),
                    look_at=self._names(message.found),
                    confirmed=self._names(message.confirmed),
                    inward=self._names(message.inward),
                    covered=self._names(message.covered | message.covered_far),
                )

    def _is_flagged(self, sensor: str, window: int, place: int) -> bool:
        verdict = self._journal.verdict(self.declaration.pool, window)
        return isinstance(verdict, PooledVerdict) and place == 0 and sensor in self._names(verdict.found)

    def _given_up(self, window: int) -> Message:
        nobody = self._nobody
        return PooledVerdict(
            self.declaration.pool, window, WindowState.GIVEN_UP, nobody, nobody, nobody, nobody, nobody
        )

    def _take(self, message: Message) -> list[Message]:
        if not isinstance(message, PooledVerdict) or message.sensor != self.declaration.pool:
            raise refused("is of a kind that an owner does not take")
        if len(message.members) > len(self.sensors):
            raise refused("is about sensors that are not known here yet")
        self._journal.judge(message.sensor, message.window, message.to_bytes())
        return []
