# SPDX-License-Identifier: Apache-2.0
"""The compiled scores: counts of cells added up in order of distance, until they are enough.

Cells at the same distance form a shell and are counted together, so that no order among them is chosen.
A published model keeps few of many cells; where walking the lattice would take longer than looking at all
of those, they are looked at instead, with the same result.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymaly.noise import keyed
from anonymaly.noise._compile import compiled
from anonymaly.noise.geometric import Table
from anonymaly.score.walk import (
    STEP_BITS,
    STEPS,
    Arena,
    Floats,
    Integers,
    Ranks,
    advance,
    rank_axis,
    sift_down,
    start,
)



class Cells(NamedTuple):
    """The counted cells, and where to find one by its hash."""

    coordinates: Ranks  # one row a cell
    counts: Integers
    slots: Integers  # open addressing: a row of the above, or -1
    keyed: bool  # whether every cell of the lattice has noise of its own, drawn when it is met
    stream: npt.NDArray[np.uint32]
    table: Table
    packed: int  # axes in each 32-bit word of a cell's index


class Rule(NamedTuple):
    """What the score is."""

    neighbours: int
    width: int  # cells on an axis
    squared: bool  # Euclidean distances are kept squared
    weighted: bool
    from_cell: bool
    depth: float  # what a walk that ran out counts as
    farthest: int  # the depth as a whole number of steps, squared where distances are


class Tally(NamedTuple):
    """Working memory: sums over shells, and the distances of all counted cells."""

    whole: Integers  # count before the present shell, count in it, its distance, whether one is open
    parts: Floats  # weighted sum before the shell, weighted sum in it, the largest distance in it
    distances: Integers
    heap: Integers


BEFORE, INSIDE, AT, OPEN = 0, 1, 2, 3
SUM, ADDED, LARGEST = 0, 1, 2


def make_tally(cells: int) -> Tally:
    """Return memory for scans of so many cells."""
    return Tally(np.zeros(4, np.int64), np.zeros(3), np.empty(cells, np.int64), np.empty(cells, np.int64))


@compiled
def _length(distance: int, rule: Rule) -> float:
    """Return a distance in steps as one in the unit cube."""
    return (math.sqrt(distance) if rule.squared else float(distance)) / (rule.width * STEPS)


@compiled
def _open(tally: Tally, at: int) -> None:
    tally.whole[BEFORE] += tally.whole[INSIDE]
    tally.whole[INSIDE], tally.whole[AT], tally.whole[OPEN] = 0, at, 1
    tally.parts[SUM] += tally.parts[ADDED]
    tally.parts[ADDED] = tally.parts[LARGEST] = 0.0


@compiled
def _reset(tally: Tally) -> None:
    tally.whole[:] = 0
    tally.parts[:] = 0.0


@compiled
def _add(tally: Tally, count: int, length: float) -> None:
    tally.whole[INSIDE] += count
    tally.parts[ADDED] += count * length
    tally.parts[LARGEST] = max(tally.parts[LARGEST], length)


@compiled
def _is_enough(tally: Tally, rule: Rule) -> bool:
    return tally.whole[OPEN] == 1 and tally.whole[BEFORE] + tally.whole[INSIDE] >= rule.neighbours  # type: ignore[no-any-return]


@compiled
def _found(tally: Tally, rule: Rule) -> float:
    """Return the score of a walk whose last shell was enough."""
    if not rule.weighted:
        return tally.parts[LARGEST]  # type: ignore[no-any-return]
    # Of the last shell only as many are counted as were missing, at its average distance.
    missing = rule.neighbours - tally.whole[BEFORE]
    return tally.parts[SUM] + tally.parts[ADDED] * (missing / tally.whole[INSIDE])  # type: ignore[no-any-return]


@compiled
def _ran_out(tally: Tally, rule: Rule) -> float:
    """Return the score of a walk that met too few: those missing lie at the depth, wherever they are."""
    if not rule.weighted:
        return rule.depth
    missing = rule.neighbours - tally.whole[BEFORE] - tally.whole[INSIDE]
    return tally.parts[SUM] + tally.parts[ADDED] + missing * rule.depth  # type: ignore[no-any-return]


@compiled
def _count(cells: Cells, arena: Arena, node: int) -> int:
    """Return the count of a node's cell: 0 where none is kept; with its own noise where cells are keyed."""
    found = 0
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
            found = cells.counts[row]
            break
        slot = (slot + np.uint64(1)) & mask
    return found + _noise(cells, arena, node) if cells.keyed else found


