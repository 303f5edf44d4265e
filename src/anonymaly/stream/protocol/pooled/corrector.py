# SPDX-License-Identifier: Apache-2.0
"""The corrector of a pool: sees how far each sensor's reading moved, and never where it was or is."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.stream.protocol.correction import missed_layers, split_suspects
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Message, Thresholds
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pool_server import Waits
from anonymaly.stream.protocol.pooled.messages import (
    Agreed,
    Gathered,
    PooledCandidates,
    PooledShift,
    PooledSuspects,
    PooledVerdict,
)
from anonymaly.stream.protocol.pooled.server import PooledServer, spread


class PooledCorrector(PooledServer):
    """Says on whom both servers agree, keeps the suspects that hardly moved, and finds hidden readings.

    Parameters
    ----------
    declaration : PooledDeclaration
        What is public about the pool.
    sensors : list of str
        Whose shifts to take. Lists name them by their places: new ones come last, for good.
    journal : path
        The corrector's own file.
    retired : list of str, optional
        Those of the sensors that contribute no more.
    """

    followers = ("detector",)
    role = "corrector"
    share = PooledShift
    answers = (Gathered, PooledSuspects, PooledCandidates)

    @property
    def _width(self) -> int:
        return 1

    def _check(self, message: Message) -> None:
        if isinstance(message, Gathered):
            places = len(message.members)
            if places > len(self.sensors) or message.declared != self._declared(places):
                raise refused("is of a detector with another declaration or other sensors")
            if message.members.sum() != len(message.digests):
                raise refused("names sensors without digests")
            return
        if isinstance(message, PooledCandidates) and self._said(message.window, Thresholds) is None:
            raise refused("answers distances that were never given")
        agreed = self._said(message.window, Agreed)
        if agreed is None or not isinstance(message, PooledSuspects | PooledCandidates):
            raise refused("is about a list that was not agreed on")
        if not np.array_equal(message.members, agreed.members):
            raise refused("is about another list than was agreed on")
        named = message.suspects if isinstance(message, PooledSuspects) else message.near | message.far
        if (named & ~agreed.members).any():
            raise refused("names a sensor that is not on the list")

    def _answer_late(self, message: Message) -> list[Message]:
        """Tell a detector that waits for a window that is over here, having lost its journal, that it is.

        Where this corrector agreed on a list in that window, the detector has it, and ignores this one.
        """
        if not isinstance(message, Gathered):
            return []
        nobody = np.zeros(len(message.members), np.bool_)
        nothing = Agreed(self.declaration.pool, message.window, nobody)
        return [] if self._journal.is_waiting(nothing) else [nothing]

    def _next_window(self) -> int | None:
        """Return the first window that the detector has closed."""
        return self._journal.first(self.declaration.pool, Gathered)

    def _work_on(self, window: int, made: list[Message]) -> None:
        theirs = self._await(window, Gathered)
        members = self._say(made, window, Agreed, lambda: self._agree(theirs)).members
        if not self._is_enough(members):
            made.append(self._end(window, WindowState.TOO_FEW, members))
            return
        suspects = self._await(window, PooledSuspects).suspects[members]
        shifts = self._values(window, members)[:, 0]
        declared = self.declaration
        # Counted here and not by the detector, which might name too few on purpose.
        split = split_suspects(shifts, suspects, declared.gap, declared.least_suspects)
        far = split.beyond(declared.layer_steps)
        told = self._say(
            made, window, Thresholds, lambda: Thresholds(declared.pool, window, split.least, far)
        )
        found = self._await(window, PooledCandidates)
        # A candidate is never a suspect, even if a faulty detector says so.
        near, away = found.near[members] & ~suspects, found.far[members] & ~suspects
        layers = missed_layers(shifts, suspects, near, away, told.near, declared.layer_steps)
        sets = (split.confirmed, layers.inward, layers.covered, layers.covered_far)
        made.append(self._end(window, WindowState.JUDGED, members, *(spread(one, members) for one in sets)))

    def _agree(self, theirs: Gathered) -> Agreed:
        """Take those of the list that are held here in the same version, once all are here or it is late."""
        window, members = theirs.window, theirs.members
        named = [self.sensors[place] for place in np.flatnonzero(members)]
        if not self._is_late(window) and not all(self._open.holds(name, window) for name in named):
            raise Waits
        same = np.array(
            [
                self._open.holds(name, window) and self._open.digest(name, window) == digest
                for name, digest in zip(named, theirs.digests, strict=True)
            ],
            np.bool_,
        )
        return Agreed(self.declaration.pool, window, spread(same, members))

    def _end(self, window: int, state: WindowState, members: Booleans, *found: Booleans) -> PooledVerdict:
        nobody = np.zeros(len(members), np.bool_)
        return PooledVerdict(
            self.declaration.pool, window, state, members, *(found or (nobody, nobody, nobody, nobody))
        )
