# SPDX-License-Identifier: Apache-2.0
"""Whole numbers modulo the prime 2^61 - 1, in which readings are shared and counted.

All numbers are held in signed words of 64 bits: numba makes a float of a signed and an unsigned one.
"""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled

PRIME = 2**61 - 1
_LOW_31 = 2**31 - 1
_LOW_30 = 2**30 - 1


@compiled
def reduced(number: int) -> int:
    """Return a number from 0 to 2^63 - 1 modulo the prime."""
    folded = (number >> 61) + (number & PRIME)
    return folded - PRIME if folded >= PRIME else folded


@compiled
def add(first: int, second: int) -> int:
    """Return the sum of two elements."""
    total = first + second
    return total - PRIME if total >= PRIME else total


@compiled
def negative(number: int) -> int:
    """Return what an element must be added to for 0."""
    return 0 if number == 0 else PRIME - number


@compiled
def multiply(first: int, second: int) -> int:
    """Return the product of two elements.

    Halves of 31 and 30 bits: with u = 2^31 the product is high·u² + middle·u + low, where u² = 2 modulo the
    prime. The largest sum before the last reduction is below 2^63.
    """
    first_high, first_low = first >> 31, first & _LOW_31
    second_high, second_low = second >> 31, second & _LOW_31
    middle = first_low * second_high + first_high * second_low
    return reduced(
        2 * first_high * second_high + (middle >> 30) + ((middle & _LOW_30) << 31) + first_low * second_low
    )


@compiled
def add_to(total: Integers, more: Integers) -> None:
    """Add elements to others, place by place."""
    for place in range(len(total)):
        total[place] = add(total[place], more[place])


@compiled
def sum_at(elements: Integers, places: Integers) -> int:
    """Return the sum of the elements in some places."""
    total = 0
    for place in places:
        total = add(total, elements[place])
    return total


def to_elements(numbers: Integers) -> Integers:
    """Return whole numbers, also negative ones, as elements.

    Examples
    --------
    >>> to_elements(np.array([3, -1])).tolist()
    [3, 2305843009213693950]
    """
    return np.asarray(np.mod(numbers, PRIME), np.int64)


def to_numbers(elements: Integers) -> Integers:
    """Return elements as whole numbers, those of the upper half as negative ones.

    Examples
    --------
    >>> to_numbers(np.array([3, PRIME - 1])).tolist()
    [3, -1]
    """
    return np.where(elements > PRIME // 2, elements - PRIME, elements)
