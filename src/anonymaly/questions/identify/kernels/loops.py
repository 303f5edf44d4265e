# SPDX-License-Identifier: Apache-2.0
"""The compiled part of counting: arranging rows in boxes, and counting them around points."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined, whole


@inlined
def grow(metric: int, total: float, gap: float) -> float:
    """Add one column's gap to a sum: the only place that says what a distance is."""
    if metric == 0:
        return total + gap * gap
    if metric == 1:
        return total + gap
    return max(total, gap)


@compiled
def copy_whole_rows(rows: Floats, copy: Floats) -> int:
    """Copy the rows without a NaN and return their number."""
    kept = 0
    for row in range(rows.shape[0]):
        whole = True
        for column in range(rows.shape[1]):
            copy[kept, column] = rows[row, column]
            whole &= not np.isnan(rows[row, column])
        kept += 1 if whole else 0
        if kept == copy.shape[0]:
            break
    return kept


@compiled
def split(rows: Floats, level: int, index: int) -> None:
    """Divide one box's rows into a lower and an upper half along its widest column."""
    number = rows.shape[0]
    start, end = number * index >> level, number * (index + 1) >> level
    widest, width = 0, -1.0
    for column in range(rows.shape[1]):
        low = high = rows[start, column]
        for row in range(start + 1, end):
            low, high = min(low, rows[row, column]), max(high, rows[row, column])
        if high - low > width:
            widest, width = column, high - low
    _select(rows, widest, start, end - 1, number * (2 * index + 1) >> (level + 1))


@inlined
def _select(rows: Floats, column: int, left: int, right: int, place: int) -> None:
    """Move rows until none before the place is above, and none after it below (Hoare)."""
    while left < right:
        a, b, c = rows[left, column], rows[(left + right) >> 1, column], rows[right, column]
        pivot = max(min(a, b), min(max(a, b), c))
        low, high = left, right
        while low <= high:
            while rows[low, column] < pivot:
                low += 1
            while rows[high, column] > pivot:
                high -= 1
            if low <= high:
                for other in range(rows.shape[1]):
                    kept = rows[low, other]
                    rows[low, other] = rows[high, other]
                    rows[high, other] = kept
                low += 1
                high -= 1
        if place <= high:
            right = high
        elif place >= low:
            left = low
        else:
            return


@compiled
def arrange(rows: Floats, boxes: Floats, depth: int, level: int, index: int, scratch: Floats) -> None:
    """Divide one box down to the last level, turn the rows of the last boxes into columns, measure all."""
    number, columns = rows.shape
    for below in range(level, depth):
        first = index << (below - level)
        for box in range(first, first + (1 << (below - level))):
            split(rows, below, box)
    flat = rows.reshape(-1)
    first = index << (depth - level)
    for box in range(first, first + (1 << (depth - level))):
        start, end = number * box >> depth, number * (box + 1) >> depth
        size = end - start
        for column in range(columns):
            low, high = np.inf, -np.inf
            for row in range(size):
                value = rows[start + row, column]
                low, high = min(low, value), max(high, value)
                scratch[column * size + row] = value
            boxes[(1 << depth) + box, column] = low
            boxes[(1 << depth) + box, columns + column] = high
        for place in range(size * columns):
            flat[start * columns + place] = scratch[place]
    merge_boxes(boxes, depth, level, index)


@compiled
def merge_boxes(boxes: Floats, below: int, level: int, index: int) -> None:
    """Measure the boxes from a level up to the given one from those below."""
    columns = boxes.shape[1] // 2
    for above in range(below - 1, level - 1, -1):
        first = (1 << above) + (index << (above - level))
        for box in range(first, first + (1 << (above - level))):
            for column in range(columns):
                boxes[box, column] = min(boxes[2 * box, column], boxes[2 * box + 1, column])
                upper = columns + column
                boxes[box, upper] = max(boxes[2 * box, upper], boxes[2 * box + 1, upper])


@compiled
def _nearest(boxes: Floats, box: int, queries: Floats, query: int, metric: int) -> float:
    """Return a point's sum to the nearest corner of a box: no row in it has a smaller one."""
    columns = queries.shape[1]
    total = 0.0
    for column in range(columns):
        value = queries[query, column]
        gap = max(boxes[box, column] - value, value - boxes[box, columns + column])
        total = grow(metric, total, max(gap, 0.0))
    return total


