# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anonymaly.audit.fit import fit_outcomes
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.lattice import Lattice
from anonymaly.questions.score.methods.method import MethodFacts
from anonymaly.questions.score.methods.publishing import release_dense, release_sparse, threshold_for
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.summary import count_for
from tests.places import Put
from tests.questions.score.naive import cell_of

BOUNDS = ((0.0, 10.0), (-3.0, 3.0))
VALUES = st.one_of(
    st.none(),
    st.sampled_from([0.0, 10.0, -3.0, 3.0, 5.0, math.nan, 1e300, -1e300]),
    st.floats(-5, 12, allow_nan=False),
)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=30)


def _grid(dimensions: int, width: int) -> GridMethod:
    return GridMethod.plan({"cells": width}, MethodFacts(dimensions, Fraction(1), 100))


def _counted(dataset: Dataset, grid: GridMethod) -> dict[tuple[int, ...], int]:
    space = Space(("a", "b"), *zip(*BOUNDS, strict=True))
    cells, counts = grid.lattice.unpack(count_for(grid, space, dataset.table))
    return {tuple(map(int, cell)): int(count) for cell, count in zip(cells, counts, strict=True)}


def _naive(rows: list[Any], width: int) -> Counter[tuple[int, ...]]:
    counts: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        if all(value is not None and math.isfinite(value) for value in row):
            point = [
                (min(max(value, low), high) - low) / (high - low)
                for value, (low, high) in zip(row, BOUNDS, strict=True)
            ]
            counts[cell_of(point, width)] += 1
    return counts


COLUMNS = {"a": Interval(0, 10), "b": Interval(-3, 3)}


@settings(max_examples=20, deadline=None)
@given(ROWS, st.integers(2, 11))
def test_counts_on_duckdb_equal_a_plain_count(rows: list[Any], width: int) -> None:
    table = pa.table(
        {name: pa.array([row[place] for row in rows], pa.float64()) for place, name in enumerate("ab")}
    )
    assert _counted(Dataset(table, name="t", columns=COLUMNS), _grid(2, width)) == _naive(rows, width)


def test_counts_on_every_engine_equal_a_plain_count(put: Put) -> None:
    random = np.random.default_rng(3)
    rows: list[Any] = [tuple(row) for row in random.uniform(-5, 12, (200, 2))]
    rows += [(None, 1.0), (10.0, 3.0), (0.0, -3.0), (5.0, 0.0), (math.nan, 0.0), (1e300, -1e300)]
    table = pa.table({"a": pa.array([a for a, _ in rows], pa.float64()), "b": [b for _, b in rows]})
    dataset = Dataset(**put(table), name="t", columns=COLUMNS)
    for width in (2, 3, 7):
        assert _counted(dataset, _grid(2, width)) == _naive(rows, width)


@pytest.mark.parametrize(("dimensions", "width"), [(3, 10), (30, 10), (5, 1000)])
def test_words_indices_and_coordinates_name_the_same_cells(dimensions: int, width: int) -> None:
    lattice = Lattice(dimensions, width)
    random = np.random.default_rng(4)
    cells = random.integers(0, width, (50, dimensions), dtype=np.uint16)
    indices = lattice.indices(cells)
    assert np.array_equal(lattice.coordinates(indices), cells)
    assert [indices[place] for place in lattice.sorted(cells)] == sorted(indices)
    assert all(0 <= index < lattice.size for index in indices)
    # As the engine packs them.
    points = {f"x{axis}": (cells[:, axis] + 0.5) / width for axis in range(dimensions)}
    columns = {name: Interval(0, 1) for name in points}
    view = Dataset(pa.table(points), name="t", columns=columns).table
    space = Space(tuple(points), (0.0,) * dimensions, (1.0,) * dimensions)
    found, counts = lattice.unpack(count_for(_grid(dimensions, width), space, view))
    assert Counter(dict(zip(lattice.indices(found), counts.tolist(), strict=True))) == Counter(indices)


