# SPDX-License-Identifier: Apache-2.0
"""Margins and laws in a few plain lines each, from GUARANTEE.md, to compare the real ones with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

Table = tuple[tuple[int, int], ...]  # rows as a group's code and a step, in order
MarginOf = Callable[[Sequence[int]], int]


def fence(values: Sequence[int], asked: int, steps: int) -> int:
    """Return the best of all pairs of edges whose fence the asked step is beyond, in quarters of a record."""
    best, number = 0, len(values)
    for low, high in itertools.combinations(range(steps + 1), 2):
        if 2 * asked > 5 * high - 3 * low or 2 * (asked + 1) < 5 * low - 3 * high:
            held = min(sum(value < high for value in values), sum(value >= low for value in values))
            best = max(best, 4 * held - 3 * number)
    return best


def rare(values: Sequence[int], window: tuple[int, int], numerator: int, denominator: int) -> int:
    """Return how much less than a share lies in a window."""
    near = sum(window[0] <= value <= window[1] for value in values)
    return max(0, numerator * len(values) - denominator * near)


def quartile(values: Sequence[int], quarter: int, edges: int) -> tuple[int, ...]:
    """Return the utility of every edge as a quarter's end, in quarters of a rank."""
    return tuple(
        -abs(4 * sum(value < edge for value in values) - quarter * len(values)) for edge in range(edges)
    )


def tables(codes: int, steps: int, most: int) -> Iterator[Table]:
    """Yield every table of up to so many rows."""
    universe = list(itertools.product(range(codes), range(steps)))
    for number in range(most + 1):
        yield from itertools.combinations_with_replacement(universe, number)


def neighbours(table: Table, codes: int, steps: int, rows: int, replace: bool) -> Iterator[Table]:
    """Yield the tables with one person of up to so many rows more, or with one in place of another."""
    universe = list(itertools.product(range(codes), range(steps)))
    many = [
        more
        for number in range(1, rows + 1)
        for more in itertools.combinations_with_replacement(universe, number)
    ]
    bases = {table}
    if replace:
        bases = {
            tuple(row for place, row in enumerate(table) if place not in gone)
            for number in range(1, rows + 1)
            for gone in itertools.combinations(range(len(table)), number)
        }
    for base in bases:
        for more in many:
            yield tuple(sorted((*base, *more)))


@cache
def law(utilities: tuple[int, ...], rate: float) -> tuple[float, ...]:
    """Return the law of noisy-max with exponential noise: the mechanism's, by Lemma 4."""
    best = max(utilities)
    coins = [math.exp(-rate * (best - utility)) for utility in utilities]
    found = []
    for place, coin in enumerate(coins):
        failing = np.polynomial.Polynomial([1.0])
        for other, chance in enumerate(coins):
            if other != place:
                failing *= np.polynomial.Polynomial([1.0, -chance])
        found.append(coin * float(failing.integ()(1.0)))
    return tuple(found)


def loss(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the largest logarithm of a quotient of probabilities, in both directions."""
    return max(abs(math.log(one / other)) for one, other in zip(first, second, strict=True))
