# SPDX-License-Identifier: Apache-2.0
"""The compiled scores of a grid: counts of cells added up in order of distance, until they are enough.

A published model keeps few of many cells. Where walking the lattice would take longer than scanning all
kept cells, those are scanned instead, with the same result.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined, whole
from anonymaly.noise import keyed
from anonymaly.noise.geometric import Table
from anonymaly.questions.score.kernels.shells import (
    INSIDE,
    Rule,
    Tally,
    found,
    is_enough,
    is_new,
    open_shell,
    ran_out,
    reset,
)
from anonymaly.questions.score.kernels.walk import (
    Arena,
    advance,
    key_of,
    sift_down,
    start,
)
from anonymaly.questions.score.methods.lattice import STEP_BITS, STEPS, Ranks

BEYOND = 2**63 - 1  # all keys
PASSES = 4  # over all counted cells, before they are sorted


class Cells(NamedTuple):
    """The counted cells, and where to find one by its hash."""

    coordinates: Ranks  # one row a cell
    columns: Ranks  # the same, one row an axis
    counts: Integers
    slots: Integers  # open addressing: a row of the above, or -1
    keyed: bool  # whether every cell of the lattice has noise of its own, drawn when it is met
    stream: npt.NDArray[np.uint32]
    table: Table
    packed: int  # axes in each 32-bit word of a cell's index


@compiled
def _count(cells: Cells, arena: Arena, node: int) -> int:
    """Return the count of a node's cell: 0 if it is not kept; with its own noise if cells are keyed."""
    records = 0
    mask = np.uint64(len(cells.slots) - 1)
    slot = slot_of(arena.hashed[node], mask)
    while cells.slots[slot] >= 0:
        row = cells.slots[slot]
        same = True
        for place in range(len(arena.axes)):
            axis = arena.axes[place]
            if cells.coordinates[row, axis] != arena.order[axis, arena.ranks[node, place]]:
                same = False
                break
        if same:
            records = cells.counts[row]
            break
        slot = (slot + np.uint64(1)) & mask
    return records + _noise(cells, arena, node) if cells.keyed else records


@inlined
def slot_of(hashed: np.uint64, mask: np.uint64) -> np.uint64:
    """Return the slot where the search for a hash starts."""
    return (hashed ^ (hashed >> np.uint64(29))) & mask


@inlined
def _noise(cells: Cells, arena: Arena, node: int) -> int:
    """Return the noise of a cell, a function of the key and of its coordinates alone."""
    first = second = third = 0
    for place in range(len(arena.axes)):
        axis = arena.axes[place]
        worth = arena.order[axis, arena.ranks[node, place]]
        for _ in range(axis % cells.packed):
            worth *= arena.order.shape[1]
        if axis < cells.packed:
            first += worth
        elif axis < 2 * cells.packed:
            second += worth
        else:
            third += worth
    return keyed.draw_at(cells.stream, first, second, third, cells.table)


@compiled
def walk(
    point: Floats, cells: Cells, rule: Rule, visits: int, arena: Arena, tally: Tally
) -> tuple[bool, float]:
    """Score a point by walking the lattice; also return whether ``visits`` cells were enough."""
    start(point, rule.squared, arena)
    reset(tally)
    for _ in range(visits):
        node = advance(arena)
        if node < 0 or is_new(tally, arena.cost[node]):
            if is_enough(tally, rule):
                return True, found(tally, rule)
            if node < 0 or arena.cost[node] > rule.farthest:
                return True, ran_out(tally, rule)
            open_shell(tally, arena.cost[node], rule)
        tally.whole[INSIDE] += _count(cells, arena, node)
    return False, ran_out(tally, rule)


@inlined
def _measure(point: Floats, cells: Cells, rule: Rule, output: Integers) -> None:
    """Write the key of every counted cell: `key_of`, in a form that compilers make wide."""
    output[:] = 0
    for axis in range(len(point)):
        place = math.floor(point[axis] * rule.width * STEPS)
        own = min(place >> STEP_BITS, rule.width - 1)
        column = cells.columns[axis]
        for row in range(len(output)):
            output[row] += key_of(place, own, np.int64(column[row]), rule.squared)  # type: ignore[arg-type]


@compiled
def scan(point: Floats, cells: Cells, rule: Rule, tally: Tally) -> float:
    """Score a point by looking at every counted cell; all others count 0."""
    keys = tally.keys
    _measure(point, cells, rule, keys)
    reset(tally)
    last = -1
    # Counts are mostly enough after a shell or two, so each is searched for; cells are sorted after a few.
    for _ in range(PASSES):
        nearest = whole(BEYOND)
        for row in range(len(keys)):
            if last < keys[row] < nearest:
                nearest = keys[row]
        if nearest > rule.farthest:
            return ran_out(tally, rule)
        open_shell(tally, nearest, rule)
        for row in range(len(keys)):
            if keys[row] == nearest:
                tally.whole[INSIDE] += cells.counts[row]
        if is_enough(tally, rule):
            return found(tally, rule)
        last = nearest
    return _scan_sorted(last, cells, rule, tally)


@inlined
def _scan_sorted(last: int, cells: Cells, rule: Rule, tally: Tally) -> float:
    """Continue with the cells beyond a key, from a heap."""
    keys, heap = tally.keys, tally.heap
    size = whole(0)
    for row in range(len(keys)):
        if last < keys[row] <= rule.farthest:
            heap[size] = row
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sift_down(heap, at, size, keys)
    while size > 0:
        row = heap[0]
        if is_new(tally, keys[row]):
            if is_enough(tally, rule):
                return found(tally, rule)
            open_shell(tally, keys[row], rule)
        tally.whole[INSIDE] += cells.counts[row]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, whole(0), size, keys)
    return found(tally, rule) if is_enough(tally, rule) else ran_out(tally, rule)


@compiled
def score_points(
    points: Floats, cells: Cells, rule: Rule, visits: int, arena: Arena, tally: Tally, output: Floats
) -> None:
    """Score each point by a walk, and if ``visits`` cells are not enough, by a scan.

    Keyed cells cannot be scanned: a walk of that many visits counts as having run out.
    """
    for number in range(len(points)):
        known = False
        if visits > 0:
            known, output[number] = walk(points[number], cells, rule, visits, arena, tally)
        if not known and not cells.keyed:
            output[number] = scan(points[number], cells, rule, tally)
