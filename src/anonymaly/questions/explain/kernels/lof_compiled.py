# SPDX-License-Identifier: Apache-2.0
"""The compiled part of the local outlier factor in every context.

A context's row is V (distance 0) with at most 2k values on either side, in order. Of these the 2k nearest of
each base cell are enough, and every class of cells keeps only its own 2k nearest on the way to a context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

from anonymaly.core.arrays import Bytes, Integers, Words64
from anonymaly.core.compiled import compiled, inlined, whole
from anonymaly.questions.explain.kernels.order import OrderArrays

UNDECIDED = 2
ROUNDING = 2.0**-50  # k+6 roundings of at most 2^-53 each, and room
FAR = 1 << 61  # beyond every value: twice it still fits
WORD = 64


class ValuesAround(NamedTuple):
    """V with the values around it in order, and of each value its k-distance and where its window begins."""

    values: Integers
    k_distances: Integers
    windows: Words64

    @classmethod
    def empty(cls, k: int) -> ValuesAround:
        """Return room for 2k values on either side, and k+1 places to spare at either end."""
        length = 6 * k + 3
        return cls(np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.uint64))


class SideLists(NamedTuple):
    """For each side of V and each field: the values left before it, nearest first, with their classes."""

    values: Integers
    labels: Integers
    lengths: Integers

    @classmethod
    def of(cls, sides: Sequence[tuple[Integers, Integers]], fields: int) -> SideLists:
        """Return lists of which the first ones are filled: distances and classes for each side."""
        longest = max(1, *(len(distances) for distances, _ in sides))
        lists = cls(
            np.empty((2, fields, longest), dtype=np.int64),
            np.empty((2, fields, longest), dtype=np.int64),
            np.empty((2, fields), dtype=np.int64),
        )
        for side, (distances, classes) in enumerate(sides):
            lists.values[side, 0, : len(distances)] = distances
            lists.labels[side, 0, : len(classes)] = classes
            lists.lengths[side, 0] = len(distances)
        return lists


class Side(NamedTuple):
    """One side of V: distances, nearest first, and the free bits that a context needs to hold each."""

    values: Integers
    bits: Integers


def bits_scratch(k: int, bits: int) -> Words64:
    """Return room for the admitted places of a list, for each side and choice of the last field."""
    return np.empty((2, 1 << bits, -(-2 * k * (bits + 1) // WORD)), dtype=np.uint64)


def _count_trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return the place of a word's lowest set bit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


_trailing_zeros = cast("Callable[[np.uint64], int]", intrinsic(_count_trailing_zeros))


@inlined
def _narrow(
    order: OrderArrays, lists: SideLists, filled: Integers, side: int, level: int, choice: int, most: int
) -> None:
    """Keep what a field's choice admits of a list, of each class after it the nearest ``most``."""
    slots, merged, classes_after = order.slots[level], order.merged[level], order.classes[level + 1]
    values, labels = lists.values[side, level], lists.labels[side, level]
    kept_values, kept_labels = lists.values[side, level + 1], lists.labels[side, level + 1]
    for number in range(classes_after):
        filled[number] = 0
    admitted = choice << 1 | 1  # slot 0 is not for this field to decide
    kept = 0
    unfilled = classes_after
    for position in range(lists.lengths[side, level]):
        label = labels[position]
        if (admitted >> slots[label]) & 1:
            after = merged[label]
            if filled[after] < most:
                filled[after] += 1
                kept_values[kept] = values[position]
                kept_labels[kept] = after
                kept += 1
                if filled[after] == most:
                    unfilled -= 1
                    if unfilled == 0:
                        break
    lists.lengths[side, level + 1] = kept


