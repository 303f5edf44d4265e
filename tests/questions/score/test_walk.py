# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.noise import Noise
from anonymaly.questions.score.kernels import grid_scorer, walk
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.lattice import Lattice
from anonymaly.questions.score.methods.method import MethodFacts
from tests.questions.score.naive import Cell, keys, naive_score

KEY = bytes(range(32))
SHAPES = [(1, 7), (2, 5), (3, 3), (5, 2)]
VARIANTS = [
    {"weighted": weighted, "distance": distance, "origin": origin}
    for weighted in (False, True)
    for distance in ("manhattan", "euclidean")
    for origin in ("cell", "point")
]


def _points(dimensions: int, width: int, count: int) -> Any:
    """Ordinary points, and points on edges, corners and centres of cells, where distances tie."""
    random = np.random.default_rng(dimensions)
    ordinary = random.random((count, dimensions))
    special = random.integers(0, 2 * width + 1, (count, dimensions)) / (2 * width)
    return np.vstack([ordinary, special, np.zeros((1, dimensions)), np.ones((1, dimensions))])


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("dimensions", "width"), SHAPES)
def test_the_walk_meets_every_cell_once_in_the_order_of_a_full_sort(
    dimensions: int, width: int, squared: bool
) -> None:
    arena = walk.make_arena(grid_scorer.multipliers(dimensions), width, width**dimensions)
    for point in _points(dimensions, width, 20):
        expected = {
            cell: (key[0] << walk.APART_BITS) + key[1] for cell, key in keys(point, width, squared).items()
        }
        walk.start(point, squared, arena)
        met: list[tuple[int, Cell]] = []
        while (node := walk.advance(arena)) >= 0:
            cell = [0] * dimensions
            for place, axis in enumerate(arena.axes):
                cell[axis] = int(arena.order[axis, arena.ranks[node, place]])
            met.append((int(arena.cost[node]), tuple(cell)))
        assert [key for key, _ in met] == sorted(expected.values())
        assert {cell: key for key, cell in met} == expected
        assert len(met) == len(expected)


def _grid(dimensions: int, width: int, **options: Any) -> GridMethod:
    return GridMethod.plan(
        {"cells": width, "neighbours": 7, "threshold": 0, "depth": 1.4, **options},
        MethodFacts(dimensions, Fraction(1), 100),
    )


def _naive(grid: GridMethod, point: Any, counts: Any) -> float:
    return naive_score(
        point,
        counts,
        width=grid.cells,
        neighbours=grid.neighbours,
        weighted=grid.weighted,
        squared=grid.distance == "euclidean",
        from_cell=grid.origin == "cell",
        depth=grid.depth,
    )


@pytest.mark.parametrize("visit", [10**9, 1, 20], ids=["scan", "walk", "both"])
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_scores_equal_plain_ones_by_walk_and_by_scan(
    options: dict[str, Any], visit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_scorer, "VISIT", visit)
    for dimensions, width in SHAPES[1:]:
        grid = _grid(dimensions, width, **options)
        cells = grid.lattice.coordinates(np.arange(grid.lattice.size))
        # Negative counts too, and half of the cells not published.
        counts = np.random.default_rng(1).integers(-2, 4, len(cells))
        kept = np.flatnonzero(np.arange(len(cells)) % 2)
        body = {"cells": cells[kept].astype(np.uint8), "counts": counts[kept]}
        table = {
            tuple(map(int, cell)): int(count) for cell, count in zip(cells[kept], counts[kept], strict=True)
        }
        points = _points(dimensions, width, 15)
        expected = [_naive(grid, point, table) for point in points]
        assert grid.scorer(body)(points) == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_thirty_columns_need_no_list_of_a_milliard_cells(seed: int, kept: int) -> None:
    random = np.random.default_rng(seed)
    grid = GridMethod.plan({"cells": 2, "neighbours": 3}, MethodFacts(30, Fraction(1), 100))
    cells = np.unique(random.integers(0, 2, (kept, 30), dtype=np.uint8), axis=0)
    counts = random.integers(1, 5, len(cells))
    points = random.random((4, 30))
    own = (points >= 0.5).astype(int)
    places = np.floor(points * 2 * 1024).astype(int)
    found = grid.scorer({"cells": cells, "counts": counts})(points)
    for row in range(len(points)):
        steps = np.abs(places[row] - cells.astype(int) * 1024 - 512).sum(axis=1)
        apart = np.abs(own[row] - cells.astype(int)).sum(axis=1)
        order = np.lexsort([apart, steps])
        reached = np.flatnonzero(np.cumsum(counts[order]) >= 3)
        expected = apart[order][reached[0]] / 2 if len(reached) else 30.0
        assert found[row] == expected


def test_a_held_walk_adds_the_keyed_noise_of_every_cell() -> None:
    for dimensions, width, options in ((3, 3, {}), (2, 5, {"distance": "euclidean", "origin": "point"})):
        grid = _grid(dimensions, width, form="held", **options)
        lattice = Lattice(dimensions, width)
        cells = lattice.coordinates(np.arange(0, lattice.size, 3))
        counts = np.arange(len(cells)) % 4
        exact = {tuple(map(int, row)): int(count) for row, count in zip(cells, counts, strict=True)}
        noisy = {}
        for cell in itertools.product(range(width), repeat=dimensions):
            index = sum(place * width**axis for axis, place in enumerate(cell))
            noisy[cell] = exact.get(cell, 0) + Noise.keyed(KEY).two_sided_geometric_at(Fraction(1), index)
        body = {"cells": cells, "counts": counts, "key": np.frombuffer(KEY, np.uint8)}
        points = _points(dimensions, width, 10)
        assert grid.scorer(body)(points) == pytest.approx([_naive(grid, point, noisy) for point in points])


def test_scores_do_not_depend_on_batches_or_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = _grid(4, 6)
    cells = grid.lattice.coordinates(np.arange(0, grid.lattice.size, 5))
    body = {"cells": cells, "counts": np.ones(len(cells), np.int64)}
    points = np.random.default_rng(2).random((3000, 4))
    whole = grid.scorer(body)(points)
    monkeypatch.setattr("anonymaly.core.threads.worker_threads", lambda: 1)
    alone = grid.scorer(body)
    assert np.array_equal(np.concatenate([alone(points[:700]), alone(points[700:])]), whole)
    assert grid.scorer(body)(points[:0]).shape == (0,)
