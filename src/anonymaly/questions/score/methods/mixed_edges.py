# SPDX-License-Identifier: Apache-2.0
"""Bins that follow the records: edges half by noisy mass and half by width. All of it is post-processing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.questions.score.methods.mixed_layout import FINE

Edges = tuple[int, ...]
FIRST_BINS = 8  # of the first stage, equally wide
BY_MASS = 0.5
BELIEVED = 0.7  # of a deviation is taken off each count: what is left is more than noise


def equal_edges(bins: int) -> Edges:
    """Return the edges of bins of equal width, on the lattice.

    Examples
    --------
    >>> equal_edges(4)
    (0, 1024, 2048, 3072, 4096)
    """
    return tuple(np.unique(np.round(np.linspace(0, FINE, bins + 1)).astype(int)).tolist())


def next_edges(noisy: Integers, edges: Edges, deviation: float, bins: int) -> Edges:
    """Return the edges of so many bins (fewer, where the lattice has no room), dense where records are.

    Examples
    --------
    >>> next_edges(np.array([1000, 0]), (0, 2048, 4096), 0.0, 4)
    (0, 683, 1365, 2048, 4096)
    """
    wide = np.array(edges) / FINE
    mass = np.maximum(noisy - BELIEVED * deviation, 0.0)
    # Nothing but noise: by width alone.
    by_mass = wide if mass.sum() <= deviation else np.append(0.0, np.cumsum(mass)) / max(mass.sum(), 1.0)
    both = BY_MASS * by_mass + (1 - BY_MASS) * wide
    found = np.interp(np.linspace(0, 1, bins + 1), both, wide)
    inner = np.unique(np.round(found * FINE).astype(int)).tolist()
    return (0, *(edge for edge in inner if 0 < edge < FINE), FINE)


def together(fine: Integers, edges: Sequence[int]) -> Integers:
    """Put the cells of the lattice together into bins.

    Examples
    --------
    >>> together(np.ones(FINE, np.int64), (0, 1024, 4096)).tolist()
    [1024, 3072]
    """
    counts: Integers = np.add.reduceat(fine, np.array(edges[:-1]))
    return counts
