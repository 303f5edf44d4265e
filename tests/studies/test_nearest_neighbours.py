# SPDX-License-Identifier: Apache-2.0
"""The non-private twins agree with scikit-learn, and the grid with a walk over every cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from studies.grid_knn.nearest_neighbours import Distance, grid_distances, neighbour_distances

RANDOM = np.random.default_rng(5)
REFERENCE, POINTS = RANDOM.random((60, 3)), RANDOM.random((25, 3))


@pytest.mark.parametrize("distance", ["manhattan", "euclidean"])
def test_distances_are_those_of_scikit_learn(distance: Distance) -> None:
    found = NearestNeighbors(n_neighbors=5, metric=distance).fit(REFERENCE).kneighbors(POINTS)[0]
    assert neighbour_distances(REFERENCE, POINTS, 5, distance=distance) == pytest.approx(found[:, -1])
    weighted = neighbour_distances(REFERENCE, POINTS, 5, distance=distance, weighted=True)
    assert weighted == pytest.approx(found.sum(axis=1))


def walk_every_cell(point: np.ndarray, cells: int, k: int, norm: int, from_cell: bool) -> tuple[float, float]:
    """Sort all cells by distance, add their counts until k are met; return plain and weighted scores."""
    counts = dict.fromkeys(itertools.product(range(cells), repeat=3), 0)
    for record in REFERENCE:
        counts[tuple(min(int(value * cells), cells - 1) for value in record)] += 1

    def centre(cell: tuple[int, ...]) -> np.ndarray:
        return (np.array(cell) + 0.5) / cells

    own = centre(tuple(min(int(value * cells), cells - 1) for value in point))

    def away(cell: tuple[int, ...]) -> tuple[float, float]:
        start = own if from_cell else point
        return tuple(round(float(np.linalg.norm(end - centre(cell), norm)), 12) for end in (point, start))

    met, total = 0, 0.0
    for cell in sorted(counts, key=away):
        step = float(np.linalg.norm((own if from_cell else point) - centre(cell), norm))
        taken = min(counts[cell], k - met)
        met, total = met + taken, total + taken * step
        if met == k:
            return step, total
    raise AssertionError("fewer than k records")


@pytest.mark.parametrize("distance", ["manhattan", "euclidean"])
@pytest.mark.parametrize("from_cell", [False, True])
def test_the_grid_without_noise_is_a_walk_over_all_cells(distance: Distance, from_cell: bool) -> None:
    options = {"cells": 4, "distance": distance, "from_cell": from_cell}
    walked = [
        walk_every_cell(point, 4, 5, 1 if distance == "manhattan" else 2, from_cell) for point in POINTS
    ]
    assert grid_distances(REFERENCE, POINTS, 5, **options) == pytest.approx([plain for plain, _ in walked])
    weighted = grid_distances(REFERENCE, POINTS, 5, weighted=True, **options)
    assert weighted == pytest.approx([total for _, total in walked])


def test_a_fine_grid_comes_close_to_the_exact_distance() -> None:
    exact = neighbour_distances(REFERENCE, POINTS, 5)
    assert np.abs(grid_distances(REFERENCE, POINTS, 5, cells=1000) - exact).max() < 0.002


def test_fewer_records_than_neighbours_are_all_taken() -> None:
    assert neighbour_distances([[0.0], [1.0]], [[0.0]], 5).tolist() == [1.0]
    assert grid_distances([[0.0], [1.0]], [[0.25]], 5, cells=2).tolist() == [0.5]


def test_many_points_are_scored_in_parts_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = grid_distances(REFERENCE, POINTS, 3, cells=3)
    monkeypatch.setattr("studies.grid_knn.nearest_neighbours.AT_ONCE", 40)
    assert (grid_distances(REFERENCE, POINTS, 3, cells=3) == whole).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reference": np.empty((0, 3))}, "not empty"),
        ({"points": POINTS[:, :2]}, "same columns"),
        ({"points": np.full((1, 3), np.nan)}, "finite"),
        ({"neighbours": 0}, "at least 1"),
        ({"cells": 0}, "at least 1"),
        ({"points": np.full((1, 3), 2.0)}, "unit cube"),
    ],
)
def test_what_cannot_be_scored_is_refused(change: dict[str, object], words: str) -> None:
    given = {"reference": REFERENCE, "points": POINTS, "neighbours": 5, "cells": 3, **change}
    with pytest.raises(ValueError, match=words):
        grid_distances(**given)  # type: ignore[arg-type]
