# SPDX-License-Identifier: Apache-2.0
"""The steps that both counters do for a window, each with a message to the other.

Every step's message is in the journal before it is sent, is made once, and only from what the journal holds,
so that a killed counter goes on where it was:

    HeldList            whose contributions it holds, once the window is closed
    FirstRound      the check of all contributions that both hold, first round
    SecondRound     the check's second round; whatever fails is dropped for good
    Commitment      in a counted window: the digest of its noisy sum over the accepted list
    Opening         the sum, once the other has committed; both know the noisy histogram now
    VerdictShares   to the owner: its share of each verdict
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.stream.counting.check import ROUND
from anonymaly.stream.counting.messages import (
    Commitment,
    FirstRound,
    HeldList,
    Opening,
    SecondRound,
    VerdictShares,
)
from anonymaly.stream.counting.opened_anchor import OpenedSums
from anonymaly.stream.counting.prime_field import PRIME, to_numbers
from anonymaly.stream.counting.shares import ShareSums
from anonymaly.stream.counting.usual import digest_of, fault_cells, is_plausible
from anonymaly.stream.protocol.encoding import DIGEST_BYTES
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pool_server import Waits

logger = logging.getLogger("anonymaly.stream")
Kind = TypeVar("Kind", bound=Message)
FROM_THE_OTHER: tuple[type[Message], ...] = (HeldList, FirstRound, SecondRound, Commitment, Opening)


class Ends(Exception):
    """A window ends without a verdict."""

    def __init__(self, state: WindowState) -> None:
        self.state = state


class WindowSteps(ShareSums):
    """A counter's steps; parameters as of `PoolCounter`."""

    def _begin(self) -> None:
        """End the window that was begun under what is declared of it no more: it cannot be gone on with."""
        super()._begin()
        self._compare_anchor()
        with self._journal.transaction():
            for held in self._journal.stored(HeldList):
                known = self._declared_digest(held.window, len(held.members))
                if held.part == self.part and held.declared != known:
                    said = [part for kind in FROM_THE_OTHER for part in self._both(held.window, kind)]
                    for message in said:
                        if message is not None and message.sender == self.address:
                            self._journal.withdraw(message)
                    self._journal.keep(self._end(held.window, WindowState.NOT_AGREED))

    def _compare_anchor(self) -> None:
        """Pass over windows whose sums may have been opened by another copy of the journal."""
        if self._anchor is None:
            return
        here, there = self.opened, self._anchor.opened
        if not self._agrees_with(there):
            last = max(here.window, there.window)
            logger.warning(
                "%s: the journal is another copy than the one of its anchor: windows up to %d are passed over"
                " here, because their sums may have been opened. If verdicts are missing, the owner gives up"
                " all windows that have begun: anonymaly stream skip --until WINDOW",
                self.address,
                last,
            )
            with self._journal.transaction():
                self._journal.withdraw_all(Opening)
                self._note_opened(there.then(last, b"passed over"))
                if last >= self.floor:
                    self._forget_until(last)
        self._anchor.advance(self.opened)

    def _agrees_with(self, anchored: OpenedSums) -> bool:
        """Say whether the journal is the anchor's, or what followed it and was not written there yet."""
        return anchored in (self.opened, self._read_opened("opened before"))

    @property
    def opened(self) -> OpenedSums:
        """The last window whose sum was opened, and the digest of all that were."""
        return self._read_opened("opened") or OpenedSums()

    def _read_opened(self, name: str) -> OpenedSums | None:
        window, _, chain = (self._journal.read_note(name) or "").partition(" ")
        return OpenedSums(int(window), chain or OpenedSums().chain) if window else None

    def _note_opened(self, opened: OpenedSums) -> None:
        before = self.opened if self._anchor is None else self._anchor.opened
        self._journal.note("opened before", " ".join(map(str, before)))
        self._journal.note("opened", " ".join(map(str, opened)))

    @property
    def released(self) -> int:
        """In how many windows this counter opened a sum, as far as its journal knows."""
        return int(self._journal.read_note("released") or 0)

    def _steps(self, window: int) -> list[Message]:
        """Do what can be done for a window; the last message is VerdictShares if it is finished."""
        self._work_on(window)
        made: list[Message] = []
        ended: WindowState | None = None
        try:
            accepted = self._accept(made, window)
            if self.declaration.is_counted(window):
                self._count(made, window, accepted)
            made.append(self._judge(window, accepted))
        except Waits:
            return made
        except Ends as end:
            ended = end.state
        return made if ended is None else [*made, self._end(window, ended)]

    def _accept(self, made: list[Message], window: int) -> list[str]:
        """Return whose contributions both hold and found right."""
        ours, theirs = self._exchange(made, window, HeldList, lambda: self._hold(window))
        agreed = self._enough(self._agree(ours, theirs))
        first = self._exchange(made, window, FirstRound, lambda: self._check(window, agreed))
        _check_fit(first, ROUND * len(agreed))
        second = self._exchange(made, window, SecondRound, lambda: self._check_again(window, agreed, *first))
        _check_fit(second, len(agreed))
        return self._enough(self._passed(agreed, *second))

    def _enough(self, sensors: list[str]) -> list[str]:
        if len(sensors) < self.declaration.windows.least_sensors:
            raise Ends(WindowState.TOO_FEW)
        return sensors

    def _count(self, made: list[Message], window: int, accepted: Sequence[str]) -> None:
        """Release the noisy histogram of a window, and learn from it."""
        digest = self._digest(window, accepted)

        def commit() -> Commitment:
            summed = self._sum_up(window, accepted)
            self._journal.add(summed)  # list, noise and sum are on the disk before anything of them is said
            return Commitment(summed.sensor, window, self.part, digest, summed.committed(digest))

        _, commitment = self._exchange(made, window, Commitment, commit)
        if commitment.accepted != digest:
            raise Ends(WindowState.NOT_AGREED)
        ours, theirs = self._both(window, Opening)
        if ours is not None and window > self.opened.window:
            self._note_opened(self.opened.then(window, ours.to_bytes()))
            self._journal.note("released", str(self.released + 1))
            made.append(ours)
        if ours is None or theirs is None:
            raise Waits
        if theirs.committed(digest) != commitment.digest or len(theirs.values) != len(ours.values):
            raise Ends(WindowState.NOT_AGREED)
        self._learn((ours.values + theirs.values) % PRIME, len(accepted))

    def _learn(self, elements: Integers, agreed: int) -> None:
        """Take the fault cells of a period from its histogram."""
        counts = to_numbers(elements)
        if not is_plausible(self.declaration, counts, agreed):
            raise Ends(WindowState.NOT_PLAUSIBLE)
        cells = fault_cells(self.declaration, counts, agreed)
        self._journal.note("faults of", self.declaration.fingerprint().hex())
        self._journal.note("faults", "none" if cells is None else ",".join(map(str, cells.tolist())))

    def _hold(self, window: int) -> HeldList:
        if not self._open.is_complete(window) and self._now < self.declaration.windows.closes(window):
            raise Waits
        members = np.array([self._open.holds(name, window) for name in self.sensors], np.bool_)
        digests = tuple(
            self._open.digest(name, window)
            for name, there in zip(self.sensors, members, strict=True)
            if there
        )
        declared = self._declared_digest(window, len(self.sensors))
        return HeldList(self.declaration.pool, window, self.part, declared, members, digests)

    def _agree(self, ours: HeldList, theirs: HeldList) -> list[str]:
        """Return whose contributions both hold in the same version."""
        known = dict(self._named(ours))
        return [name for name, digest in self._named(theirs) if known.get(name) == digest]

    def _named(self, held: HeldList) -> Iterator[tuple[str, bytes]]:
        if len(held.members) > len(self.sensors) or held.members.sum() != len(held.digests):
            return
        named = [self.sensors[place] for place in np.flatnonzero(held.members)]
        yield from zip(named, held.digests, strict=True)

    def _judge(self, window: int, accepted: Sequence[str]) -> VerdictShares:
        """Return this counter's share of each verdict, by the fault cells of the period."""
        known = self._known_faults(window)
        if known is None:
            return self._end(window, WindowState.NOT_COUNTED)
        if known == "none":
            return self._end(window, WindowState.NOTHING_USUAL)
        cells = np.array([int(cell) for cell in known.split(",") if cell], np.int64)
        shares = self._shares_at(cells, window, accepted)
        return self._end(window, WindowState.JUDGED, accepted, shares, cells)

    def _known_faults(self, window: int) -> str | None:
        """Return the fault cells that were learned under what is declared of a window."""
        learned = self._journal.read_note("faults of")
        # A journal that does not say it is from before any declaration was changed.
        same = (
            self.declared.begins(window) == 0
            if learned is None
            else bytes.fromhex(learned) == (self.declared.fingerprint(window))
        )
        return self._journal.read_note("faults") if same else None

    def _end(
        self,
        window: int,
        state: WindowState,
        accepted: Sequence[str] = (),
        shares: Integers | None = None,
        cells: Integers | None = None,
    ) -> VerdictShares:
        """Finish a window: nothing of it stays but what the owner is told."""
        named = set(accepted)
        members: Booleans = np.array([name in named for name in self.sensors], np.bool_)
        told = VerdictShares(
            self.declaration.pool,
            window,
            self.part,
            state,
            self._digest(window, accepted) if accepted else bytes(DIGEST_BYTES),
            digest_of(cells),
            members,
            np.zeros(0, np.int64) if shares is None else shares,
        )
        self._forget_until(window)
        return told

    def _forget_until(self, window: int) -> None:
        self._journal.forget_until(window)
        self._journal.note("floor", str(window + 1))
        self._open.forget_until(window)
        self._totals.clear()  # of the window that is worked on, and no other

    def _both(self, window: int, kind: type[Kind]) -> tuple[Kind | None, Kind | None]:
        """Return this counter's message of a kind, and the other's."""
        found = {part.sequence: part for part in self._journal.parts(self.declaration.pool, window, kind)}
        return found.get(self.part), found.get(1 - self.part)

    def _exchange(
        self, made: list[Message], window: int, kind: type[Kind], make: Callable[[], Kind]
    ) -> tuple[Kind, Kind]:
        """Return this counter's message of a kind, made at most once, and the other's, or wait for it."""
        ours, theirs = self._both(window, kind)
        if ours is None:
            ours = make()
            self._journal.add(ours)
            made.append(ours)
        if theirs is None:
            raise Waits
        return ours, theirs


def _check_fit(both: tuple[FirstRound, FirstRound] | tuple[SecondRound, SecondRound], size: int) -> None:
    ours, theirs = both
    if ours.agreed != theirs.agreed or len(theirs.values) != size:
        raise Ends(WindowState.NOT_AGREED)
