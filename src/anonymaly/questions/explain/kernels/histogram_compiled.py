# SPDX-License-Identifier: Apache-2.0
"""The compiled part of the histogram detector in every context. V lies at 0."""

from __future__ import annotations

import math

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.core.compiled import compiled


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
def _below_point(
    cell: int, point: int, edge: int, below: Integers, values: Integers, offsets: Integers, last: int
) -> int:
    """Count a cell's values below a point, given the last edge that is not above it."""
    low: int = below[cell, edge]
    high: int = below[cell, min(edge + 1, last)]
    while low < high:
        middle = (low + high) >> 1
        if values[offsets[cell] + middle] < point:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _held(
    context: int, first: int, after: int, first_edge: int, after_edge: int, needed: int,
    edges: Integers, below: Integers, values: Integers, offsets: Integers, cell_bits: Integers,
) -> int:  # fmt: skip
    """Count V and the context's values from one point to before another, up to what is needed."""
    held = 1
    last = len(edges) - 1
    for cell in range(len(cell_bits)):
        if cell_bits[cell] & ~context == 0:
            held += _below_point(cell, after, after_edge, below, values, offsets, last)
            held -= _below_point(cell, first, first_edge, below, values, offsets, last)
            if held >= needed:
                break
    return held


@compiled
def judge_contexts(
    contexts: Integers, counts: Integers, smallest: Integers, largest: Integers,
    edges: Integers, below: Integers, values: Integers, offsets: Integers, cell_bits: Integers,
    fraction: tuple[int, int], verdicts: Booleans,
) -> None:  # fmt: skip
    """Judge single contexts."""
    for place in range(len(contexts)):
        context = contexts[place]
        count, low, high = 1, 0, 0
        for cell in range(len(cell_bits)):
            if cell_bits[cell] & ~context == 0:
                count += counts[cell]
                low = min(low, smallest[cell])
                high = max(high, largest[cell])
        needed = -(-fraction[0] * count // fraction[1])
        first, after = _bin_of_zero(low, high, count)
        held = _held(
            context, first, after, _last_edge(edges, first), _last_edge(edges, after), needed,
            edges, below, values, offsets, cell_bits,
        )  # fmt: skip
        verdicts[place] = held < needed


@compiled
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


@compiled
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
    start: int, end: int, bases: Integers, shift: int, bits: Integers, class_counts: Integers,
    slots: Integers, merged: Integers, counts: Integers, smallest: Integers, largest: Integers,
    cell_classes_below: Integers, classes_below: Integers, sums: Integers, edges: Integers, below: Integers,
    values: Integers, offsets: Integers, cell_bits: Integers, fraction: tuple[int, int], verdicts: Booleans,
) -> None:  # fmt: skip
    """Judge all contexts of a range of prefixes."""
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
                    choice, slots[level], merged[level], class_counts[level], class_counts[level + 1],
                    cell_classes_below if level == 0 else classes_below[level - 1], classes_below[level],
                )  # fmt: skip
        sums[0, 0] = 1 + counts[prefix, 0]
        sums[1, 0] = smallest[prefix, 0]
        sums[2, 0] = largest[prefix, 0]
        for bit in range(bits[inner]):
            half = 1 << bit
            for choice in range(half):
                sums[0, half + choice] = sums[0, choice] + counts[prefix, bit + 1]
                sums[1, half + choice] = min(sums[1, choice], smallest[prefix, bit + 1])
                sums[2, half + choice] = max(sums[2, choice], largest[prefix, bit + 1])
        table = cell_classes_below if inner == 0 else classes_below[inner - 1]
        for choice in range(1 << bits[inner]):
            context = bases[prefix] | choice << shift
            count = sums[0, choice]
            needed = -(-fraction[0] * count // fraction[1])
            if needed <= 1:  # V itself is in its bin
                verdicts[context] = False
                continue
            first, after = _bin_of_zero(sums[1, choice], sums[2, choice], count)
            first_edge = _last_edge(edges, first)
            after_edge = _last_edge(edges, after)
            least, most = _held_between_edges(table, choice, bits[inner], first_edge, after_edge)
            verdicts[context] = most < needed
            if least < needed <= most:
                held = _held(
                    context, first, after, first_edge, after_edge, needed,
                    edges, below, values, offsets, cell_bits,
                )  # fmt: skip
                verdicts[context] = held < needed
