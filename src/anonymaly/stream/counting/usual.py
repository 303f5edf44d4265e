# SPDX-License-Identifier: Apache-2.0
"""Which cells are faults, by a noisy histogram: far from every cell around which many readings lie.

All of it follows from what both servers have released, so that it costs nothing, and both get the same.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import two_sided_geometric_deviation
from anonymaly.stream.counting.declaration import CountingDeclaration

SERVERS = 2
DEVIATIONS = 3.5  # of the noise in a neighbourhood, below which nothing counts as usual
UNLIKELY = 2.0**-40  # that honest servers' noise makes them refuse a histogram


def fault_cells(declaration: CountingDeclaration, counts: Integers, agreed: int) -> Integers | None:
    """Return the cells whose readings are faults, or None if no cell is usual.

    A cell is usual if the noisy total of the cells within the radius, in each direction, reaches the declared
    share of the agreed readings, and more than noise alone would make of it. A fault has no usual cell within
    the radius. Without any usual cell everything would be a fault, so nothing is.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream.counting.declaration import CountedColumn
    >>> from anonymaly.stream.protocol.windows import PooledWindows
    >>> declared = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(0, 8), cells=8)], epsilon=2, period=1, share=0.2,
    ...     radius=1, windows=PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=60, lateness=5,
    ...                                     least_sensors=50))
    >>> fault_cells(declared, np.array([0, 40, 60, -1, 2, 0, 0, 1]), 102).tolist()
    [5, 6, 7]
    """
    grid = counts.reshape(declaration.shape)
    least = max(declaration.share * agreed, DEVIATIONS * noise_around(declaration))
    usual = _around(grid, declaration.radius) >= least
    if not usual.any():
        return None
    near = _around(usual.astype(np.int64), declaration.radius) > 0
    return np.flatnonzero(~near.ravel()).astype(np.int64)


def noise_around(declaration: CountingDeclaration) -> float:
    """Return the standard deviation of the noise in a cell and those around it, of both servers together."""
    cells = math.prod(min(2 * declaration.radius + 1, size) for size in declaration.shape)
    return math.sqrt(SERVERS * cells) * two_sided_geometric_deviation(declaration.rate)


def least_together(declaration: CountingDeclaration) -> int:
    """Return how many readings must lie within the radius of a cell for it to be usual, if the noise is 0.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream.counting.declaration import CountedColumn
    >>> from anonymaly.stream.protocol.windows import PooledWindows
    >>> least_together(CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)], epsilon=0.5, period=96,
    ...     share=0.2, radius=2, windows=PooledWindows(start="2026-01-01T00:00:00+00:00", seconds=900,
    ...                                                lateness=60, least_sensors=100)))
    63
    """
    least = declaration.share * declaration.windows.least_sensors
    return math.ceil(max(least, DEVIATIONS * noise_around(declaration)))


def is_plausible(declaration: CountingDeclaration, counts: Integers, agreed: int) -> bool:
    """Say whether counts are what so many readings and honest noise give, but for one time in 2^40.

    This finds a broken server, not one that lies well: nothing can keep a server from adding what it likes.
    """
    cells = len(counts)
    one = _tail(declaration, SERVERS, UNLIKELY / (2 * cells))
    every = _tail(declaration, SERVERS * cells, UNLIKELY / 2)
    total = int(counts.sum())
    return (
        -one <= int(counts.min()) and int(counts.max()) <= agreed + one and -every <= total <= agreed + every
    )


def digest_of(cells: Integers | None) -> bytes:
    """Return a digest of fault cells, by which the owner sees whether both servers used the same."""
    return hashlib.sha256(b"none" if cells is None else np.asarray(cells, "<i8").tobytes()).digest()


def _tail(declaration: CountingDeclaration, draws: int, chance: float) -> float:
    """Return what the size of a sum of noise exceeds at most with a probability (Chernoff's bound)."""
    rate = float(declaration.rate)
    bounds = []
    for part in (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9):
        slope = part * rate
        # The moment generating function of one two-sided geometric number.
        moment = 2 * math.log(-math.expm1(-rate))
        moment -= math.log(-math.expm1(slope - rate)) + math.log(-math.expm1(-slope - rate))
        bounds.append((draws * moment + math.log(2 / chance)) / slope)
    return min(bounds)


def _around(grid: Integers, radius: int) -> Integers:
    """Return, for every cell, the sum of the cells within the radius in each direction."""
    total = grid
    for axis in range(grid.ndim):
        size = grid.shape[axis]
        running = np.concatenate([np.zeros_like(total.take([0], axis)), total.cumsum(axis)], axis)
        places = np.arange(size)
        ends = running.take(np.minimum(places + radius + 1, size), axis)
        total = ends - running.take(np.maximum(places - radius, 0), axis)
    return total
