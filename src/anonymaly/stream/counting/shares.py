# SPDX-License-Identifier: Apache-2.0
"""What a counter computes from its shares: rounds of the check, noisy sums, shares of verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream.counting.check import CHECK_KEY_BYTES, ROUND, first_round, second_round
from anonymaly.stream.counting.declaration import CountingDeclaration
from anonymaly.stream.counting.messages import (
    COUNTERS,
    Contribution,
    FirstRound,
    HeldList,
    Opening,
    SecondRound,
)
from anonymaly.stream.counting.opened_anchor import OpenedAnchor
from anonymaly.stream.counting.point_function import Expansion
from anonymaly.stream.counting.pool_declarations import EarlierDeclaration, PoolDeclarations
from anonymaly.stream.counting.prime_field import PRIME, add_to, sum_at, to_elements
from anonymaly.stream.protocol.encoding import DIGEST_BYTES
from anonymaly.stream.protocol.open_windows import OpenWindows
from anonymaly.stream.protocol.pool import declared_digest, read_sensors
from anonymaly.stream.protocol.pool_server import ServerOfPool


class ShareSums(ServerOfPool):
    """A counter's shares, and what it makes of them; parameters as of `PoolCounter`."""

    def __init__(
        self,
        number: int,
        declaration: CountingDeclaration,
        sensors: Iterable[str],
        *,
        check_key: bytes,
        journal: str | Path,
        retired: Iterable[str] = (),
        earlier: Sequence[EarlierDeclaration] = (),
        anchor: str | Path | None = None,
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
        self.declared = PoolDeclarations(declaration, earlier)
        self.declaration = declaration
        """What is declared of the window that is worked on."""
        self.retired = frozenset(retired)
        self.sensors = read_sensors(sensors, declaration.windows.least_sensors, self.retired)
        self._check_key = check_key
        self._anchor: OpenedAnchor | None = None
        self._expansion = Expansion(declaration.bits)
        self._totals: dict[int, tuple[bytes, Integers]] = {}  # of a window's agreed list; made anew if lost
        super().__init__(COUNTERS[self.part], journal)
        with ExitStack() as opened:
            opened.callback(self.close)
            if anchor is not None:
                self._anchor = OpenedAnchor(anchor, COUNTERS[self.part], declaration.pool, check_key)
            self._begin()
            opened.pop_all()

    def _begin(self) -> None:
        """Go on with what the journal holds, but for contributions under what is declared no more."""
        with self._journal.transaction():
            for message in self._journal.stored(Contribution):
                if message.declared != self.declared.fingerprint(message.window):
                    self._journal.drop(message)
        self._open = self._find_open()

    def _work_on(self, window: int) -> None:
        """Have what is declared of a window at hand."""
        self.declaration = self.declared.of(window)
        if self._expansion.bits != self.declaration.bits:
            self._expansion = Expansion(self.declaration.bits)

    def _declared_digest(self, window: int, sensors: int) -> bytes:
        """Return the digest of what is declared of a window, and of the sensors that joined first."""
        return declared_digest(self.declared.fingerprint(window), self.sensors[:sensors])

    def _find_open(self) -> OpenWindows:
        found = OpenWindows(self.sensors, self.retired)
        for message in self._journal.stored(Contribution):
            found.add(message)
        for held in self._journal.stored(HeldList):
            found.wait_for(held.window)
        return found

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

    def _shares_at(self, cells: Integers, window: int, sensors: Sequence[str]) -> Integers:
        """Return this counter's shares of whether each reading lies in some cells."""
        shares = []
        for message in self._contributions(window, sensors):
            self._expansion.expand(message.key)
            shares.append(sum_at(self._expansion.data, cells))
        return np.array(shares, np.int64)

    def _contributions(self, window: int, sensors: Iterable[str]) -> Iterator[Contribution]:
        for sensor in sensors:
            yield self._journal.parts(sensor, window, Contribution)[0]

    def _digest(self, window: int, sensors: Sequence[str]) -> bytes:
        """Return the digest of a list of sensors and their contributions."""
        names = [f"{name} {self._open.digest(name, window).hex()}" for name in sensors]
        text = "\n".join([self.declaration.pool, str(window), *names])
        return hashlib.sha256(self.declared.fingerprint(window) + text.encode()).digest()
