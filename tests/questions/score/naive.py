# SPDX-License-Identifier: Apache-2.0
"""The grid's score written down plainly: every cell listed, sorted, and added up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

STEPS = 1024
Cell = tuple[int, ...]


def cell_of(point: Sequence[float], width: int) -> Cell:
    return tuple(min(math.floor(value * width), width - 1) for value in point)


def keys(point: Sequence[float], width: int, squared: bool) -> dict[Cell, tuple[int, int]]:
    """Return of each cell its distance in steps, and its distance from the point's own cell."""
    places = [math.floor(value * width * STEPS) for value in point]
    own = [min(place // STEPS, width - 1) for place in places]
    power = 2 if squared else 1
    return {
        cell: (
            sum(
                abs(place - at * STEPS - STEPS // 2) ** power for place, at in zip(places, cell, strict=True)
            ),
            sum(abs(start - at) ** power for start, at in zip(own, cell, strict=True)),
        )
        for cell in itertools.product(range(width), repeat=len(point))
    }


def naive_score(
    point: Sequence[float],
    counts: Mapping[Cell, int] | Callable[[Cell], int],
    *,
    width: int,
    neighbours: int,
    weighted: bool,
    squared: bool,
    from_cell: bool,
    depth: float,
) -> float:
    """Add up cells in order of their keys; those with the same key together."""
    count = counts if callable(counts) else lambda cell: counts.get(cell, 0)
    met, total = 0, 0.0
    placed = keys(point, width, squared)
    for key, shell in itertools.groupby(sorted(placed, key=placed.__getitem__), key=placed.__getitem__):
        steps, apart = key
        if steps > round(depth * width * STEPS, 6) ** (2 if squared else 1):
            break
        distance = (math.sqrt(apart) if squared else apart) / width
        if not from_cell:
            distance = (math.sqrt(steps) if squared else steps) / (width * STEPS)
        inside = sum(count(cell) for cell in shell)
        if met + inside >= neighbours:
            return total + (neighbours - met) * distance if weighted else distance
        met, total = met + inside, total + inside * distance
    return total + (neighbours - met) * depth if weighted else depth
