# SPDX-License-Identifier: Apache-2.0
"""What a stream's ``counting`` claims, written from its GUARANTEE.md and not from its code; broken variants.

One counter is honest, the other may be a liar. ``bound`` takes the loss from the rate of the noise and from
how many cells a reading moves; ``fit`` has the liar take the honest counter's noise out of what it opens;
``ledger`` compares what windows cost with what is paid; ``replay`` has liars, and lying sensors, try what
they must not get.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from anonymaly.audit.fit import fit_integers
from anonymaly.audit.report import Finding
from anonymaly.audit.stream_parts import Checks, StreamMutant, StreamParts
from anonymaly.core.arrays import Integers
from anonymaly.core.epsilon import NANO
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise, two_sided_geometric_mass
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.counting.counter import PoolCounter
from anonymaly.stream.counting.declaration import CountedColumn, CountingDeclaration
from anonymaly.stream.counting.messages import (
    Commitment,
    Contribution,
    FirstRound,
    HeldList,
    Opening,
    SecondRound,
    VerdictShares,
)
from anonymaly.stream.counting.point_function import Expansion
from anonymaly.stream.counting.prime_field import PRIME, to_numbers
from anonymaly.stream.counting.sensor import CountingSensor
from anonymaly.stream.protocol.encoding import DIGEST_BYTES, NotYet
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.pool import WindowState
from anonymaly.stream.protocol.pool_server import Waits
from anonymaly.stream.protocol.windows import PooledWindows

HONEST, LIAR = "counter-1", "counter-2"
START = "2026-01-01T00:00:00+00:00"
SENSORS = tuple(f"s{number:02}" for number in range(6))
DRAWN_CELLS, DRAWN_WINDOWS = 4096, 5
PLAIN = "20"  # an ε at which counts are not hidden, where something else is to be seen
Contribute = Callable[..., tuple[Contribution, Contribution]]


@dataclass(frozen=True)
class CountingCase(StreamParts):
    """The parts of counting that can break its promise.

    Examples
    --------
    >>> CountingCase().audit(["bound", "ledger"]).passed
    True
    """

    title: ClassVar[str] = "stream, counting"
    counter: type[PoolCounter] = PoolCounter
    declaration: type[CountingDeclaration] = CountingDeclaration
    contribute: Contribute = contribute

    @property
    def checks(self) -> Checks:
        """The attack of each layer; together they reject a right one at most once in 10^9 times."""
        return {
            "bound": partial(_bound, self),
            "fit": partial(_fit, self),
            "ledger": partial(_ledger, self),
            "replay": partial(_replay, self),
        }

    def declared(self, cells: int = 8, *, period: int = 1, epsilon: str = "1") -> CountingDeclaration:
        """Return a pool of the case."""
        return self.declaration(
            columns=[CountedColumn("x", outer=Interval(0, cells), cells=cells)],
            windows=PooledWindows(start=START, seconds=60, lateness=0, least_sensors=2),
            epsilon=epsilon,
            period=period,
            share=0.2,
            radius=0,
        )


@dataclass
class Conversation:
    """All that the honest counter said, to the other and to the owner, and what the other said."""

    said: list[Message] = field(default_factory=list)
    answered: list[Message] = field(default_factory=list)

    def of(self, kind: type[Message]) -> list[Any]:
        """Return what it said of one kind."""
        return [message for message in self.said if isinstance(message, kind)]


def play(
    case: CountingCase,
    declared: CountingDeclaration,
    windows: Sequence[Mapping[str, int | None]],
    liar: type[PoolCounter] = PoolCounter,
) -> Conversation:
    """Carry some windows' contributions to the honest counter and another, and all that follows."""
    seen = Conversation()
    names = sorted({name for cells in windows for name in cells})
    with tempfile.TemporaryDirectory() as folder:
        parties = {
            made.address: made
            for made in (
                kind(number, declared, names, check_key=bytes(32), journal=Path(folder) / str(number))
                for number, kind in ((1, case.counter), (2, liar))
            )
        }
        noise = Noise.system()
        waiting: deque[Message] = deque()
        for window, cells in enumerate(windows):
            for name, cell in cells.items():
                fingerprint = declared.fingerprint()
                waiting += case.contribute(name, window, cell, declared.bits, noise, window - 1, fingerprint)
        while waiting:
            message = waiting.popleft()
            if message.recipient in parties:
                made = [item.message for item in parties[message.recipient].handle(message)]
                (seen.said if message.recipient == HONEST else seen.answered).extend(made)
                waiting += made
        for party in parties.values():
            party.close()
    return seen


