# SPDX-License-Identifier: Apache-2.0
"""Neighbourhood graphs small enough to walk, and laws small enough to write down.

A table is how often each of a few points on a line occurs. ε is counted in units of ln 2, so that e^ε is
a power of two and every probability is a fraction.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from anonymaly.questions.identify.verdicts import Verdicts

Table = tuple[int, ...]
Steps = Callable[[Table], Iterator[Table]]


class Line:
    """Tables of points 0, 1, 2, … with up to ``most`` copies of each, judged at one of the points."""

    def __init__(self, points: int, most: int, asked: int, radius: int, beta: int, k: int) -> None:
        self.points, self.most, self.asked = points, most, asked
        self.radius, self.beta, self.k = radius, beta, k

    def tables(self) -> list[Table]:
        return list(product(range(self.most + 1), repeat=self.points))

    def within(self, table: Table, point: int) -> int:
        return sum(count for other, count in enumerate(table) if abs(other - point) <= self.radius)

    def anomalous(self, table: Table) -> bool:
        return table[self.asked] >= 1 and self.within(table, self.asked) <= self.beta

    def _steps(self, table: Table) -> Iterator[tuple[int, Table, Table]]:
        """Every record that may come or go: its point, the table after, and which of the two holds it."""
        for point, count in enumerate(table):
            for change in (-1, 1):
                if 0 <= count + change <= self.most:
                    after = (*table[:point], count + change, *table[point + 1 :])
                    yield point, after, max(table, after)

    def any_step(self, table: Table) -> Iterator[Table]:
        """Differential privacy: all of them."""
        return (after for _, after, _ in self._steps(table))

    def sensitive_step(self, table: Table) -> Iterator[Table]:
        """Sensitive privacy: those in a record that is k-sensitive where it is."""
        for point, after, holder in self._steps(table):
            if self.within(holder, point) >= self.beta + 1 - self.k:
                yield after

    def superset_step(self, table: Table) -> Iterator[Table]:
        """What the improved bound is the distance in: it judges steps in the record asked about alone."""
        for point, after, holder in self._steps(table):
            if point != self.asked or self.within(holder, point) >= self.beta + 1 - self.k:
                yield after

    def distances(self, steps: Steps) -> dict[Table, int]:
        """How many steps each table is from one with the other answer, if there is a way."""
        tables = self.tables()
        found = {
            table: 1
            for table in tables
            if any(self.anomalous(after) != self.anomalous(table) for after in steps(table))
        }
        waiting = deque(found)
        while waiting:
            table = waiting.popleft()
            for after in steps(table):
                if after not in found and self.anomalous(after) == self.anomalous(table):
                    found[after] = found[table] + 1
                    waiting.append(after)
        return found


def chance_of_yes(verdicts: Verdicts, base: Fraction) -> list[Fraction]:
    """The probability of yes, from the paper's formula: flipped with e^(−ε(λ−1))/(1+e^ε), e^ε = base."""
    flips = [base ** -(int(steps) - 1) / (1 + base) for steps in verdicts.steps]
    return [1 - flip if true else flip for flip, true in zip(flips, verdicts.anomalous, strict=True)]


def factor(one: Fraction, other: Fraction) -> Fraction:
    """The largest factor by which the probability of an answer differs."""
    pairs = ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one))
    return max(first / second for first, second in pairs)


def column(values: list[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(values, np.int64)
