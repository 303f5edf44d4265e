# SPDX-License-Identifier: Apache-2.0
"""A counter, one of the two servers of ``counting``: holds shares of readings, and never a reading.

For each window, in order, both counters do the same steps. Every step's message is in the journal before it
is sent, is made once, and only from what the journal holds, so that a killed counter goes on where it was:

    HeldList            whose contributions it holds, once the window is closed
    FirstRound      the check of all contributions that both hold, first round
    SecondRound     the check's second round; whatever fails is dropped for good
    Commitment      in a counted window: the digest of its noisy sum over the accepted list
    Opening         the sum, once the other has committed; both know the noisy histogram now
    VerdictShares   to the owner: its share of each verdict
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream.counting.check import CHECK_KEY_BYTES, ROUND, first_round, second_round
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import (
    COUNTERS,
    DIGEST_BYTES,
    Commitment,
    Contribution,
    FirstRound,
    HeldList,
    Opening,
    SecondRound,
    VerdictShares,
    WindowState,
)
from anonymaly.stream.counting.open_windows import OpenWindows
from anonymaly.stream.counting.point_function import Expansion
from anonymaly.stream.counting.prime_field import PRIME, add_to, sum_at, to_elements, to_numbers
from anonymaly.stream.counting.usual import digest_of, fault_cells, is_plausible
from anonymaly.stream.protocol.encoding import read_name, refused
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.notices import Skip
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.windows import Moment, seconds_of

Kind = TypeVar("Kind", bound=Message)
FROM_THE_OTHER = (HeldList, FirstRound, SecondRound, Commitment, Opening)


class PoolCounter(Party):
    """Counts the readings of a pool together with the other counter.

    Parameters
    ----------
    number : {1, 2}
        Which of the two it is.
    declaration : CountingDeclaration
        What is public about the pool.
    sensors : list of str
        Whose contributions to take. Lists name them by their places: new ones come last, for good.
    check_key : bytes
        32 bytes that both counters hold and no sensor knows, fixed before the first window.
    journal : path
        The counter's own file.
    retired : list of str, optional
        Those of the sensors that contribute no more, so that no window waits for them.
    """

    def __init__(
        self,
        number: int,
        declaration: CountingDeclaration,
        sensors: Iterable[str],
        *,
        check_key: bytes,
        journal: str | Path,
        retired: Iterable[str] = (),
    ) -> None:
        if number not in (1, 2):
            raise InputError("must be 1 or 2", field="number", next_step="There are two counters.")
        if not isinstance(check_key, bytes) or len(check_key) != CHECK_KEY_BYTES:
            raise InputError(
                "must be 32 bytes, the same for both counters",
                field="check_key",
                next_step="`anonymaly stream init` writes one.",
            )
        self.part = number - 1
        self.declaration = declaration
        self.retired = frozenset(retired)
        self.sensors = read_sensors(sensors, declaration.windows.least_sensors, self.retired)
        self._check_key = check_key
        self._now = 0.0
        self._expansion = Expansion(declaration.bits)
        self._totals: dict[int, tuple[bytes, Integers]] = {}  # of a window's agreed list; made anew if lost
        super().__init__(COUNTERS[self.part], journal)
        self._declared = declared_digest(declaration, self.sensors)
        self._open = self._find_open()
        self._is_sure = True

    def handle(self, message: Message) -> list[Outgoing]:
        """Take a message in and return what to send."""
        self._recall()
        made = super().handle(message)
        self._is_sure = True
        return made

    def tick(self, now: Moment) -> list[Outgoing]:
        """Say what time it is; return what to send because windows are over. Call it every few seconds."""
        self._now = max(self._now, seconds_of(now, field="now"))
        self._recall()
        with self._journal.transaction():
            made = self._advance()
            for message in made:
                self._journal.keep(message)
        self._is_sure = True
        return [Outgoing(message.recipient, message) for message in made]

    def _recall(self) -> None:
        """See to it that what is in memory is what is on the disk, also after a step that failed."""
        if not self._is_sure:
            self._open = self._find_open()
            self._totals.clear()
        self._is_sure = False

    @property
    def floor(self) -> int:
        """The first window that is not finished."""
        return int(self._journal.read_note("floor") or 0)

    @property
    def released(self) -> int:
        """In how many windows this counter opened a sum."""
        return int(self._journal.read_note("released") or 0)

    def _find_open(self) -> OpenWindows:
        found = OpenWindows(self.sensors, self.retired)
        for message in self._journal.stored(Contribution):
            found.add(message)
        for held in self._journal.stored(HeldList):
            found.wait_for(held.window)
        return found

    def _take(self, message: Message) -> list[Message]:
        if isinstance(message, Contribution):
            return self._gather(message)
        if not isinstance(message, FROM_THE_OTHER):
            raise refused("is of a kind that a counter does not take")
        if message.sensor != self.declaration.pool:
            raise refused("is about another pool")
        if message.window < self.floor:
            return self._answer_late(message)
        if isinstance(message, HeldList) and message.declared != declared_digest(
            # One that does not know the newest sensors yet names the others in the same places.
            self.declaration,
            self.sensors[: len(message.members)],
        ):
            raise refused("is of a counter with another declaration or other sensors")
        if not self._journal.add(message):
            return []
        self._open.wait_for(message.window)
        return self._advance()

    def _skip(self, message: Skip) -> list[Message]:
        """Give up all windows up to one, by the owner's decision: they are finished in order."""
        if message.source != self.overseer or message.sensor != self.declaration.pool:
            raise refused("is no decision of the pool's owner")
        if message.last >= self.floor:
            self._forget_until(message.last)
        return self._advance()

    def _gather(self, message: Contribution) -> list[Message]:
        if message.sensor not in self._open:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        if message.bits != self.declaration.bits or message.previous >= message.window:
            raise refused("does not fit the declaration")
        if message.window < self.floor or self._open.has(message):
            return []  # late, or seen: one contribution a window, the first that arrived
        self._open.refuse_too_many(message)
        self._journal.add(message)
        self._open.add(message)
        return self._advance()

    def _answer_late(self, message: Message) -> list[Message]:
        """Tell a counter that waits for a window that was passed over here that this one holds nothing.

        Where the window was not passed over, the other has this counter's list: it then ignores this one.
        """
        nothing = HeldList(
            self.declaration.pool,
            message.window,
            self.part,
            self._declared,
            np.zeros(len(self.sensors), np.bool_),
            (),
        )
        wanted = isinstance(message, HeldList) and not self._journal.is_waiting(nothing)
        return [nothing] if wanted else []

    def _advance(self) -> list[Message]:
        """Do every step that can be done."""
        made: list[Message] = []
        while (window := self._next_window()) is not None:
            steps = self._steps(window)
            made += steps
            if not steps or not isinstance(steps[-1], VerdictShares):
                return made
        return made

    def _next_window(self) -> int | None:
        """Return the window to work on, and pass over those before it that hold nothing."""
        window, floor = self._open.first, self.floor
        if window is None or window == floor:
            return window
        if not self._open.passed_over(floor) and self._now < self.declaration.windows.closes(window - 1):
            return None
        self._journal.note("floor", str(window))
        return window

    def _steps(self, window: int) -> list[Message]:
        """Do what can be done for a window; the last message is VerdictShares if it is finished."""
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
        if ours is not None and self._journal.read_note("opened") != str(window):
            self._journal.note("opened", str(window))
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
        return HeldList(self.declaration.pool, window, self.part, self._declared, members, digests)

    def _agree(self, ours: HeldList, theirs: HeldList) -> list[str]:
        """Return whose contributions both hold in the same version."""
        known = dict(self._named(ours))
        return [name for name, digest in self._named(theirs) if known.get(name) == digest]

    def _named(self, held: HeldList) -> Iterator[tuple[str, bytes]]:
        if len(held.members) > len(self.sensors) or held.members.sum() != len(held.digests):
            return
        named = [self.sensors[place] for place in np.flatnonzero(held.members)]
        yield from zip(named, held.digests, strict=True)

    def _check(self, window: int, agreed: Sequence[str]) -> FirstRound:
        values = np.zeros((len(agreed), ROUND), np.int64)
        total = np.zeros_like(self._expansion.data)
        for place, message in enumerate(self._contributions(window, agreed)):
            self._expansion.expand(message.key)
            values[place] = first_round(self._expansion, message.masks, self._check_key, message.nonce)
            add_to(total, self._expansion.data)
        digest = self._digest(window, agreed)
        self._totals = {window: (digest, total)}
        return FirstRound(self.declaration.pool, window, self.part, digest, values.ravel())

    def _check_again(
        self, window: int, agreed: Sequence[str], ours: FirstRound, theirs: FirstRound
    ) -> SecondRound:
        seen = ((ours.values + theirs.values) % PRIME).reshape(-1, ROUND)
        values = [
            second_round(self.part, message.masks, seen[place])
            for place, message in enumerate(self._contributions(window, agreed))
        ]
        return SecondRound(self.declaration.pool, window, self.part, ours.agreed, np.array(values, np.int64))

    def _passed(self, agreed: Sequence[str], ours: SecondRound, theirs: SecondRound) -> list[str]:
        """Return whose contributions passed the check; the others are dropped for good."""
        zero = (ours.values + theirs.values) % PRIME == 0
        return [name for name, passed in zip(agreed, zero, strict=True) if passed]

    def _sum_up(self, window: int, accepted: Sequence[str]) -> Opening:
        """Return this counter's share of the counts, with its noise, over the accepted list."""
        noise = Noise.system()
        counts = self._total(window, accepted)[: self.declaration.cells]
        add_to(counts, to_elements(self._noise(noise)))
        salt = bytes(noise.uniform(256, DIGEST_BYTES).tolist())
        return Opening(self.declaration.pool, window, self.part, salt, counts.copy())

    def _noise(self, noise: Noise) -> Integers:
        # By each of the two alone: the other may leave its own out (GUARANTEE, lemma C3).
        return noise.two_sided_geometric(self.declaration.rate, self.declaration.cells)

    def _total(self, window: int, sensors: Sequence[str]) -> Integers:
        """Return the sum of this counter's shares over a list."""
        digest, total = self._totals.pop(window, (b"", np.zeros(0, np.int64)))
        if digest == self._digest(window, sensors):
            return total  # of the agreed list, all of which was accepted
        total = np.zeros_like(self._expansion.data)
        for message in self._contributions(window, sensors):
            self._expansion.expand(message.key)
            add_to(total, self._expansion.data)
        return total

    def _judge(self, window: int, accepted: Sequence[str]) -> VerdictShares:
        """Return this counter's share of each verdict, by the fault cells of the period."""
        known = self._journal.read_note("faults")
        if known is None:
            return self._end(window, WindowState.NOT_COUNTED)
        if known == "none":
            return self._end(window, WindowState.NOTHING_USUAL)
        cells = np.array([int(cell) for cell in known.split(",") if cell], np.int64)
        shares = []
        for message in self._contributions(window, accepted):
            self._expansion.expand(message.key)
            shares.append(sum_at(self._expansion.data, cells))
        return self._end(window, WindowState.JUDGED, accepted, np.array(shares, np.int64), cells)

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

    def _contributions(self, window: int, sensors: Iterable[str]) -> Iterator[Contribution]:
        for sensor in sensors:
            yield self._journal.parts(sensor, window, Contribution)[0]

    def _digest(self, window: int, sensors: Sequence[str]) -> bytes:
        """Return the digest of a list of sensors and their contributions."""
        names = [f"{name} {self._open.digest(name, window).hex()}" for name in sensors]
        text = "\n".join([self.declaration.pool, str(window), *names])
        return hashlib.sha256(self.declaration.fingerprint() + text.encode()).digest()

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


