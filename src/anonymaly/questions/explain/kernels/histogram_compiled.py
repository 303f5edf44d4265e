# SPDX-License-Identifier: Apache-2.0
"""The compiled part of the histogram detector in every context. V lies at 0."""

from __future__ import annotations

import math
from typing import NamedTuple

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.core.compiled import compiled, inlined, whole
from anonymaly.questions.explain.kernels.order import OrderArrays


class Extent(NamedTuple):
    """How many values there are, the smallest and the largest: of each cell, prefix and slot, or choice."""

    counts: Integers
    smallest: Integers
    largest: Integers


class CellValues(NamedTuple):
    """The values of each cell in order, how often each is there, and how many lie below each edge."""

    bits: Integers  # the free bits that a context needs to hold the cell
    values: Integers
    offsets: Integers
    totals: Integers  # how many records there are before each value, of all cells
    edges: Integers
    places: Integers  # of each cell's first value that is not below each edge
    below: Integers


class ClassesBelow(NamedTuple):
    """How many values of each class lie below each edge: before the first field, and after each one."""

    first: Integers
    later: Integers


@compiled
def _bin_of_zero(smallest: int, largest: int, count: int) -> tuple[int, int]:
    """Return V's bin as its first grid point and the first one after it: `detectors.histogram.bin_of`."""
    width = largest - smallest
    bins = math.ceil(math.sqrt(count))
    while bins * bins < count:
        bins += 1
    while (bins - 1) * (bins - 1) >= count:
        bins -= 1
    if width == 0:
        return smallest, largest + 1
    number = min(-smallest * bins // width, bins - 1)
    first = smallest + (number * width + bins - 1) // bins
    if number == bins - 1:
        return first, largest + 1
    return first, smallest + ((number + 1) * width + bins - 1) // bins


@compiled
def _last_edge(edges: Integers, point: int) -> int:
    """Return the last edge that is not above a point; the first edge never is."""
    low = 0
    length = len(edges)
    while length > 1:
        half = length >> 1
        low = low + half if edges[low + half] <= point else low
        length -= half
    return low


@compiled
def _below_point(cells: CellValues, cell: int, point: int, edge: int) -> int:
    """Count a cell's values below a point, given the last edge that is not above it."""
    low: int = cells.places[cell, edge]
    high: int = cells.places[cell, min(edge + 1, len(cells.edges) - 1)]
    first = cells.offsets[cell]
    while low < high:
        middle = (low + high) >> 1
        if cells.values[first + middle] < point:
            low = middle + 1
        else:
            high = middle
    return cells.totals[first + low] - cells.totals[first]  # type: ignore[no-any-return]


@compiled
def _held(
    cells: CellValues, context: int, first: int, after: int, first_edge: int, after_edge: int, needed: int
) -> int:
    """Count V and the context's values from one point to before another, up to what is needed."""
    held = 1
    for cell in range(len(cells.bits)):
        if cells.bits[cell] & ~context == 0:
            held += _below_point(cells, cell, after, after_edge)
            held -= _below_point(cells, cell, first, first_edge)
            if held >= needed:
                break
    return held


@compiled
def judge_contexts(
    contexts: Integers, extent: Extent, cells: CellValues, fraction: tuple[int, int], verdicts: Booleans
) -> None:
    """Judge single contexts."""
    for place in range(len(contexts)):
        context = contexts[place]
        count, low, high = whole(1), whole(0), whole(0)
        for cell in range(len(cells.bits)):
            if cells.bits[cell] & ~context == 0:
                count += extent.counts[cell]
                low = min(low, extent.smallest[cell])
                high = max(high, extent.largest[cell])
        needed = -(-fraction[0] * count // fraction[1])
        first, after = _bin_of_zero(low, high, count)
        first_edge = _last_edge(cells.edges, first)
        after_edge = _last_edge(cells.edges, after)
        verdicts[place] = _held(cells, context, first, after, first_edge, after_edge, needed) < needed


@inlined
def _merge_classes(
    choice: int, slots: Integers, merged: Integers, count: int, after: int, source: Integers, target: Integers
) -> None:
    """Add up the counts of the classes that a field's choice puts together."""
    for number in range(after):
        for edge in range(target.shape[1]):
            target[number, edge] = 0
    admitted = choice << 1 | 1
    for number in range(count):
        if (admitted >> slots[number]) & 1:
            row = source[number]
            total = target[merged[number]]
            for edge in range(len(row)):
                total[edge] += row[edge]


@inlined
def _held_between_edges(
    table: Integers, choice: int, bits: int, first_edge: int, after_edge: int
) -> tuple[int, int]:
    """Count V and the values between the edges just inside a bin, and between those around it."""
    last = table.shape[1] - 1
    least, most = 1, 1
    for slot in range(bits + 1):
        if ((choice << 1 | 1) >> slot) & 1:
            least += table[slot, after_edge] - table[slot, min(first_edge + 1, last)]
            most += table[slot, min(after_edge + 1, last)] - table[slot, first_edge]
    return least, most


@compiled
def judge_prefixes(
    start: int, end: int, order: OrderArrays, shift: int, extent: Extent, cells: CellValues,
    classes: ClassesBelow, room: Extent, fraction: tuple[int, int], verdicts: Booleans,
) -> None:  # fmt: skip
    """Judge all contexts of a range of prefixes; ``extent`` is that of prefixes, ``room`` of choices."""
    bits = order.bits
    inner = len(bits) - 1
    for prefix in range(start, end):
        changed = -1 if prefix == start else prefix ^ (prefix - 1)
        lower_bits = 0
        for level in range(inner):
            lower_bits += bits[level]
        for level in range(inner):
            lower_bits -= bits[level]
            if changed >> lower_bits != 0:
                choice = (prefix >> lower_bits) & ((1 << bits[level]) - 1)
                _merge_classes(
                    choice, order.slots[level], order.merged[level],
                    order.classes[level], order.classes[level + 1],
                    classes.first if level == 0 else classes.later[level - 1], classes.later[level],
                )  # fmt: skip
        room.counts[0] = 1 + extent.counts[prefix, 0]
        room.smallest[0] = extent.smallest[prefix, 0]
        room.largest[0] = extent.largest[prefix, 0]
        for bit in range(bits[inner]):
            half = 1 << bit
            for choice in range(half):
                room.counts[half + choice] = room.counts[choice] + extent.counts[prefix, bit + 1]
                room.smallest[half + choice] = min(room.smallest[choice], extent.smallest[prefix, bit + 1])
                room.largest[half + choice] = max(room.largest[choice], extent.largest[prefix, bit + 1])
        table = classes.first if inner == 0 else classes.later[inner - 1]
        for choice in range(1 << bits[inner]):
            context = order.bases[prefix] | choice << shift
            count = room.counts[choice]
            needed = -(-fraction[0] * count // fraction[1])
            if needed <= 1:  # V itself is in its bin
                verdicts[context] = False
                continue
            first, after = _bin_of_zero(room.smallest[choice], room.largest[choice], count)
            first_edge = _last_edge(cells.edges, first)
            after_edge = _last_edge(cells.edges, after)
            least, most = _held_between_edges(table, choice, bits[inner], first_edge, after_edge)
            verdicts[context] = most < needed
            if least < needed <= most:
                held = _held(cells, context, first, after, first_edge, after_edge, needed)
                verdicts[context] = held < needed
