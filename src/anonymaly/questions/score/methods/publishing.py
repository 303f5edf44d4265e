# SPDX-License-Identifier: Apache-2.0
"""The release of a lattice: noise on every cell, and those that reach a threshold (Lemmas 2 and 3).

A lattice of 10^30 cells cannot be noised cell by cell: `noise.sparse` draws which of those without a record
reach the threshold, by the law of noising all of them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import sparse
from anonymaly.noise.sparse import draw_empty_cells
from anonymaly.questions.score.methods.lattice import Lattice, Ranks

if TYPE_CHECKING:
    from anonymaly.noise import Noise

DENSEST = 2**20  # cells up to which each gets its noise one by one

Published = tuple[Ranks, Integers]


def release_cells(
    cells: Ranks, counts: Integers, lattice: Lattice, threshold: int | None, rate: Fraction, noise: Noise
) -> Published:
    """Return the cells whose noisy count reaches the threshold, in order; all cells if there is none."""
    if lattice.size <= DENSEST:
        return release_dense(cells, counts, lattice, threshold, rate, noise)
    if threshold is None:
        raise AssertionError("a large lattice is published above a threshold only")
    return release_sparse(cells, counts, lattice, threshold, rate, noise)


def release_dense(
    cells: Ranks, counts: Integers, lattice: Lattice, threshold: int | None, rate: Fraction, noise: Noise
) -> Published:
    """Noise every cell, then keep those that reach the threshold."""
    whole = np.zeros(lattice.size, np.int64)
    whole[lattice.indices(cells)] = counts
    noisy = noise.add_two_sided_geometric(whole, rate)
    kept = np.arange(lattice.size) if threshold is None else np.flatnonzero(noisy >= threshold)
    return lattice.coordinates(kept), noisy[kept]


def release_sparse(
    cells: Ranks, counts: Integers, lattice: Lattice, threshold: int, rate: Fraction, noise: Noise
) -> Published:
    """Add noise to the cells with records, draw which others reach the threshold, and sort all of them."""
    noisy = noise.add_two_sided_geometric(counts, rate)
    kept = noisy >= threshold
    others = lattice.size - len(cells)
    drawn, values = draw_empty_cells(
        others, set(lattice.indices(cells)), lattice.size, threshold, rate, noise
    )
    empty = lattice.coordinates(drawn)
    found, numbers = np.concatenate([cells[kept], empty]), np.concatenate([noisy[kept], values])
    # In the order of the cells, so that those with records look like the others.
    order = lattice.sorted(found)
    return found[order], numbers[order]


def threshold_for(lattice: Lattice, rate: Fraction, expected: Fraction) -> int:
    """Return the smallest threshold that at most ``expected`` empty cells reach on average."""
    return sparse.threshold_for(lattice.size, rate, expected)
