# SPDX-License-Identifier: Apache-2.0
"""The compiled order of cells by distance from a point, without listing them.

A point lies on a grid of 2^10 steps to a cell's edge, and a cell's place in the order is a whole number, its
*key*: the distance of its centre in steps, and in the last 21 bits, for those equally far, its distance from
the point's own cell in cells (both squared where distances are Euclidean). So two cells tie exactly where
they do, on every machine. Both parts are sums over axes, and so is the key.

On each axis the cells have ranks by distance, and a cell is one rank for every axis. Axes are sorted by what
leaving their nearest cell costs. Let p be the last axis with a rank above 0. The successors of a cell are:
one rank more at p; rank 1 at p + 1; and, if the rank at p is 1, rank 0 there and 1 at p + 1. Every cell but
the nearest then has exactly one predecessor, which is not farther away: its rank at p minus one if that is
above 1; else the cell without p, if p - 1 has a rank; else that with p - 1 instead of p, which is cheaper to
leave. So a heap of successors yields every cell once, in order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anonymaly.core.arrays import Floats, Integers, Words64
from anonymaly.core.compiled import compiled, flag, inlined, whole
from anonymaly.questions.score.methods.lattice import APART_BITS, STEP_BITS, STEPS, Ranks

SIZE, MADE = 0, 1  # what `state` holds: nodes in the heap, nodes made


class Arena(NamedTuple):
    """Working memory of one thread, since compiled functions allocate nothing."""

    state: Integers
    cost: Integers  # of each node: its key
    place: Integers  # of each node: p, as a place among the sorted axes
    hashed: Words64  # of each node's cell: Σ coordinate · multiplier
    ranks: Ranks  # of each node, for every place among the sorted axes
    heap: Integers
    axes: Integers  # place → axis
    steps: Integers  # [axis, rank] → the axis's part of the key
    order: Integers  # [axis, rank] → coordinate
    multipliers: Words64


def make_arena(multipliers: Words64, width: int, visits: int) -> Arena:
    """Return memory for walks of up to ``visits`` visits over ``width`` cells on each axis."""
    dimensions, nodes = len(multipliers), 3 * visits + 1
    return Arena(
        np.zeros(2, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.uint64),
        np.empty((nodes, dimensions), np.uint16),
        np.empty(nodes, np.int64),
        np.empty(dimensions, np.int64),
        np.empty((dimensions, width), np.int64),
        np.empty((dimensions, width), np.int64),
        multipliers,
    )


@inlined
def sift_up(heap: Integers, size: int, cost: Integers) -> None:
    """Put the last of the heap in its place."""
    at = size - 1
    node = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if cost[heap[above]] <= cost[node]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@compiled
def sift_down(heap: Integers, at: int, size: int, cost: Integers) -> None:
    """Put one of the heap in its place among those below it."""
    node = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and cost[heap[below + 1]] < cost[heap[below]]:
            below += 1
        if cost[heap[below]] >= cost[node]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = node


@inlined
def key_of(place: int, own: int, cell: int, squared: bool) -> int:
    """Return an axis's part of the key: of a place in steps, in its own cell, and another cell."""
    steps, apart = abs(place - (cell << STEP_BITS) - STEPS // 2), abs(cell - own)
    if squared:
        return (steps * steps << APART_BITS) + apart * apart
    return (steps << APART_BITS) + apart


@inlined
def rank_axis(position: float, squared: bool, steps: Integers, order: Integers) -> None:
    """Rank the cells of one axis by key, seen from a position between 0 and 1."""
    width = len(order)
    place = math.floor(position * width * STEPS)
    own = min(place >> STEP_BITS, width - 1)
    order[0], steps[0] = own, key_of(place, own, own, squared)
    low, high = own - 1, own + 1
    for rank in range(1, width):
        down, up = key_of(place, own, low, squared), key_of(place, own, high, squared)
        if low >= 0 and (high >= width or down <= up):
            order[rank], steps[rank] = low, down
            low -= 1
        else:
            order[rank], steps[rank] = high, up
            high += 1


@compiled
def start(point: Floats, squared: bool, arena: Arena) -> None:
    """Begin a walk at the point's own cell."""
    for axis in range(len(point)):
        rank_axis(point[axis], squared, arena.steps[axis], arena.order[axis])
        leaving = arena.steps[axis, 1] - arena.steps[axis, 0]
        place = axis
        while place > 0:
            before = arena.axes[place - 1]
            if arena.steps[before, 1] - arena.steps[before, 0] <= leaving:
                break
            arena.axes[place] = before
            place -= 1
        arena.axes[place] = axis
    cost, hashed = 0, np.uint64(0)
    for axis in range(len(point)):
        cost += arena.steps[axis, 0]
        hashed += np.uint64(arena.order[axis, 0]) * arena.multipliers[axis]
        arena.ranks[0, axis] = 0
    arena.cost[0], arena.hashed[0], arena.place[0] = cost, hashed, -1
    arena.heap[0] = 0
    arena.state[SIZE] = arena.state[MADE] = 1


@compiled
def advance(arena: Arena) -> int:
    """Take the nearest cell from the heap, put its successors in, return its node; -1 after the last."""
    size = arena.state[SIZE]
    if size == 0:
        return -1
    node = arena.heap[0]
    size -= 1
    if size > 0:
        arena.heap[0] = arena.heap[size]
        sift_down(arena.heap, whole(0), size, arena.cost)
    arena.state[SIZE] = size
    place = arena.place[node]
    rank = whole(arena.ranks[node, place]) if place >= 0 else whole(0)
    if place >= 0 and rank + 1 < arena.order.shape[1]:
        _add(arena, node, place, rank + 1, flag(False))
    if place + 1 < len(arena.axes):
        _add(arena, node, place + 1, whole(1), flag(False))
        if rank == 1:
            _add(arena, node, place + 1, whole(1), flag(True))
    return node  # type: ignore[no-any-return]


@compiled
def _add(arena: Arena, parent: int, place: int, rank: int, shifted: bool) -> None:
    """Add a successor: another rank at ``place`` and, if shifted, rank 0 instead of 1 one place before."""
    node = arena.state[MADE]
    for other in range(len(arena.axes)):
        arena.ranks[node, other] = arena.ranks[parent, other]
    arena.cost[node], arena.hashed[node], arena.place[node] = arena.cost[parent], arena.hashed[parent], place
    _change(arena, node, place, rank)
    if shifted:
        _change(arena, node, place - 1, 0)
    arena.state[MADE] = node + 1
    arena.heap[arena.state[SIZE]] = node
    arena.state[SIZE] += 1
    sift_up(arena.heap, arena.state[SIZE], arena.cost)


@inlined
def _change(arena: Arena, node: int, place: int, rank: int) -> None:
    axis, old = arena.axes[place], arena.ranks[node, place]
    arena.cost[node] += arena.steps[axis, rank] - arena.steps[axis, old]
    # Negative changes wrap around, and so does the sum: hashes are numbers modulo 2^64.
    moved = np.uint64(arena.order[axis, rank] - arena.order[axis, old])
    arena.hashed[node] += moved * arena.multipliers[axis]
    arena.ranks[node, place] = rank
