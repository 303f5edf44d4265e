# SPDX-License-Identifier: Apache-2.0
"""Mechanisms small enough to write down: exact laws of their answers, as fractions.

ε is counted in units of ln 2, so that e^ε is a power of two and nothing is rounded: a mechanism keeps
(R, n units) when no answer's probability falls by a factor above 2^n along a pair of R. A mechanism is a
list of parts with independent randomness; the worst factor of the whole is the product of the parts'.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from math import comb, inf

from anonymaly.promise import Guarantee
from tests.promise.naive import Pairs, Tiny

Law = dict[Hashable, Fraction]
Part = Callable[[Tiny], Law]
Mechanism = list[Part]
HALF = Fraction(1, 2)


def fall(mechanism: Mechanism, first: Tiny, second: Tiny) -> float | Fraction:
    """The largest factor by which an answer's probability falls from the first database to the second."""
    worst: float | Fraction = Fraction(1)
    for part in mechanism:
        before, after = part(first), part(second)
        assert sum(before.values()) == 1
        factors = [
            inf if after.get(answer, 0) == 0 else probability / after[answer]
            for answer, probability in before.items()
            if probability
        ]
        worst = worst * max(factors)
    return worst


def loss(mechanism: Mechanism, pairs: Iterable[tuple[Tiny, Tiny]]) -> float | Fraction:
    return max((fall(mechanism, first, second) for first, second in pairs), default=Fraction(1))


def bound(guarantee: Guarantee) -> Fraction:
    units, rest = divmod(guarantee.nano, 10**9)
    assert rest == 0
    return Fraction(2) ** units


def geometric(value: int, low: int, high: int, ratio: Fraction = HALF) -> Law:
    """A two-sided geometric around a value, its tails gathered at the ends."""
    law: Law = {
        answer: (1 - ratio) / (1 + ratio) * ratio ** abs(answer - value) for answer in range(low + 1, high)
    }
    return {**law, low: ratio ** (value - low) / (1 + ratio), high: ratio ** (high - value) / (1 + ratio)}


def noisy_count(matching: Iterable[int]) -> Mechanism:
    chosen = set(matching)
    return [lambda tiny: geometric(sum(place in chosen for place in tiny), -1, 7)]


def noisy_histogram(kinds: int) -> Mechanism:
    return [part for kind in range(kinds) for part in noisy_count([kind])]


def sample(kinds: int, sensitive: Iterable[int]) -> Mechanism:
    """OsdpRR: each non-sensitive record is kept with probability 1 − e^−ε, the others never."""
    open_kinds = [kind for kind in range(kinds) if kind not in set(sensitive)]

    def kept(kind: int) -> Part:
        def law(tiny: Tiny) -> Law:
            count = tiny.count(kind)
            return {kept: comb(count, kept) * HALF**count for kept in range(count + 1)}

        return law

    return [kept(kind) for kind in open_kinds]


def identify(place: int, close: Callable[[int, int], bool], beta: int, k: int) -> Mechanism:
    """Is the record an anomaly? Flipped with probability e^−ε(λ−1)/(1+e^ε), λ of the sensitive graph."""

    def law(tiny: Tiny) -> Law:
        copies, ball = tiny.count(place), sum(close(place, other) for other in tiny)
        if copies == 0:
            distance = ball - beta + 2 if ball >= beta else 1 + max(0, beta - k - ball)
        elif ball > beta:
            distance = ball - beta
        else:
            distance = min(beta + 1 - ball, copies + max(0, copies + beta - k - ball))
        truth = copies >= 1 and ball <= beta
        wrong = HALF ** (distance - 1) / 3
        return {truth: 1 - wrong, not truth: wrong}

    return [law]


def which_part(pairs: Pairs) -> Mechanism:
    """Says which connected part of a symmetric relation the database is in: loses nothing along its pairs."""
    parts: dict[Tiny, Tiny] = {}

    def root(tiny: Tiny) -> Tiny:
        while parts.setdefault(tiny, tiny) != tiny:
            tiny = parts[tiny]
        return tiny

    for a, b in pairs:
        parts[root(a)] = root(b)
    return [lambda tiny: {root(tiny): Fraction(1)}]