def _bound(case: CountingCase) -> Iterator[Finding]:
    """Lemma C3: a reading replaced, or left out, moves the counts by what the rate allows."""
    declared, noise = case.declared(), Noise.system()
    vectors = []
    for cell in (0, 3, 7, None):
        total = np.zeros(2**declared.bits, np.int64)
        for message in case.contribute("s", 0, cell, declared.bits, noise):
            expansion = Expansion(declared.bits)
            expansion.expand(message.key)
            total = (total + expansion.data) % PRIME
        vectors.append(to_numbers(total))
    moved = max(int(np.abs(one - other).sum()) for one in vectors for other in vectors)
    loss = Fraction(declared.rate) * moved / Fraction(declared.nano, NANO)
    words = f"a reading moves the counts by {moved}, which loses {float(loss):.4g} ε"
    yield Finding("bound", "one reading", loss <= 1, words)
    yield Finding("bound", "power", loss >= 1, words, power=True)


def _fit(case: CountingCase) -> Iterator[Finding]:
    """Lemma C3: what one counter opens has noise of rate ε/2 on every cell, whatever the other adds."""
    declared = case.declared(DRAWN_CELLS)
    cells = {"s00": 5, "s01": 5}
    counts = np.zeros(DRAWN_CELLS, np.int64)
    counts[5] = 2
    seen = play(case, declared, [cells] * DRAWN_WINDOWS, _NoiseLeftOut)
    theirs = {message.window: message for message in seen.answered if isinstance(message, Opening)}
    exact = [
        to_numbers((ours.values + theirs[ours.window].values) % PRIME) - counts for ours in seen.of(Opening)
    ]
    mass = partial(two_sided_geometric_mass, Fraction(declared.nano, 2 * NANO))
    found = fit_integers(np.concatenate(exact) if exact else np.zeros(1, np.int64), mass)
    # Without the p-value, which is another one in every run.
    words = f"{'no misfit found' if found.fits else 'misfit found'} in {found.samples:,} draws"
    yield Finding("fit", "noise of one counter", found.fits and bool(exact), words)
    fresh = len({noise.tobytes() for noise in exact}) == len(exact)
    yield Finding("fit", "new in every window", fresh, f"{len(exact)} windows' noise, all different: {fresh}")


def _ledger(case: CountingCase) -> Iterator[Finding]:
    """Lemma C4: a contribution to a counted window is paid for, in full; another costs nothing."""
    declared = case.declared(period=2)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with CountingSensor(
            "s00", declared, journal=place / "journal", ledger=place / "ledger", budget=100
        ) as sensor:
            start = declared.windows.closes(-1)
            sent = sensor.send([1.0] * 6, [start + 30 * number for number in range(6)])
            spent = sensor.spent
    windows = {item.message.window for item in sent}
    due = sum(window % 2 == 0 for window in windows) * declared.nano / NANO
    words = f"contributions to the windows {sorted(windows)} cost ε = {spent:g} of {due:g} due"
    yield Finding("ledger", "counted windows", spent == due, words)


def _replay(case: CountingCase) -> Iterator[Finding]:
    yield from _moved_shares(case)
    yield _lying_sensor(case)
    yield _repeated_check(case)
    yield _early_opening(case)
    yield _other_list(case)
    yield _bent(case)
    yield _unpaid(case)
    yield _declared_otherwise(case)


def _accepted(seen: Conversation) -> set[str]:
    return {
        name
        for told in seen.of(VerdictShares)
        for name, there in zip(sorted(SENSORS), told.members, strict=False)
        if there
    }


def _moved_shares(case: CountingCase) -> Iterator[Finding]:
    """Lemma C2: a counter that moves its share from one cell to another learns nothing from the check."""

    class Moves(PoolCounter):
        def _check(self, window: int, agreed: Sequence[str]) -> FirstRound:
            expand = self._expansion.expand

            def moved(key: Any) -> None:
                expand(key)
                data = self._expansion.data
                data[3], data[6] = (int(data[3]) - 1) % PRIME, (int(data[6]) + 1) % PRIME

            self._expansion.expand = moved  # type: ignore[method-assign]
            try:
                return super()._check(window, agreed)
            finally:
                self._expansion.expand = expand  # type: ignore[method-assign]

    cells = {name: 3 if place % 2 else 5 for place, name in enumerate(SENSORS)}
    passed = _accepted(play(case, case.declared(epsilon=PLAIN), [cells], Moves))
    words = f"{len(passed)} of {len(cells)} contributions pass, {len(cells) // 2} of which lie in its cell"
    yield Finding("replay", "a share that is moved", not passed, words)
    whole = len(_accepted(play(case, case.declared(epsilon=PLAIN), [cells]))) == len(cells)
    yield Finding("replay", "power", whole, "all pass if nobody lies", power=True)


