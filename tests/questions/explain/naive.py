# SPDX-License-Identifier: Apache-2.0
"""Slow definitions that detectors and kernels must agree with, and random tables to try them on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy import stats

from anonymaly.core.arrays import Integers
from anonymaly.detectors import Detector, Grubbs, LocalOutlierFactor
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.kernels.cells import (
    CellSummary,
    DistanceSums,
    NearestValues,
    Ragged,
    SortedValues,
)
from anonymaly.questions.explain.kernels.kernel import Kernel
from anonymaly.questions.explain.space import ContextSpace


def local_outlier_factor(values: Sequence[int], position: int, k: int) -> Fraction | float:
    """The factor by the rule for ties, over all values and with no thought of speed."""
    k = min(k, len(values) - 1)
    if k == 0:
        return 1.0

    def neighbours(index: int) -> list[int]:
        others = [other for other in range(len(values)) if other != index]
        return sorted(others, key=lambda other: (abs(values[other] - values[index]), values[other]))[:k]

    def k_distance(index: int) -> int:
        return max(abs(values[other] - values[index]) for other in neighbours(index))

    def reach_sum(index: int) -> int:
        return sum(max(k_distance(other), abs(values[other] - values[index])) for other in neighbours(index))

    own, others = reach_sum(position), [reach_sum(other) for other in neighbours(position)]
    if own == 0:
        return 1.0
    if 0 in others:
        return math.inf
    return sum((Fraction(own, other) for other in others), Fraction(0)) / k


def grubbs_excess(values: Sequence[int], position: int, alpha: float) -> float | None:
    """G² over its critical square, minus 1; None where there is no test."""
    count = len(values)
    if count < 3:
        return None
    mean = Fraction(sum(values), count)
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    if variance == 0:
        return None
    point = Fraction(float(stats.t.isf(alpha / (2 * count), count - 2))) ** 2
    critical = Fraction((count - 1) ** 2, count) * point / (count - 2 + point)
    return float((values[position] - mean) ** 2 / variance / critical - 1)


def histogram_is_outlier(values: Sequence[int], position: int, fraction: Fraction) -> bool:
    smallest, largest = min(values), max(values)
    bins = next(number for number in range(1, len(values) + 1) if number**2 >= len(values))
    edges = [smallest + Fraction(largest - smallest, bins) * number for number in range(bins + 1)]
    if smallest == largest:
        return False
    # As numpy does it: the bin of the last edge that is not above the value; the last bin holds its end.
    numbers = [min(sum(edge <= value for edge in edges) - 1, bins - 1) for value in values]
    return numbers.count(numbers[position]) < fraction * len(values)


@dataclass(frozen=True)
class Table:
    """Records as cell and value, and which of them is V."""

    space: ContextSpace
    cells: Integers
    values: Integers
    position: int

    @property
    def value(self) -> int:
        return int(self.values[self.position])

    def others(self) -> tuple[Integers, Integers]:
        return np.delete(self.cells, self.position), np.delete(self.values, self.position)

    def counts(self) -> Integers:
        return np.bincount(self.others()[0], minlength=self.space.cells)

    def in_context(self, index: int) -> tuple[Integers, int]:
        """The values of a context's records, found record by record, and V's place among them."""
        masks = self.space.masks(index)
        kept = []
        for record, cell in enumerate(self.cells):
            digits = np.unravel_index(int(cell), self.space.sizes)
            if all(mask >> int(digit) & 1 for mask, digit in zip(masks, digits, strict=True)):
                kept.append(record)
        return self.values[kept], kept.index(self.position)

    def naive(self, detector: Detector) -> list[bool]:
        return [detector.is_outlier(*self.in_context(index)) for index in range(self.space.size)]

    def kernel(self, detector: Detector, depth: int | None = None) -> Kernel[Any, Any]:
        return kernel_type(detector)(self.space, self.summary(detector, depth), detector)

    def summary(self, detector: Detector, depth: int | None = None) -> CellSummary:
        """What the detector's kernel takes of the other records, made with no thought of speed."""
        cells, values = self.others()
        if isinstance(detector, LocalOutlierFactor):
            depth = 2 * detector.k if depth is None else depth
            below = [
                sorted(values[(cells == c) & (values <= self.value)])[::-1] for c in range(self.space.cells)
            ]
            above = [sorted(values[(cells == c) & (values > self.value)]) for c in range(self.space.cells)]
            return NearestValues(
                self.value, *(ragged([cell[:depth] for cell in side]) for side in (below, above))
            )
        if isinstance(detector, Grubbs):
            distances = [
                [int(value) - self.value for value in values[cells == c]] for c in range(self.space.cells)
            ]
            return distance_sums(distances)
        return SortedValues(self.value, ragged([sorted(values[cells == c]) for c in range(self.space.cells)]))


def ragged(lists: Sequence[Sequence[int]]) -> Ragged:
    values = np.array([value for cell in lists for value in cell], dtype=np.int64)
    return Ragged(values, np.cumsum([0, *map(len, lists)]))


def distance_sums(lists: Sequence[Sequence[int]]) -> DistanceSums:
    """Sums of each cell's distances and of their squares."""
    return DistanceSums(
        np.array([len(cell) for cell in lists], dtype=np.int64),
        [sum(cell) for cell in lists],
        [sum(distance**2 for distance in cell) for cell in lists],
    )


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(
    lambda sizes: sum(sizes) - len(sizes) <= 5 and math.prod(sizes) <= 36
)


@st.composite
def tables(draw: st.DrawFn, most_records: int = 30) -> Table:
    sizes = tuple(draw(SIZES))
    count = math.prod(sizes)
    # From a few values with many ties to wide ones with hardly any.
    values = draw(st.sampled_from([(-2, 2), (0, 12), (0, 100), (-(10**9), 10**9)]))
    # Few of the cells have records, so that values of the domain do not occur at all.
    used = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=6))
    records = draw(
        st.lists(st.tuples(st.sampled_from(used), st.integers(*values)), min_size=1, max_size=most_records)
    )
    cells, numbers = (np.array(column, dtype=np.int64) for column in zip(*records, strict=True))
    position = draw(st.integers(0, len(records) - 1))
    own = tuple(int(digit) for digit in np.unravel_index(int(cells[position]), sizes))
    return Table(ContextSpace(sizes, own), cells, numbers, position)


def random_table(
    generator: np.random.Generator, sizes: tuple[int, ...], records: int, values: npt.ArrayLike
) -> Table:
    """A larger table for what small ones do not reach."""
    cells = generator.integers(0, math.prod(sizes), records)
    position = int(generator.integers(records))
    own = tuple(int(digit) for digit in np.unravel_index(int(cells[position]), sizes))
    return Table(ContextSpace(sizes, own), cells, np.asarray(values, dtype=np.int64), position)