@compiled
def slot_of(hashed: np.uint64, mask: np.uint64) -> np.uint64:
    """Return where a hash is looked for first."""
    return (hashed ^ (hashed >> np.uint64(29))) & mask


@compiled
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
def _apart(arena: Arena, node: int, squared: bool) -> int:
    """Return the distance between the centres of a node's cell and the point's own."""
    total = 0
    for place in range(len(arena.axes)):
        axis = arena.axes[place]
        steps = (arena.order[axis, arena.ranks[node, place]] - arena.order[axis, 0]) << STEP_BITS
        total += steps * steps if squared else abs(steps)
    return total


@compiled
def walk(point: Floats, cells: Cells, rule: Rule, visits: int, arena: Arena, tally: Tally) -> tuple[bool, float]:
    """Score a point by walking the lattice; says whether ``visits`` cells were enough to know."""
    start(point, rule.squared, arena)
    _reset(tally)
    for _ in range(visits):
        node = advance(arena)
        if node < 0 or arena.cost[node] != tally.whole[AT] or tally.whole[OPEN] == 0:
            if _is_enough(tally, rule):
                return True, _found(tally, rule)
            if node < 0 or arena.cost[node] > rule.farthest:
                return True, _ran_out(tally, rule)
            _open(tally, arena.cost[node])
        at = _apart(arena, node, rule.squared) if rule.from_cell else arena.cost[node]
        _add(tally, _count(cells, arena, node), _length(at, rule))
    return False, _ran_out(tally, rule)


@compiled
def scan(point: Floats, cells: Cells, rule: Rule, arena: Arena, tally: Tally) -> float:
    """Score a point by looking at every counted cell; all others count 0."""
    dimensions, size = len(point), len(cells.counts)
    for axis in range(dimensions):
        rank_axis(point[axis], rule.squared, arena.steps[axis], arena.order[axis])
        for rank in range(rule.width):  # by coordinate from here on
            arena.heap[arena.order[axis, rank]] = arena.steps[axis, rank]
        arena.axes[axis] = arena.order[axis, 0]
        for coordinate in range(rule.width):
            arena.steps[axis, coordinate] = arena.heap[coordinate]
    for row in range(size):
        total = 0
        for axis in range(dimensions):
            total += arena.steps[axis, cells.coordinates[row, axis]]
        tally.distances[row], tally.heap[row] = total, row
    for at in range(size // 2 - 1, -1, -1):
        sift_down(tally.heap, at, size, tally.distances)
    _reset(tally)
    while size > 0:
        row = tally.heap[0]
        if tally.distances[row] != tally.whole[AT] or tally.whole[OPEN] == 0:
            if _is_enough(tally, rule):
                return _found(tally, rule)
            if tally.distances[row] > rule.farthest:
                return _ran_out(tally, rule)
            _open(tally, tally.distances[row])
        at = tally.distances[row]
        if rule.from_cell:
            at = 0
            for axis in range(dimensions):
                steps = (cells.coordinates[row, axis] - arena.axes[axis]) << STEP_BITS
                at += steps * steps if rule.squared else abs(steps)
        _add(tally, cells.counts[row], _length(at, rule))
        size -= 1
        tally.heap[0] = tally.heap[size]
        sift_down(tally.heap, 0, size, tally.distances)
    return _found(tally, rule) if _is_enough(tally, rule) else _ran_out(tally, rule)


@compiled
def score_points(
    points: Floats, cells: Cells, rule: Rule, visits: int, arena: Arena, tally: Tally, output: Floats
) -> None:
    """Score each point: by a walk, and where ``visits`` cells do not settle it, by a scan.

    Where cells are keyed there is nothing to scan: a walk of that many visits has run out.
    """
    for number in range(len(points)):
        known = False
        if visits > 0:
            known, output[number] = walk(points[number], cells, rule, visits, arena, tally)
        if not known and not cells.keyed:
            output[number] = scan(points[number], cells, rule, arena, tally)
