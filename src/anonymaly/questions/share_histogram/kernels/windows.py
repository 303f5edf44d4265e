# SPDX-License-Identifier: Apache-2.0
"""How far the numbers of a window are from their median: for every window of 1, 2, 4, ... neighbouring cells.

The windows of one length slide over the row; a Fenwick tree over the distinct numbers holds how many of
each, and their sum, so that a step takes time logarithmic in the number of distinct numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.questions.share_histogram.methods.rates import window_sizes

Numbers = npt.NDArray[Any]


def deviations(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return Σ|number - median| and the median of each window, both sizes × (cells + 1).

    Row k, column i is for the 2^k cells that end before cell i, and 0 where i < 2^k. The median is the number
    in the middle, the smaller of the two for an even length; integers give integers, exactly.

    Examples
    --------
    >>> sums, medians = deviations(np.array([4, 4, 9, 0]))
    >>> sums[:, 4].tolist(), medians[:, 4].tolist()
    ([0, 9, 9], [0, 0, 4])
    """
    distinct, ranks = np.unique(numbers, return_inverse=True)
    shape = (window_sizes(len(numbers)), len(numbers) + 1)
    sums, medians = np.zeros(shape, numbers.dtype), np.zeros(shape, numbers.dtype)
    counts, totals = np.zeros(len(distinct) + 1, np.int64), np.zeros(len(distinct) + 1, numbers.dtype)
    _slide(numbers, ranks.astype(np.int64), distinct, counts, totals, sums, medians)
    return sums, medians


@inlined
def _add(counts: Integers, totals: Numbers, rank: int, sign: int, number: Any) -> None:
    place = rank + 1
    while place < len(counts):
        counts[place] += sign
        totals[place] += number
        place += place & -place


@compiled
def _slide(
    numbers: Numbers,
    ranks: Integers,
    distinct: Numbers,
    counts: Integers,
    totals: Numbers,
    sums: Numbers,
    medians: Numbers,
) -> None:
    top = 1
    while 2 * top <= len(distinct):
        top *= 2
    for cell in range(len(numbers)):
        medians[0, cell + 1] = numbers[cell]
    for size in range(1, sums.shape[0]):
        length = 1 << size
        counts[:] = 0
        totals[:] = 0
        total = numbers[0] - numbers[0]  # a zero of the numbers' own type
        for cell in range(len(numbers)):
            _add(counts, totals, ranks[cell], 1, numbers[cell])
            total += numbers[cell]
            if cell >= length:
                _add(counts, totals, ranks[cell - length], -1, -numbers[cell - length])
                total -= numbers[cell - length]
            if cell >= length - 1:
                # Down the tree to the last rank up to which fewer than half of the window's numbers lie.
                half, place, lower, step = length // 2, 0, total - total, top
                while step > 0:
                    if place + step < len(counts) and counts[place + step] < half:
                        place += step
                        half -= counts[place]
                        lower += totals[place]
                    step >>= 1
                lower += half * distinct[place]
                sums[size, cell + 1] = total - 2 * lower
                medians[size, cell + 1] = distinct[place]