class Waits(Exception):
    """The other counter has not said what the next step needs."""


class Ends(Exception):
    """A window ends without a verdict."""

    def __init__(self, state: WindowState) -> None:
        self.state = state


def _check_fit(both: tuple[FirstRound, FirstRound] | tuple[SecondRound, SecondRound], size: int) -> None:
    ours, theirs = both
    if ours.agreed != theirs.agreed or len(theirs.values) != size:
        raise Ends(WindowState.NOT_AGREED)


def read_sensors(sensors: Iterable[str], least: int, retired: Collection[str] = ()) -> list[str]:
    """Return the names of a pool's sensors in the order in which lists name them: as they joined it."""
    if isinstance(sensors, str):
        raise InputError(
            "must be a list of names", field="sensors", next_step='Give, for instance, ["room-1"].'
        )
    names = [read_name(name) for name in sensors]
    if len(set(names)) < len(names):
        raise InputError("must name each sensor once", field="sensors", next_step="Leave out the second.")
    active = sum(name not in retired for name in names)
    if active < least:
        raise InputError(
            f"are {active}, and a window needs at least {least}",
            field="sensors",
            next_step="Declare more sensors, or lower windows.least_sensors.",
        )
    return names


def declared_digest(declaration: CountingDeclaration, sensors: Sequence[str]) -> bytes:
    """Return the digest of what both counters must hold alike."""
    return hashlib.sha256(declaration.fingerprint() + "\n".join(sensors).encode()).digest()