def _lying_sensor(case: CountingCase) -> Finding:
    """Lemma C2: a vector with more than one entry, or another entry than 1, is dropped."""
    forged = set(SENSORS[:2])

    def lying(sensor: str, *arguments: Any) -> tuple[Contribution, Contribution]:
        first, second = case.contribute(sensor, *arguments)
        if sensor not in forged:
            return first, second
        last = first.key.last.copy()
        # Of the four cells that end in one block, the one beside the reading's, or the reading's own. So
        # little that the counts stay plausible.
        place = 2 * (int(sensor[1:]) % 2)
        last[place] = (int(last[place]) + 1) % PRIME
        forge = [replace(part, key=replace(part.key, last=last)) for part in (first, second)]
        return forge[0], forge[1]

    cells = dict.fromkeys(SENSORS, 5)
    seen = play(replace(case, contribute=lying), case.declared(epsilon=PLAIN), [cells], case.counter)
    counted = _accepted(seen) & forged
    return Finding("replay", "a sensor that lies", not counted, f"{len(counted)} of {len(forged)} counted")


def _withholding(kind: type[Message]) -> type[PoolCounter]:
    class Withholds(PoolCounter):
        def _advance(self) -> list[Message]:
            return [message for message in super()._advance() if not isinstance(message, kind)]

    return Withholds


def _repeated_check(case: CountingCase) -> Finding:
    """Lemma C4: one message is checked once, whatever list is sent afterwards."""

    class SaysTwoLists(_withholding(FirstRound)):  # type: ignore[misc]
        later: HeldList | None = None

        def _advance(self) -> list[Message]:
            made: list[Message] = super()._advance()
            for message in made:
                if isinstance(message, HeldList):
                    members = message.members.copy()
                    members[0] = False
                    self.later = replace(message, members=members, digests=message.digests[1:])
            return made

        def handle(self, message: Message) -> Any:
            made = super().handle(message)
            if isinstance(message, FirstRound) and self.later is not None:
                made, self.later = [*made, _Sent(self.later)], None
            return made

    seen = play(case, case.declared(), [dict.fromkeys(SENSORS, 5)], SaysTwoLists)
    checks = {message.to_bytes() for message in seen.of(FirstRound)}
    return Finding("replay", "a check asked for again", len(checks) == 1, f"{len(checks)} checks are made")


@dataclass(frozen=True)
class _Sent:
    message: Message


def _early_opening(case: CountingCase) -> Finding:
    seen = play(case, case.declared(), [dict.fromkeys(SENSORS, 5)], _withholding(Commitment))
    early = len(seen.of(Opening))
    return Finding("replay", "a sum before the other's", not early, f"{early} sums opened uncommitted")


def _other_list(case: CountingCase) -> Finding:
    class OtherList(PoolCounter):
        def _advance(self) -> list[Message]:
            return [
                replace(message, accepted=b"x" * 32) if isinstance(message, Commitment) else message
                for message in super()._advance()
            ]

    seen = play(case, case.declared(), [dict.fromkeys(SENSORS, 5)], OtherList)
    opened = len(seen.of(Opening))
    return Finding("replay", "a sum over another list", not opened, f"{opened} sums opened")


def _bent(case: CountingCase) -> Finding:
    class Bends(PoolCounter):
        def _noise(self, noise: Noise) -> Integers:
            bent = np.zeros(self.declaration.cells, np.int64)
            bent[1] = 100_000
            return bent

    seen = play(case, case.declared(), [dict.fromkeys(SENSORS, 5)], Bends)
    states = {told.state for told in seen.of(VerdictShares)}
    refused = states == {WindowState.NOT_PLAUSIBLE}
    return Finding("replay", "a bent histogram", refused, "is refused" if refused else "is believed")


def _unpaid(case: CountingCase) -> Finding:
    cells = dict.fromkeys(SENSORS, 5)
    seen = play(case, case.declared(period=3), [cells] * 3)
    opened = [message.window for message in seen.of(Opening)]
    words = f"of windows 0 to 2, where 0 is paid for, {opened} are opened"
    return Finding("replay", "windows that nobody paid for", opened == [0], words)


