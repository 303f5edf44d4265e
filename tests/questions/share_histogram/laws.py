# SPDX-License-Identifier: Apache-2.0
"""The exact law of a method's output: the method runs once for every way its draws can come out.

Draws without end are cut where their masses no longer matter (`TAIL`), or joined at a cap where the method
only compares them with counts below it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from anonymaly.core.arrays import Integers
from anonymaly.noise import ExactProbability
from anonymaly.noise.partition import UNIT, forward, powers

Law = dict[tuple[float, ...], float]
Outcome = tuple[Any, float]

TAIL = 9.0  # draws beyond rate·x = 9 are left out


class Enumerated:
    """Stands in for `Noise`: gives one outcome after the other, and multiplies their probabilities."""

    def __init__(self, script: list[int], cap: int | None) -> None:
        self.script, self.cap = script, cap
        self.widths: list[int] = []
        self.probability = 1.0

    def _take(self, outcomes: list[Outcome]) -> Any:
        place = len(self.widths)
        if place == len(self.script):
            self.script.append(0)
        self.widths.append(len(outcomes))
        value, mass = outcomes[self.script[place]]
        self.probability *= mass
        return value

    def one_sided_geometric(self, rate: Fraction, size: int) -> Integers:
        return np.array(self._take(vectors(one_sided_masses(float(rate), self.cap), size)))

    def two_sided_geometric(self, rate: Fraction) -> int:
        return int(self._take(vectors(two_sided_masses(float(rate)), 1))[0])

    def add_two_sided_geometric(self, counts: Integers, rate: Fraction) -> Integers:
        drawn: Integers = np.array(self._take(vectors(two_sided_masses(float(rate)), len(counts))), np.int64)
        return counts + drawn

    deciding_numbers = add_two_sided_geometric

    def thin(self, counts: Integers, probability: ExactProbability) -> Integers:
        kept = [
            [(k, float(stats.binom.pmf(k, int(n), float(probability)))) for k in range(int(n) + 1)]
            for n in counts
        ]
        return np.array(self._take(joint(kept)), np.int64)

    def partition(self, exponents: Integers) -> Integers:
        return np.array(self._take(partitions(exponents)))


@cache
def one_sided_masses(rate: float, cap: int | None) -> tuple[tuple[int, float], ...]:
    most = math.ceil(TAIL / rate) if cap is None else cap
    masses = [(x, -math.expm1(-rate) * math.exp(-rate * x)) for x in range(most)]
    # At the cap is all that lies beyond.
    return (*masses, (most, math.exp(-rate * most) * (1.0 if cap is not None else -math.expm1(-rate))))


@cache
def two_sided_masses(rate: float) -> tuple[tuple[int, float], ...]:
    most = math.ceil(TAIL / rate)
    return tuple((x, math.tanh(rate / 2) * math.exp(-rate * abs(x))) for x in range(-most, most + 1))


@cache
def vectors(masses: tuple[tuple[int, float], ...], size: int) -> list[Outcome]:
    return joint([list(masses)] * size)


def joint(each: list[list[tuple[int, float]]]) -> list[Outcome]:
    return [
        (tuple(value for value, _ in drawn), math.prod(mass for _, mass in drawn)) for drawn in product(*each)
    ]


def partitions(exponents: Integers) -> list[Outcome]:
    """All partitions with the probability that the backward pass gives them."""
    steps = step_logarithms(exponents)
    return [(lengths, math.exp(sure)) for lengths, sure in _backwards(steps, exponents.shape[1] - 1)]


def _backwards(steps: list[list[float]], end: int) -> Iterator[Outcome]:
    if end == 0:
        yield (), 0.0
        return
    for size, logarithm in enumerate(steps[end]):
        for rest, sure in _backwards(steps, end - (1 << size)):
            yield (*rest, 1 << size), sure + logarithm


def step_logarithms(exponents: Integers) -> list[list[float]]:
    """For each end, the log-probability that the run that ends there has 1, 2, 4, ... cells.

    Computed in rational numbers from the rounded numbers that the forward pass stores: the law as it is
    drawn.
    """
    sizes, ends = exponents.shape
    table, mantissas, orders = powers(), np.empty(ends), np.empty(ends, np.int64)
    forward(exponents, table, mantissas, orders)
    steps: list[list[float]] = [[]]
    for end in range(1, ends):
        weights = []
        for size in range(min(sizes, end.bit_length())):
            start, exponent = end - (1 << size), int(exponents[size, end])
            number = float(mantissas[start])
            for place in range(3):
                number *= float(table[place, exponent >> (10 * (2 - place)) & 1023])
            weights.append(Fraction(number) * Fraction(2) ** (int(orders[start]) - (exponent >> UNIT)))
        shares = [weight / sum(weights) for weight in weights]
        steps.append([math.log(share.numerator) - math.log(share.denominator) for share in shares])
    return steps


def law(release: Callable[[Any], npt.NDArray[Any]], cap: int | None = None) -> Law:
    """Run through all outcomes, last draw first."""
    found: Law = defaultdict(float)
    script: list[int] = []
    while True:
        noise = Enumerated(script, cap)
        output = release(noise)
        found[tuple(float(number) for number in output)] += noise.probability
        while script and script[-1] == noise.widths[len(script) - 1] - 1:
            script.pop()
        if not script:
            return dict(found)
        script[-1] += 1


Table = tuple[tuple[int, ...], tuple[int, ...]]  # sensitive and non-sensitive records in each bin


def neighbours(table: Table, adjacency: str) -> set[Table]:
    """The tables that the given one must be hard to tell from, in the direction that is promised."""
    sensitive, others = table
    bins = range(len(sensitive))
    added = {(plus(sensitive, i), others) for i in bins} | {(sensitive, plus(others, i)) for i in bins}
    removed = {(plus(sensitive, i, -1), others) for i in bins if sensitive[i]}
    if adjacency == "add_remove":
        return added | removed
    replaced = set()
    for less, same in removed:
        replaced |= {(plus(less, i), same) for i in bins} | {(less, plus(same, i)) for i in bins}
    return replaced - {table}


def plus(counts: tuple[int, ...], place: int, change: int = 1) -> tuple[int, ...]:
    return tuple(count + change * (number == place) for number, count in enumerate(counts))
