# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from anonymaly import Interval
from anonymaly.noise import Noise
from anonymaly.stream import CountedColumn, CountingDeclaration
from anonymaly.stream.counting.usual import fault_cells, is_plausible, noise_around
from tests.stream.counting.pool import WINDOWS

PLANE = CountingDeclaration(
    columns=[
        CountedColumn("x", outer=Interval(0, 6), cells=6),
        CountedColumn("y", outer=Interval(0, 5), cells=5),
    ],
    windows=WINDOWS,
    epsilon=1,
    period=1,
    share=0.2,
    radius=1,
)


def test_faults_are_the_cells_far_from_every_usual_one_by_a_slow_rule() -> None:
    draw = np.random.default_rng(3)
    for _ in range(50):
        grid = draw.integers(-5, 60, PLANE.shape) * (draw.random(PLANE.shape) < 0.15)
        agreed = int(np.abs(grid).sum()) + 1
        near = {
            (x, y): [(i, j) for i in range(6) for j in range(5) if max(abs(i - x), abs(j - y)) <= 1]
            for x in range(6)
            for y in range(5)
        }
        least = max(0.2 * agreed, 3.5 * noise_around(PLANE))
        usual = {cell for cell in near if sum(grid[around] for around in near[cell]) >= least}
        slow = [x * 5 + y for (x, y) in near if not usual.intersection(near[x, y])]
        found = fault_cells(PLANE, grid.ravel(), agreed)
        assert (None if found is None else found.tolist()) == (slow if usual else None)


def test_cells_cover_the_plane_row_by_row_and_take_in_what_lies_beyond() -> None:
    rows = np.array([[0.0, 0.0], [5.99, 4.99], [1e9, -1e9], [2.5, 3.5], [np.inf, np.inf]])
    assert PLANE.cells_of(rows).tolist() == [0, 29, 25, 13, 29]


def test_honest_noise_is_plausible_and_a_bent_histogram_is_not() -> None:
    noise = Noise.system()
    for _ in range(200):
        counts = noise.two_sided_geometric(PLANE.rate, PLANE.cells)
        counts += noise.two_sided_geometric(PLANE.rate, PLANE.cells)
        counts[7] += 100
        assert is_plausible(PLANE, counts, 100)
    counts[7] += 1000
    assert not is_plausible(PLANE, counts, 100)
    counts[7] -= 3000
    assert not is_plausible(PLANE, counts, 100)
    assert not is_plausible(PLANE, np.full(PLANE.cells, 90), 100)
