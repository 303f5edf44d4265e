# SPDX-License-Identifier: Apache-2.0
"""No number of records makes a kernel fail or err: a failure after the charge would tell of a row.

Tables of trillions of records are given as what is kept of them. Whole numbers of any length are the truth.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.core.arrays import Integers
from anonymaly.detectors import Grubbs, Histogram, LocalOutlierFactor
from anonymaly.detectors.grubbs import exceeds
from anonymaly.detectors.histogram import bin_of
from anonymaly.questions.explain.binding import bind
from anonymaly.questions.explain.kernels import histogram_compiled
from anonymaly.questions.explain.kernels.cells import (
    LONGEST,
    MOST_RECORDS,
    DistanceSums,
    NearestValues,
    Ragged,
    SortedValues,
)
from anonymaly.questions.explain.kernels.grubbs import GrubbsKernel
from anonymaly.questions.explain.kernels.histogram import HistogramKernel
from anonymaly.questions.explain.kernels.lof import LofKernel
from anonymaly.questions.explain.metric_steps import FINEST, MetricSteps
from anonymaly.questions.explain.space import ContextSpace
from anonymaly.questions.explain.summary import distance_sums
from tests.places import Put

FAR = 1 << FINEST  # the longest distance that a metric has


def heaps(parts: list[dict[int, int]]) -> DistanceSums:
    """Return the sums of cells that hold so many records at each distance."""
    return DistanceSums(
        np.array([sum(part.values()) for part in parts], dtype=np.int64),
        [sum(distance * number for distance, number in part.items()) for part in parts],
        [sum(distance**2 * number for distance, number in part.items()) for part in parts],
    )


def same_as_whole_numbers(sizes: tuple[int, ...], cells: DistanceSums, alpha: float) -> list[bool]:
    space = ContextSpace(sizes, tuple(0 for _ in sizes))
    kernel = GrubbsKernel(space, cells, Grubbs(alpha))
    expected = []
    for inside in space.members(range(space.size)):
        chosen = np.flatnonzero(inside)
        count = 1 + sum(int(cells.counts[cell]) for cell in chosen)
        sums = (sum(part[cell] for cell in chosen) for part in (cells.sums, cells.squares))
        expected.append(exceeds(count, *sums, alpha))
    assert kernel.valid().tolist() == kernel.valid_at(range(space.size)).tolist() == expected
    return expected


def test_grubbs_takes_a_record_more_than_33_554_431() -> None:
    for others in (33_554_430, 33_554_431, 1 << 40):
        assert same_as_whole_numbers((1,), heaps([{FAR: others}]), 0.05) == [True]


def test_grubbs_over_trillions_of_records_is_exact() -> None:
    generator = random.Random(3)
    seen: set[bool] = set()
    for _ in range(40):
        # The record is about as many standard deviations from the others as the test asks for; a cell on its
        # other side, or none, takes most of a sum of 2^80 away again.
        middle, width = FAR // 2, FAR // generator.choice([15, 16, 17, 30])
        parts = [
            {side * (middle + width): generator.randrange(1 << 44), side * (middle - width): 1 << 43}
            for side in [1] * 11 + [generator.choice([-1, 1])]
        ]
        seen |= set(same_as_whole_numbers((3, 4), heaps(parts), generator.choice([0.05, 0.5])))
    assert seen == {True, False}


def test_grubbs_of_sums_that_cancel_is_exact() -> None:
    # Without the second cell the distances sum to 0, or to 1, or to -1.
    for rest in (-1, 0, 1):
        cells = heaps([{FAR: 1 << 44, -FAR: 1 << 44, rest: 1}, {FAR: 1 << 20}, {-FAR: 1 << 20}])
        assert same_as_whole_numbers((3,), cells, 0.5) == [False] * 4


FEW = pa.table({"a": ["u"] * 6, "m": [0.0] + [128.0] * 5})


def test_the_sums_of_a_cell_may_need_more_than_64_bits_on_the_engine(put: Put) -> None:
    assert sums_of_few(**put(FEW)) == ([5 << 49], [5 << 98])


def sums_of_few(**place: Any) -> tuple[list[int], list[int]]:
    columns = {"a": am.Categories(["u"]), "m": am.Interval(0, 128)}
    question = am.Explain(
        record={"a": "u", "m": 0.0}, metric="m", attributes=["a"], detector="grubbs", rule="g", epsilon=1
    )
    # Steps so fine that a few rows have the sums which steps of 2^36 have with 300 million.
    steps = MetricSteps(0.0, 128.0, 2.0**-42)
    dataset = am.Dataset(**place, name="x", columns=columns, rules={"g": am.SameContexts()})
    bound = replace(bind(question, dataset.declaration), metric_steps=steps)
    found = distance_sums(dataset.table, bound, np.array([5], dtype=np.int64))
    return found.sums, found.squares


@pytest.mark.parametrize("members", [1, 2, 1 << 25, (1 << 25) + 1, (1 << 40) - 1, 1 << 40, MOST_RECORDS])
def test_the_bin_of_a_histogram_is_exact_up_to_eight_trillion_records(members: int) -> None:
    generator = random.Random(members)
    ends = [(-(1 << LONGEST), 0), (0, 1 << LONGEST), (0, 0), (-1, 1)]
    ends += [
        (-below, (1 << LONGEST) - below) for below in (generator.randrange(1 << LONGEST) for _ in range(500))
    ]
    for smallest, largest in ends:
        first, last = bin_of(0, smallest, largest, members)
        assert histogram_compiled._bin_of_zero(smallest, largest, members) == (first, last + 1)


def spread_out(number: int) -> Integers:
    """Return distances, in order: most far apart on both sides, so that no sum of them would fit 61 bits."""
    side = np.linspace(1, 1 << (LONGEST - 1), number // 2).astype(np.int64)
    return np.concatenate([-side[::-1], side])


def test_a_histogram_of_wide_values_is_not_too_many_for_it() -> None:
    values = spread_out(1 << 21)
    space = ContextSpace((2,), (0,))
    whole = SortedValues(0, Ragged(values, np.array([0, len(values), len(values)])))
    for fraction in (0.0001, 0.9):
        detector = Histogram(fraction)
        expected = detector.is_outlier(np.append(values, 0), len(values))
        kernel = HistogramKernel(space, whole, detector)
        assert kernel.valid().tolist() == kernel.valid_at([0, 1]).tolist() == [expected] * 2


def test_the_neighbours_of_many_wide_cells_are_not_too_many_for_lof() -> None:
    space, k = ContextSpace((16, 16, 32), (0, 0, 0)), 64
    side = np.linspace(1, 1 << (LONGEST - 1), 2 * k).astype(np.int64)
    offsets = np.arange(space.cells + 1) * 2 * k
    cells = NearestValues(
        0, Ragged(np.tile(-side, space.cells), offsets), Ragged(np.tile(side, space.cells), offsets)
    )
    for threshold in (1.0, 1.5):
        detector = LocalOutlierFactor(k=k, threshold=threshold)
        alone = detector.is_outlier([*(-side).tolist(), *side.tolist(), 0], 4 * k)
        found = LofKernel(space, cells, detector).valid_at([0, space.size - 1])
        everywhere = np.repeat([*(-side).tolist(), *side.tolist()], space.cells)
        assert found.tolist() == [alone, detector.is_outlier([*everywhere.tolist(), 0], len(everywhere))]