@inlined
def _farthest(boxes: Floats, box: int, queries: Floats, query: int, metric: int) -> float:
    """Return a point's sum to the farthest corner of a box: no row in it has a larger one."""
    columns = queries.shape[1]
    total = 0.0
    for column in range(columns):
        value = queries[query, column]
        total = grow(metric, total, max(value - boxes[box, column], boxes[box, columns + column] - value))
    return total


@inlined
def _count_leaf(
    rows: Floats, start: int, end: int, queries: Floats, query: int, metric: int, limit: float, sums: Floats
) -> int:
    """Compare every row of a last box; column after column, so that rows go side by side."""
    columns, size = queries.shape[1], end - start
    # Slices, because an index that might be negative keeps a loop from being vectorised: half the time.
    flat, sums = rows.reshape(-1), sums[:size]
    for row in range(size):
        sums[row] = 0.0
    for column in range(columns):
        base = start * columns + column * size
        value, values = queries[query, column], flat[base : base + size]
        for row in range(size):
            sums[row] = grow(metric, sums[row], abs(values[row] - value))
    found = 0
    for row in range(size):
        found += 1 if sums[row] <= limit else 0
    return found


@inlined
def _in_crowd(centres: Floats, room: Floats, queries: Floats, query: int, metric: int) -> bool:
    """Say whether a point is so near a crowd's centre that its ball holds the whole crowd."""
    for crowd in range(centres.shape[0]):
        total = 0.0
        for column in range(centres.shape[1]):
            total = grow(metric, total, abs(queries[query, column] - centres[crowd, column]))
        limit = room[crowd] * room[crowd] if metric == 0 else room[crowd]
        if total <= limit:
            return True
    return False


@compiled
def _count_one(
    rows: Floats, boxes: Floats, depth: int, queries: Floats, query: int, metric: int, limit: float,
    stop: int, stack: Integers, sums: Floats,
) -> int:  # fmt: skip
    """Count the rows around a point, the nearest boxes first, until the stop."""
    number = rows.shape[0]
    total = 0
    waiting = 1 if _nearest(boxes, whole(1), queries, query, metric) <= limit else 0
    stack[0] = 1
    while waiting > 0 and total < stop:
        waiting -= 1
        box = stack[waiting]
        level = 0
        while box >> (level + 1):
            level += 1
        index = box - (1 << level)
        start, end = number * index >> level, number * (index + 1) >> level
        if _farthest(boxes, box, queries, query, metric) <= limit:
            total += end - start
        elif level == depth:
            total += _count_leaf(rows, start, end, queries, query, metric, limit, sums)
        else:
            left = _nearest(boxes, 2 * box, queries, query, metric)
            right = _nearest(boxes, 2 * box + 1, queries, query, metric)
            nearer = 0 if left < right else 1
            if max(left, right) <= limit:
                stack[waiting] = 2 * box + 1 - nearer
                waiting += 1
            if min(left, right) <= limit:
                stack[waiting] = 2 * box + nearer
                waiting += 1
    return total


@inlined
def _count_copies(
    rows: Floats, boxes: Floats, depth: int, queries: Floats, query: int, stack: Integers, sums: Floats
) -> int:
    """Count the rows that equal a point in every column: those at Chebyshev distance 0."""
    return _count_one(rows, boxes, depth, queries, query, whole(2), 0.0, rows.shape[0] + 1, stack, sums)


@compiled
def count_range(
    rows: Floats, boxes: Floats, depth: int, queries: Floats, chosen: Integers, metric: int, limit: float,
    stop: int, centres: Floats, room: Floats, within: Integers, own: Integers,
    stack: Integers, sums: Floats,
) -> None:  # fmt: skip
    """Add the rows around some of the points to what was counted before, each count up to the stop."""
    for query in chosen:
        missing = stop - within[query]
        if _in_crowd(centres, room, queries, query, metric):
            within[query] = stop
            continue
        found = _count_one(rows, boxes, depth, queries, query, metric, limit, missing, stack, sums)
        within[query] += min(found, missing)
        if found < missing:
            own[query] += _count_copies(rows, boxes, depth, queries, query, stack, sums)
