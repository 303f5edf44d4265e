# SPDX-License-Identifier: Apache-2.0
"""The margin of one group, from its numbers."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.questions.explain.everyone.rule import MarginRule


@compiled
def best_pair(numbers: npt.NDArray[Any], at: int, records: int, upper: Integers, lower: Integers) -> int:
    """Return the most records that lie both below ``upper`` and from ``lower`` on, as the fewer of the two.

    The first of the two numbers grows along the list and the second one falls, so the best pair is where they
    cross: the last at which the first is the smaller, or the one after it. As many steps for every group.
    """
    place = -1
    step = 1
    while step <= len(upper):
        step <<= 1
    step >>= 1
    while step > 0:
        tried = place + step
        if tried < len(upper) and numbers[at + upper[tried]] < records - numbers[at + lower[tried]]:
            place = tried
        step >>= 1
    found = 0
    if place >= 0:
        found = int(numbers[at + upper[place]])
    if place + 1 < len(upper):
        found = max(found, records - int(numbers[at + lower[place + 1]]))
    return found


@compiled
def margin_of(numbers: npt.NDArray[Any], at: int, rule: MarginRule) -> int:
    """Return the margin of the group whose numbers begin at a place."""
    records = int(numbers[at + rule.width - 1])
    if rule.fences:
        high = best_pair(numbers, at, records, rule.high_upper, rule.high_lower)
        low = best_pair(numbers, at, records, rule.low_upper, rule.low_lower)
        return max(0, 4 * max(high, low) - 3 * records)
    return max(0, rule.numerator * records - rule.denominator * int(numbers[at]))
