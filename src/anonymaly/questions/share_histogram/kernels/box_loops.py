# SPDX-License-Identifier: Apache-2.0
"""The loops over boxes, as `boxes.py` calls them: put numbers in order, find the cheapest, read it off.

A box is three rows of three tables of pieces. The boxes that are made of pieces of the same three lengths are
done at a time, and shorter lengths first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.questions.share_histogram.kernels.pieces import BEGIN, END, LEFT, RIGHT
from anonymaly.questions.share_histogram.kernels.windows import Numbers

ZEROS, LEVEL = 3, 4  # what a box is, besides 0, 1 and 2: cut along that column

Tables = tuple[Integers, Integers, Integers]  # of pieces, for each column


@compiled
def _begin(tables: Tables, first: int, second: int, third: int) -> int:
    """Return where the numbers of a box begin, if boxes of its lengths are laid out one after the other."""
    one, two, three = tables
    wide = one[first, END] - one[first, BEGIN]
    high = two[second, END] - two[second, BEGIN]
    across, deep = two[len(two) - 1, END], three[len(three) - 1, END]
    row = two[second, BEGIN] * deep + high * three[third, BEGIN]
    return one[first, BEGIN] * across * deep + wide * row  # type: ignore[no-any-return]


@inlined
def _size(tables: Tables, first: int, second: int, third: int) -> int:
    one, two, three = tables
    size = (one[first, END] - one[first, BEGIN]) * (two[second, END] - two[second, BEGIN])
    return size * (three[third, END] - three[third, BEGIN])  # type: ignore[no-any-return]


@compiled
def merge(numbers: Numbers, merged: Numbers, tables: Tables, rows: Integers, axis: int) -> None:
    """Merge the halves, along one column, of every box of three lengths."""
    one, two, three = tables
    for first in range(rows[0, 0], rows[0, 1]):
        for second in range(rows[1, 0], rows[1, 1]):
            for third in range(rows[2, 0], rows[2, 1]):
                if axis == 0:
                    half = one[first, LEFT]
                    place, size = _begin(tables, half, second, third), _size(tables, half, second, third)
                    half = one[first, RIGHT]
                    other, more = _begin(tables, half, second, third), _size(tables, half, second, third)
                elif axis == 1:
                    half = two[second, LEFT]
                    place, size = _begin(tables, first, half, third), _size(tables, first, half, third)
                    half = two[second, RIGHT]
                    other, more = _begin(tables, first, half, third), _size(tables, first, half, third)
                else:
                    half = three[third, LEFT]
                    place, size = _begin(tables, first, second, half), _size(tables, first, second, half)
                    half = three[third, RIGHT]
                    other, more = _begin(tables, first, second, half), _size(tables, first, second, half)
                to = _begin(tables, first, second, third)
                _merge_two(numbers, merged, place, place + size, other, other + more, to)


@inlined
def _merge_two(
    numbers: Numbers, merged: Numbers, place: int, end: int, other: int, last: int, to: int
) -> None:
    while place < end and other < last:
        # Without a branch, which would be guessed wrong half of the time.
        smaller = numbers[place] <= numbers[other]
        merged[to] = numbers[place] if smaller else numbers[other]
        place += smaller
        other += not smaller
        to += 1
    while place < end:
        merged[to] = numbers[place]
        place += 1
        to += 1
    while other < last:
        merged[to] = numbers[other]
        other += 1
        to += 1


@inlined
def _apart(ordered: Numbers, place: int, size: int) -> Any:
    """Return how far numbers in order are from their median, together."""
    apart = ordered[place] - ordered[place]  # a zero of the numbers' own type
    for step in range(size // 2):
        apart += ordered[place + size - 1 - step] - ordered[place + step]
    return apart


@compiled
def judge(  # noqa: PLR0912  # one for each thing that a box can be
    ordered: Numbers,
    known: bool,
    tables: Tables,
    rows: Integers,
    prices: Floats,
    zeros: Floats,
    medians: Numbers,
    costs: Floats,
    kinds: Numbers,
) -> None:
    """Fill in what is cheapest for every box of three lengths, by its level too if its order is `known`."""
    rate, price, plain_price, zeros_price = prices[0], prices[1], prices[2], prices[3]
    one, two, three = tables
    across, deep = len(two), len(three)
    # Single cells are not cut; the first row of all is the empty piece.
    cut_first, cut_second, cut_third = rows[0, 0] > 1, rows[1, 0] > 1, rows[2, 0] > 1
    for first in range(rows[0, 0], rows[0, 1]):
        for second in range(rows[1, 0], rows[1, 1]):
            row = (first * across + second) * deep
            left_first = (one[first, LEFT] * across + second) * deep
            right_first = (one[first, RIGHT] * across + second) * deep
            left_second = (first * across + two[second, LEFT]) * deep
            right_second = (first * across + two[second, RIGHT]) * deep
            for third in range(rows[2, 0], rows[2, 1]):
                box, best, kind = row + third, np.inf, ZEROS
                if cut_first:
                    zeros[box] = zeros[left_first + third] + zeros[right_first + third]
                    best, kind = costs[left_first + third] + costs[right_first + third], 0
                if cut_second:
                    zeros[box] = zeros[left_second + third] + zeros[right_second + third]
                    cost = costs[left_second + third] + costs[right_second + third]
                    if cost < best:
                        best, kind = cost, 1
                if cut_third:
                    left, right = row + three[third, LEFT], row + three[third, RIGHT]
                    zeros[box] = zeros[left] + zeros[right]
                    cost = costs[left] + costs[right]
                    if cost < best:
                        best, kind = cost, 2
                place = _begin(tables, first, second, third)
                if not (cut_first or cut_second or cut_third):
                    zeros[box] = abs(ordered[place])
                cost = rate * zeros[box] + zeros_price
                if cost < best:
                    best, kind = cost, ZEROS
                if known:
                    size = _size(tables, first, second, third)
                    median = ordered[place + (size - 1) // 2]
                    if median > 0:
                        apart = rate * _apart(ordered, place, size)
                        # As in a row: what beats zeros by its price is told from other levels more cheaply.
                        own = plain_price if rate * zeros[box] >= apart + price else price
                        cost = apart + own
                        if cost < best:
                            best, kind = cost, LEVEL
                            medians[box] = median
                costs[box], kinds[box] = best, kind


@compiled
def fill(
    tables: Tables, kinds: Numbers, medians: Numbers, least: float, stack: Integers, levels: Numbers
) -> None:
    """Give each cell its box's level, from the whole down to the boxes that are not cut."""
    one, two, three = tables
    across, deep = two[len(two) - 1, END], three[len(three) - 1, END]
    stack[0, 0], stack[0, 1], stack[0, 2] = len(one) - 1, len(two) - 1, len(three) - 1
    height = 1
    while height > 0:
        height -= 1
        first, second, third = stack[height, 0], stack[height, 1], stack[height, 2]
        box = (first * len(two) + second) * len(three) + third
        kind = kinds[box]
        if kind < ZEROS:
            piece = stack[height, kind]
            for half in (LEFT, RIGHT):
                own = one[piece, half] if kind == 0 else two[piece, half] if kind == 1 else three[piece, half]
                if own > 0:
                    stack[height, 0], stack[height, 1], stack[height, 2] = first, second, third
                    stack[height, kind] = own
                    height += 1
        elif kind == LEVEL and medians[box] >= least:
            for x in range(one[first, BEGIN], one[first, END]):
                for y in range(two[second, BEGIN], two[second, END]):
                    row = (x * across + y) * deep
                    for cell in range(row + three[third, BEGIN], row + three[third, END]):
                        levels[cell] = medians[box]