@inlined
def _mark(bits: int, slots: Integers, length: int, admitted: Words64) -> None:
    """Mark for each choice the places of a list that it admits."""
    for word in range(admitted.shape[1]):
        admitted[0, word] = 0
        for bit in range(bits):
            admitted[1 << bit, word] = 0
    for position in range(length):
        slot = slots[position]
        admitted[(1 << slot) >> 1, position // WORD] |= np.uint64(1) << np.uint64(position % WORD)
    for bit in range(bits):
        half = 1 << bit
        # Downwards, because choice 0 turns the bit's own marks, which the others need, into its choice's.
        for choice in range(half - 1, -1, -1):
            for word in range(admitted.shape[1]):
                admitted[half + choice, word] = admitted[half, word] | admitted[choice, word]


@inlined
def _window(row: Integers, index: int, start: int, k: int) -> int:
    """Move a window of k+1 values right until it holds the value's k nearest; ties stay left."""
    while row[start] + row[start + k + 1] < 2 * row[index]:
        start += 1
    return start


@inlined
def _step(row: Integers, windows: Words64, index: np.uint64, start: np.uint64, reach: np.uint64) -> np.uint64:
    """Return 1 if a value's window lies further right, else 0; note the window so far."""
    windows[index] = start
    return np.uint64(row[start] + row[start + reach] < 2 * row[index])


@inlined
def _find_windows(row: ValuesAround, begin: int, at: int, end: int, nearest: int, k: int) -> None:
    """Find the windows of all values from begin to end, given V's."""
    # Each step moves a window or goes on to the next value, by arithmetic: no branch is guessed wrongly.
    # Two such chains, from begin to V and from V on, keep the processor busier than one. The numbers are
    # unsigned because numba tests every signed index for being below 0, which took a fifth of the time.
    reach, one = np.uint64(k + 1), np.uint64(1)
    lower, lower_start, lower_end = np.uint64(begin), np.uint64(begin - k), np.uint64(at)
    upper, upper_start, upper_end = np.uint64(at), np.uint64(nearest), np.uint64(end + 1)
    while lower < lower_end and upper < upper_end:
        moves = _step(row.values, row.windows, lower, lower_start, reach)
        lower_start += moves
        lower += one - moves
        moves = _step(row.values, row.windows, upper, upper_start, reach)
        upper_start += moves
        upper += one - moves
    while lower < lower_end:
        moves = _step(row.values, row.windows, lower, lower_start, reach)
        lower_start += moves
        lower += one - moves
    while upper < upper_end:
        moves = _step(row.values, row.windows, upper, upper_start, reach)
        upper_start += moves
        upper += one - moves


@inlined
def _find_k_distances(row: ValuesAround, begin: int, end: int, k: int) -> None:
    """Find the distance of each value from begin to end to its k-th neighbour."""
    values, k_distances, windows = row
    reach = np.uint64(k)
    for index in range(np.uint64(begin), np.uint64(end + 1)):
        start = windows[index]
        k_distances[index] = max(values[index] - values[start], values[start + reach] - values[index])


@inlined
def _reach_sum(window: Integers, k_distances: Integers, here: int) -> int:
    """Sum the reachability distances of all values in a window."""
    # Over slices from 0, in whole numbers whose order of addition is free, this becomes vector code.
    total = 0
    for other in range(len(window)):
        total += max(k_distances[other], abs(window[other] - here))
    return total


@compiled
def _judge(row: ValuesAround, first: int, last: int, at: int, k: int, threshold: float) -> int:
    """Return the verdict on the value at a place of an ordered row, or UNDECIDED."""
    values, k_distances, windows = row
    k = min(k, last - first)
    if k == 0:
        return 0
    for gap in range(1, k + 2):
        values[first - gap] = -FAR
        values[last + gap] = FAR
    nearest = _window(values, at, at - k, k)
    # Only values that some neighbour of V reaches matter; windows move right with their values.
    begin = _window(values, nearest, nearest - k, k)
    end = _window(values, nearest + k, nearest, k) + k
    _find_windows(row, begin, at, end, nearest, k)
    _find_k_distances(row, begin, end, k)
    own = _reach_sum(values[nearest : nearest + k + 1], k_distances[nearest : nearest + k + 1], values[at])
    own -= k_distances[at]  # V itself is in its window, at distance 0
    if own == 0:
        return 0
    total = 0.0
    for neighbour in range(nearest, nearest + k + 1):
        if neighbour == at:
            continue
        start = int(windows[neighbour])
        reach = _reach_sum(
            values[start : start + k + 1], k_distances[start : start + k + 1], values[neighbour]
        )
        reach -= k_distances[neighbour]
        if reach == 0:
            return 1
        total += 1.0 / reach
    factor = total * own / k
    if abs(factor - threshold) <= factor * ((k + 8) * ROUNDING):
        return UNDECIDED
    return 1 if factor > threshold else 0


@compiled
def _take(marks: Words64, values: Integers, row: Integers, at: int, direction: int, most: int) -> int:
    """Copy the marked values, at most ``most``, into the row on one side of V; return how many."""
    kept = 0
    for number in range(len(marks)):
        word = marks[number]
        while word != 0:
            kept += 1
            row[at + direction * kept] = values[number * WORD + _trailing_zeros(word)]
            if kept == most:
                return kept
            word &= word - np.uint64(1)
    return kept


@compiled
def judge_prefixes(
    start: int, end: int, order: OrderArrays, shift: int, lists: SideLists,
    filled: Integers, admitted: Words64, row: ValuesAround, k: int, threshold: float, verdicts: Bytes,
) -> None:  # fmt: skip
    """Judge all contexts of a range of prefixes; list 0 of either side holds all values."""
    bits = order.bits
    inner = len(bits) - 1
    at = 3 * k + 1
    row.values[at] = 0
    for prefix in range(start, end):
        # Lists of fields whose choice is the previous prefix's are still right.
        changed = -1 if prefix == start else prefix ^ (prefix - 1)
        below = 0
        for level in range(inner):
            below += bits[level]
        for level in range(inner):
            below -= bits[level]
            if changed >> below == 0:
                continue
            choice = (prefix >> below) & ((1 << bits[level]) - 1)
            for side in range(2):
                _narrow(order, lists, filled, side, level, choice, 2 * k)
        for side in range(2):
            _mark(bits[inner], lists.labels[side, inner], lists.lengths[side, inner], admitted[side])
        for choice in range(1 << bits[inner]):
            lower = _take(admitted[0, choice], lists.values[0, inner], row.values, at, whole(-1), 2 * k)
            upper = _take(admitted[1, choice], lists.values[1, inner], row.values, at, whole(1), 2 * k)
            verdicts[order.bases[prefix] | choice << shift] = _judge(
                row, at - lower, at + upper, at, k, threshold
            )


@compiled
def judge_contexts(
    contexts: Integers, lower: Side, upper: Side, row: ValuesAround, k: int, threshold: float, verdicts: Bytes
) -> None:
    """Judge contexts one by one; a value is in a context that has all the free bits of its cell."""
    at = 3 * k + 1
    row.values[at] = 0
    for number in range(len(contexts)):
        missing = ~contexts[number]
        first = at
        position = 0
        while position < len(lower.values) and first > at - 2 * k:
            row.values[first - 1] = lower.values[position]
            first -= int(lower.bits[position] & missing == 0)
            position += 1
        last = at
        position = 0
        while position < len(upper.values) and last < at + 2 * k:
            row.values[last + 1] = upper.values[position]
            last += int(upper.bits[position] & missing == 0)
            position += 1
        verdicts[number] = _judge(row, first, last, at, k, threshold)