def _declared_otherwise(case: CountingCase) -> Finding:
    """Lemma C4: a contribution that was paid for by another declaration of its window is not taken."""
    declared, other = case.declared(), case.declared(period=2)  # under which window 1 costs nothing
    taken = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        case.counter(1, declared, SENSORS, check_key=bytes(32), journal=Path(folder) / "1") as counter,
    ):
        for name in SENSORS:
            made, _ = case.contribute(name, 1, 5, declared.bits, Noise.system(), 0, other.fingerprint())
            with suppress(NotYet):
                taken += bool(counter.handle(made))
    words = f"{taken} of {len(SENSORS)} that another declaration leaves free are taken"
    return Finding("replay", "paid for under another declaration", taken == 0, words)


class _RateForOneCell(CountingDeclaration):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class _HalfCharged(CountingDeclaration):
    def cost_of(self, readings: int) -> int:
        return super().cost_of(readings) // 2


class _CountsAlways(CountingDeclaration):
    def is_counted(self, window: int) -> bool:
        return True


class _NoiseLeftOut(PoolCounter):
    def _noise(self, noise: Noise) -> Integers:
        return np.zeros(self.declaration.cells, np.int64)


class _OneNoise(PoolCounter):
    def _noise(self, noise: Noise) -> Integers:
        return super()._noise(Noise.seeded(1))


class _BelievesAll(PoolCounter):
    def _passed(self, agreed: Sequence[str], ours: SecondRound, theirs: SecondRound) -> list[str]:
        return list(agreed)


class _ChecksAgain(PoolCounter):
    def _take(self, message: Message) -> list[Message]:
        if isinstance(message, HeldList) and self._both(message.window, HeldList)[1] is not None:
            self._journal.forget(message.sensor, message.window)
        return super()._take(message)


class _TakesAllDeclarations(PoolCounter):
    def _gather(self, message: Contribution) -> list[Message]:
        return super()._gather(replace(message, declared=self.declared.fingerprint(message.window)))


class _OpensAtOnce(PoolCounter):
    def _exchange(self, made: list[Message], window: int, kind: Any, make: Any) -> Any:
        try:
            return super()._exchange(made, window, kind, make)
        except Waits:
            ours, _ = self._both(window, kind)
            if kind is not Commitment or ours is None:
                raise
            return ours, ours


class _SumsAnyList(PoolCounter):
    def _exchange(self, made: list[Message], window: int, kind: Any, make: Any) -> Any:
        ours, theirs = super()._exchange(made, window, kind, make)
        return ours, replace(theirs, accepted=ours.accepted) if kind is Commitment else theirs


class _BelievesCounts(PoolCounter):
    def _learn(self, elements: Integers, agreed: int) -> None:
        super()._learn(np.clip(to_numbers(elements), 0, agreed), agreed)


def _without_secret(
    sensor: str,
    window: int,
    cell: int | None,
    bits: int,
    noise: Noise,
    previous: int = -1,
    declared: bytes = bytes(DIGEST_BYTES),
) -> tuple[Contribution, Contribution]:
    """Make a contribution whose proof is the vector times a secret that everybody knows: 0."""

    class Known(Noise):
        def uniform(self, bound: int, size: int | None = None) -> Any:
            return 0 if size is None else noise.uniform(bound, size)

    known = Known(lambda: bytes(32), reproducible=True)
    return contribute(sensor, window, cell, bits, known, previous, declared)


COUNTING_MUTANTS: tuple[StreamMutant, ...] = (
    StreamMutant("noise for one cell where two change", "bound", CountingCase(declaration=_RateForOneCell)),
    StreamMutant("noise left to the other counter", "fit", CountingCase(counter=_NoiseLeftOut)),
    StreamMutant("the same noise in every window", "fit", CountingCase(counter=_OneNoise)),
    StreamMutant("half of it charged", "ledger", CountingCase(declaration=_HalfCharged)),
    StreamMutant("a proof without a secret", "replay", CountingCase(contribute=_without_secret)),
    StreamMutant("every vector believed", "replay", CountingCase(counter=_BelievesAll)),
    StreamMutant("a message checked again", "replay", CountingCase(counter=_ChecksAgain)),
    StreamMutant("opened before the other commits", "replay", CountingCase(counter=_OpensAtOnce)),
    StreamMutant("a sum over any list", "replay", CountingCase(counter=_SumsAnyList)),
    StreamMutant("a bent histogram believed", "replay", CountingCase(counter=_BelievesCounts)),
    StreamMutant("any declaration taken", "replay", CountingCase(counter=_TakesAllDeclarations)),
    StreamMutant("counted windows that nobody paid for", "replay", CountingCase(declaration=_CountsAlways)),
)