RATE = Fraction(1)
SMALL = Lattice(2, 2)
CELLS, COUNTS = SMALL.coordinates([1, 2]), np.array([2, 1])


def _law(threshold: int, most: int) -> dict[tuple[int | None, ...], float]:
    """Return the exact law of the four cells, each its kept value up to ``most`` or None, by enumeration."""
    q = math.exp(-float(RATE))
    single = []
    for count in (0, 2, 1, 0):
        masses = {value: (1 - q) / (1 + q) * q ** abs(value - count) for value in range(threshold, most)}
        # q^t/(1+q) above zero, and the rest of one below.
        below = threshold - 1 - count
        masses[None] = q ** (-below) / (1 + q) if below < 0 else 1 - q ** (below + 1) / (1 + q)
        masses[most] = 1 - sum(masses.values())
        single.append(masses)
    law: dict[tuple[int | None, ...], float] = {(): 1.0}
    for masses in single:
        law = {(*rest, value): p * mass for rest, p in law.items() for value, mass in masses.items()}
    return law


@pytest.mark.parametrize("release", [release_dense, release_sparse])
@pytest.mark.parametrize("threshold", [0, 1, 3])
def test_sparse_and_dense_releases_have_the_law_of_noising_every_cell(release: Any, threshold: int) -> None:
    noise, most = Noise.seeded(7), threshold + 4
    samples = []
    for _ in range(5000):
        cells, values = release(CELLS, COUNTS, SMALL, threshold, RATE, noise)
        kept = dict(zip(SMALL.indices(cells), values.tolist(), strict=True))
        assert list(kept) == sorted(kept), "rows in another order tell which had records"
        samples.append(tuple(min(kept[cell], most) if cell in kept else None for cell in range(4)))
    law = _law(threshold, most)
    assert sum(law.values()) == pytest.approx(1)
    assert fit_outcomes(samples, law).p_value > 1e-6
    assert fit_outcomes(samples, _law(threshold + 1, most + 1)).p_value < 1e-6


def test_of_10_to_the_30_cells_as_many_are_kept_as_the_law_says_each_uniformly() -> None:
    lattice = Lattice(30, 10)
    rate = Fraction(1, 2)
    threshold = threshold_for(lattice, rate, Fraction(2000))
    expected = 10.0**30 * math.exp(-float(rate) * threshold) / (1 + math.exp(-float(rate)))
    assert 2000 * math.exp(-float(rate)) < expected <= 2000
    cells, counts = lattice.coordinates([5]), np.array([10**6])
    kept, values = release_sparse(cells, counts, lattice, threshold, rate, Noise.seeded(1))
    indices = lattice.indices(kept)
    assert 5 in indices
    assert indices == sorted(set(indices))
    assert stats.poisson.sf(len(kept) - 2, expected) > 1e-6
    assert stats.poisson.cdf(len(kept) - 1, expected) > 1e-6
    for axis in range(30):
        assert stats.chisquare(np.bincount(kept[:, axis], minlength=10)).pvalue > 1e-7
    beyond = np.delete(values, indices.index(5)) - threshold
    assert beyond.min() == 0
    assert (
        stats.kstest(
            beyond + np.random.default_rng(1).random(len(beyond)), "uniform", (0, beyond.max() + 1)
        ).pvalue
        < 0.01
    )
    assert beyond.mean() == pytest.approx(1 / math.expm1(0.5), rel=0.15)


@pytest.mark.parametrize("dimensions", [1, 8, 30])
def test_the_threshold_is_the_smallest_that_few_empty_cells_reach(dimensions: int) -> None:
    lattice, rate = Lattice(dimensions, 3), Fraction(3, 10)
    threshold = threshold_for(lattice, rate, Fraction(1))

    def expected(value: int) -> float:
        return lattice.size * math.exp(-float(rate) * value) / (1 + math.exp(-float(rate)))

    assert expected(threshold) <= 1
    assert threshold == 0 or expected(threshold - 1) > 1
