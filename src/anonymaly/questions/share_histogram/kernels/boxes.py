# SPDX-License-Identifier: Apache-2.0
"""Noise taken out of counts of several columns: boxes that noise alone tells apart get one level.

It is what `smoothing.py` does to a row, with the same cost of a level and the same prices. A box is a piece
of each column (`pieces.py`). It has one level, or it is cut in two along one column; dynamic programming,
from single cells upwards, finds the cheapest way for every box, of which there are about 2 or 8 for each
cell. So no column counts more than another, as it does where all cells are put into one row.

That is done three times, with cuts at other places, and a cell gets the median of its three levels. What one
partition spreads over cells that hold nobody, because of where its cuts are, the others seldom do.

The numbers of a box in order are those of its halves, merged, which takes most of the time. Boxes of more
than `LARGEST` cells are zeros, or cut: at 16 errors were smaller than at 8, 32 and 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import NamedTuple

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.questions.share_histogram.kernels.box_loops import fill, judge, merge
from anonymaly.questions.share_histogram.kernels.pieces import PLACES, Pieces, cut
from anonymaly.questions.share_histogram.kernels.windows import Numbers
from anonymaly.questions.share_histogram.methods.prices import LEAST_LEVEL, ZEROS_PRICE, run_price

LARGEST = 16  # cells of a box at a level other than 0
DEEPEST = 200  # boxes left to look at while a partition is read: two for each cut from the whole to a cell


@dataclass(frozen=True)
class Partition:
    """A cheapest partition into boxes: the level of each cell, and what the boxes cost together."""

    levels: Numbers
    cost: float


class Work(NamedTuple):
    """What is known of each box."""

    costs: Floats
    kinds: Numbers
    zeros: Floats  # how far its numbers are from 0, together
    medians: Numbers  # where it has a level


def smooth_boxes(
    released: Numbers,
    shape: tuple[int, ...],
    rate: Fraction,
    *,
    plain_price: float | None = None,
) -> Numbers:
    """Return a level for each cell, none negative; integers give integers.

    Parameters
    ----------
    released : array
        Counts with two-sided geometric noise, in one row.
    shape : tuple of int
        Cells along each column; the third and all after it are taken for one.
    rate : Fraction
        The noise's rate.
    plain_price : float, optional
        What a box costs whose level no noise among zeros reaches, as in ``smooth``.

    Examples
    --------
    >>> released = np.array([1, -2, 40, 41, 0, 1, 39, 40, 0, 1, 0, -1])
    >>> smooth_boxes(released, (3, 4), Fraction(1)).reshape(3, 4).tolist()
    [[0, 0, 40, 40], [0, 0, 40, 40], [0, 0, 0, 0]]
    """
    one, two, three = (each.levels for each in cheapest_boxes(released, shape, rate, plain_price=plain_price))
    # The median of three, in place: large histograms should not need more memory than they do.
    low = np.minimum(one, two)
    np.minimum(np.maximum(one, two, out=one), three, out=three)
    return np.maximum(low, three, out=low)


def cheapest_boxes(
    released: Numbers,
    shape: tuple[int, ...],
    rate: Fraction,
    *,
    plain_price: float | None = None,
) -> list[Partition]:
    """Return the cheapest partition into boxes for each of the three places of cuts."""
    speed = float(rate)
    price = run_price(released.size, speed)
    plain_price = price if plain_price is None else min(price, plain_price)
    prices = np.array([speed, price, plain_price, ZEROS_PRICE * log(released.size)])
    places = [tuple(cut(size, place) for size in three_sizes(shape)) for place in range(PLACES)]
    boxes = max(prod(len(column.table) for column in columns) for columns in places)
    # Used again for each place: to get as much new memory each time takes longer than to fill it.
    work = Work(np.empty(boxes), np.empty(boxes, np.int8), np.empty(boxes), np.empty(boxes, released.dtype))
    return [_cheapest(released, columns, prices, work) for columns in places]


def _cheapest(released: Numbers, columns: tuple[Pieces, ...], prices: Floats, work: Work) -> Partition:
    one, two, three = (column.table for column in columns)
    tables, boxes = (one, two, three), len(one) * len(two) * len(three)
    # A box with an empty piece costs nothing.
    work.costs[:boxes] = 0.0
    work.zeros[:boxes] = 0.0
    # In order within boxes of one cell along the last two columns, along the last one, and of any lengths.
    ordered = [released, released, released]
    for lengths in product(*(range(len(column.starts) - 1) for column in columns)):
        rows = np.array([column.starts[k : k + 2] for column, k in zip(columns, lengths, strict=True)])
        known = 1 << sum(lengths) <= LARGEST
        if known and any(lengths):
            axis = max(axis for axis in range(3) if lengths[axis])
            merged = np.empty_like(released)
            merge(ordered[axis], merged, tables, rows, axis)
            ordered[axis:] = [merged] * (3 - axis)
        judge(ordered[2], known, tables, rows, prices, work.zeros, work.medians, work.costs, work.kinds)
    levels, stack = np.zeros_like(released), np.zeros((DEEPEST, 3), np.int64)
    fill(tables, work.kinds, work.medians, LEAST_LEVEL / prices[0], stack, levels)
    return Partition(levels, float(work.costs[boxes - 1]))


def three_sizes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return a shape as three columns: columns of one cell are left out, those after the third joined to it.

    Examples
    --------
    >>> three_sizes((5, 1, 6)), three_sizes((2, 3, 4, 5))
    ((1, 5, 6), (2, 3, 20))
    """
    longer = [size for size in shape if size > 1]
    longer = [1] * (3 - len(longer)) + longer
    return longer[0], longer[1], prod(longer[2:])
