# SPDX-License-Identifier: Apache-2.0
"""Noise taken out of released counts again: runs of cells that noise alone tells apart get one level.

Only released numbers and public rates are used, so it costs nothing (Lemma 0). Let the released counts be
true counts plus two-sided noise of a rate r. Then r·Σ|released - level| is minus the log-likelihood of a
level, up to a constant, and the median is the best level. The row is cut into runs so that this cost plus a
price for each run is smallest, by dynamic programming over runs of 1, 2, 4, ... cells; `methods/prices.py`
has the prices.

Where a total was released for a run of cells, each cell has an equal share of it: Σ|share - level| over the
run is then |total - run·level|, so the same cost is the likelihood of the totals.
"""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.core.compiled import compiled
from anonymaly.questions.share_histogram.kernels.boxes import smooth_boxes
from anonymaly.questions.share_histogram.kernels.windows import Numbers, deviations
from anonymaly.questions.share_histogram.methods.prices import LEAST_LEVEL, ZEROS_PRICE, run_price


def smooth(
    released: Numbers,
    rate: Fraction,
    *,
    shape: tuple[int, ...] | None = None,
    price: float | None = None,
    plain_price: float | None = None,
) -> Numbers:
    """Return a level for each cell, none negative; integers give integers.

    Parameters
    ----------
    released : array
        Counts with two-sided geometric noise, or equal shares of totals that have it.
    rate : Fraction
        The noise's rate.
    shape : tuple of int, optional
        Cells along each column; one column if left out. Of several columns boxes are levelled, not runs.
    price : float, optional
        What a run at another level than 0 costs, in one column; what `prices.py` says if left out.
    plain_price : float, optional
        What a run costs that no noise among zeros looks like; as much as any other run if left out.
        Where all counts are large, a price that keeps noise from passing for counts levels what differs.

    Examples
    --------
    >>> smooth(np.array([1, -2, 0, 1, 41, 38, 40, 40]), Fraction(1)).tolist()
    [0, 0, 0, 0, 40, 40, 40, 40]
    """
    if shape is not None and sum(size > 1 for size in shape) > 1:
        return smooth_boxes(released, shape, rate, plain_price=plain_price)
    cells = len(released)
    speed = float(rate)
    price = run_price(cells, speed) if price is None else price
    plain_price = price if plain_price is None else min(price, plain_price)
    sums, medians = deviations(released)
    sizes, costs = np.zeros(cells + 1, np.int64), np.zeros(cells + 1)
    zeros = np.concatenate([[0.0], np.cumsum(np.abs(released))])
    _cheapest(sums, medians, zeros, speed, price, plain_price, ZEROS_PRICE * log(cells), sizes, costs)
    levels = np.zeros_like(released)
    _levels(medians, sizes, LEAST_LEVEL / speed, levels)
    return levels


def smooth_part(
    released: Numbers,
    part: Booleans,
    rate: Fraction,
    *,
    shape: tuple[int, ...],
    plain_price: float | None = None,
) -> Numbers:
    """Return a level for each cell of a part, and 0 for all others, which are taken to hold nothing.

    Values of a column without a cell of the part are left out, so that no box has them between its cells.

    Examples
    --------
    >>> part = np.array([True, False, True, False])
    >>> smooth_part(np.array([40, 0, 42, 0]), part, Fraction(1), shape=(4,)).tolist()
    [40, 0, 42, 0]
    """
    levels = np.zeros_like(released)
    if sum(size > 1 for size in shape) < 2:
        levels[part] = smooth(released[part], rate, plain_price=plain_price)
        return levels
    kept = lines_of(part, shape)
    inside = np.where(part, released, 0).reshape(shape)[kept]
    found = smooth(inside.reshape(-1), rate, shape=inside.shape, plain_price=plain_price)
    levels.reshape(shape)[kept] = found.reshape(inside.shape)
    return np.where(part, levels, 0)


def lines_of(part: Booleans, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return an index of the values of each column that have a cell of a part."""
    grid = part.reshape(shape)
    axes = range(grid.ndim)
    return np.ix_(*(grid.any(axis=tuple(other for other in axes if other != axis)) for axis in axes))


@compiled
def _cheapest(
    sums: Numbers,
    medians: Numbers,
    zeros: Floats,
    rate: float,
    price: float,
    plain_price: float,
    zeros_price: float,
    sizes: Integers,
    costs: Floats,
) -> None:
    """Fill in the cheapest cost of the first cells, and the last run's size: k, or -1 - k for zeros."""
    for end in range(1, len(costs)):
        best = np.inf
        for size in range(sums.shape[0]):
            start = end - (1 << size)
            if start < 0:
                break
            cost = costs[start] + rate * (zeros[end] - zeros[start]) + zeros_price
            if cost < best:
                best, sizes[end] = cost, -1 - size
            if medians[size, end] > 0:
                apart = rate * sums[size, end]
                # A run that beats zeros by its price, or more, is told from other levels more cheaply.
                own = plain_price if rate * (zeros[end] - zeros[start]) >= apart + price else price
                cost = costs[start] + apart + own
                if cost < best:
                    best, sizes[end] = cost, size
        costs[end] = best


@compiled
def _levels(medians: Numbers, sizes: Integers, least: float, levels: Numbers) -> None:
    end = len(sizes) - 1
    while end > 0:
        size = sizes[end]
        start = end - (1 << (size if size >= 0 else -1 - size))
        if size >= 0 and medians[size, end] >= least:
            levels[start:end] = medians[size, end]
        end = start
