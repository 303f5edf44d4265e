# SPDX-License-Identifier: Apache-2.0
"""The compiled sums over the shells of a walk: cells of the same key are counted together.

So no order among them has to be chosen, and the score does not depend on the order of the walk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.questions.score.methods.lattice import APART_BITS, STEPS


class Rule(NamedTuple):
    """What the score is."""

    neighbours: int
    width: int  # cells on an axis
    squared: bool  # Euclidean distances are kept squared
    weighted: bool
    from_cell: bool
    depth: float  # what a walk that ran out counts as
    farthest: int  # the largest key within the depth


class Tally(NamedTuple):
    """Working memory: sums over shells, and the keys of all counted cells."""

    whole: Integers  # count before the present shell, count in it, its key, whether one is open
    weighted: Floats  # sum of count · distance before the present shell
    keys: Integers
    heap: Integers


BEFORE, INSIDE, AT, OPEN = 0, 1, 2, 3


def make_tally(cells: int) -> Tally:
    """Return memory for scans of that many cells."""
    return Tally(np.zeros(4, np.int64), np.zeros(1), np.empty(cells, np.int64), np.empty(cells, np.int64))


@inlined
def _distance(tally: Tally, rule: Rule) -> float:
    """Return the distance of the present shell, in widths of the unit cube."""
    key = tally.whole[AT]
    number = key & ((1 << APART_BITS) - 1) if rule.from_cell else key >> APART_BITS
    return (math.sqrt(number) if rule.squared else float(number)) / (
        rule.width if rule.from_cell else rule.width * STEPS
    )


@inlined
def reset(tally: Tally) -> None:
    """Begin a walk."""
    tally.whole[:] = 0
    tally.weighted[0] = 0.0


@compiled
def open_shell(tally: Tally, key: int, rule: Rule) -> None:
    """Close the present shell, if any, and begin that of a key."""
    tally.weighted[0] += tally.whole[INSIDE] * _distance(tally, rule)
    tally.whole[BEFORE] += tally.whole[INSIDE]
    tally.whole[INSIDE], tally.whole[AT], tally.whole[OPEN] = 0, key, 1


@inlined
def is_new(tally: Tally, key: int) -> bool:
    """Say whether a cell begins a shell."""
    return tally.whole[OPEN] == 0 or tally.whole[AT] != key  # type: ignore[no-any-return]


@inlined
def is_enough(tally: Tally, rule: Rule) -> bool:
    """Say whether enough records have been met."""
    return tally.whole[OPEN] == 1 and tally.whole[BEFORE] + tally.whole[INSIDE] >= rule.neighbours  # type: ignore[no-any-return]


@compiled
def found(tally: Tally, rule: Rule) -> float:
    """Return the score of a walk whose last shell was enough: only the missing records of it count."""
    if not rule.weighted:
        return _distance(tally, rule)
    missing = rule.neighbours - tally.whole[BEFORE]
    return tally.weighted[0] + missing * _distance(tally, rule)  # type: ignore[no-any-return]


@compiled
def ran_out(tally: Tally, rule: Rule) -> float:
    """Return the score of a walk that met too few records: the missing ones count as at the depth."""
    if not rule.weighted:
        return rule.depth
    missing = rule.neighbours - tally.whole[BEFORE] - tally.whole[INSIDE]
    last = tally.whole[INSIDE] * _distance(tally, rule)
    return tally.weighted[0] + last + missing * rule.depth  # type: ignore[no-any-return]
