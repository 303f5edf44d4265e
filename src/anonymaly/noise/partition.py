# SPDX-License-Identifier: Apache-2.0
"""Random partitions of a row of cells into runs, with probability by the product of the runs' weights.

A run holds 1, 2, 4, ... or 2^(K-1) neighbouring cells, and has the weight w = 2^(-e/2^30) for an integer e.
With Z_0 = 1 and Z_i = Σ_k Z_(i-2^k)·w(the run of 2^k cells that ends before cell i), Z_i is the sum of the
products of all partitions of the first i cells. Backwards from the last cell, the run that ends at i has
2^k cells with probability Z_(i-2^k)·w/Z_i; then a partition's probability is the product of its weights
over Z_n.

Numbers are mantissas below 1 (floats) with orders of two (integers), so that none underflows. What is
rounded is Z, and the powers of two in three tables; the choices are drawn exactly from the rounded numbers.
With u = 2^-53:

- an entry of a table has a relative error of at most u, so a product Z·w of four numbers has at most 6 u
  (three entries, three multiplications), beside the error of Z;
- K such products are added with K - 1 roundings; terms 2^1000 times smaller than the largest are left out,
  which changes the sum by less than u. So the sum drawn from, Σ_k a_k, and the stored Z_i differ by at most
  K u.

A step of the backward pass therefore has the probability w·Z_(i-2^k)/Z_i·e^d with stored Z and |d| ≤
1.01·(K + 6)·u. The stored Z cancel along the steps but for the last: a partition of at most n runs has the
probability e^(d')·Π w/Z_n with |d'| ≤ 1.01·n·(K + 6)·u; and as these probabilities sum to 1, the stored Z_n
is Σ Π w but for a factor within e^(±1.01·n·(K + 6)·u). So every partition's probability is its ideal one
within a factor e^(±η), η = 2.02·n·(K + 6)·u. (Products and sums of errors are below 2^-20, whence 1.01.)
"""

from __future__ import annotations

from functools import cache
from math import frexp, isqrt, ldexp

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.noise.chacha import FAILED, Stream, next_word
from anonymaly.noise.draws import below

UNIT = 30  # weights are 2^(-e/2^UNIT)
DIGIT = UNIT // 3
LARGEST_EXPONENT = 2**61  # orders of two then stay below 2^31 for a run, and below 2^52 for 2^20 of them
NEGLIGIBLE = 1000  # orders of two
MANTISSA = 56  # products of four numbers from 1/2 to 1 are whole multiples of 2^-56
PRECISION = 200


@cache
def powers() -> Floats:
    """Return 2^(-j/2^10), 2^(-j/2^20) and 2^(-j/2^30) for j below 1,024, each rounded once."""
    one = 1 << PRECISION
    # Roots of 1/2, one after the other; each is cut by less than 2^-200, far less than a float's digits.
    roots = [one >> 1]
    for _ in range(UNIT):
        roots.append(isqrt(roots[-1] << PRECISION))
    table = np.empty((3, 1 << DIGIT), np.float64)
    for place in range(3):
        for number in range(1 << DIGIT):
            product = one
            for bit in range(DIGIT):
                if number >> bit & 1:
                    product = product * roots[(place + 1) * DIGIT - bit] >> PRECISION
            table[place, number] = ldexp(float(product), -PRECISION)
    return table


@inlined
def weighted(mantissa: float, exponent: int, table: Floats) -> float:
    """Return the mantissa times the fractional part of the weight; whole orders are left to `orders`."""
    mask = (1 << DIGIT) - 1
    first, second, third = exponent >> (2 * DIGIT) & mask, exponent >> DIGIT & mask, exponent & mask
    return mantissa * table[0, first] * table[1, second] * table[2, third]  # type: ignore[no-any-return]


@compiled
def forward(exponents: Integers, table: Floats, mantissas: Floats, orders: Integers) -> None:
    """Fill in Z_0 to Z_n; column i of the exponents is for the runs that end before cell i."""
    sizes, ends = exponents.shape
    mantissas[0], orders[0] = 0.5, 1
    for end in range(1, ends):
        largest = np.int64(-(2**62))
        for size in range(sizes):
            if 1 << size <= end:
                order = orders[end - (1 << size)] - (exponents[size, end] >> UNIT)
                largest = max(largest, order)
        total = 0.0
        for size in range(sizes):
            if 1 << size <= end:
                start = end - (1 << size)
                gap = largest - (orders[start] - (exponents[size, end] >> UNIT))
                if gap <= NEGLIGIBLE:
                    total += ldexp(weighted(mantissas[start], exponents[size, end], table), -int(gap))
        mantissa, order = frexp(total)
        mantissas[end], orders[end] = mantissa, largest + order


@inlined
def choose_size(
    stream: Stream, end: int, exponents: Integers, table: Floats, mantissas: Floats, orders: Integers
) -> int:
    """Return k with probability exactly proportional to the rounded Z_(end-2^k)·w.

    A size is proposed uniformly and accepted with probability mantissa·2^(order - largest order): as many
    coins as the difference of the orders must all show 0, and then a uniform number of 56 bits must be below
    the mantissa. No weight is too small to be drawn.
    """
    count = 0
    largest = np.int64(-(2**62))
    while count < exponents.shape[0] and 1 << count <= end:
        largest = max(largest, orders[end - (1 << count)] - (exponents[count, end] >> UNIT))
        count += 1
    while stream[FAILED] == 0:
        size = below(stream, count)
        start = end - (1 << size)
        gap = largest - (orders[start] - (exponents[size, end] >> UNIT))
        while gap >= 32 and next_word(stream) == 0:
            gap -= 32
        if gap >= 32 or next_word(stream) >> (32 - gap) != 0:
            continue
        number = ((next_word(stream) >> 8) << 32) | next_word(stream)
        # As an integer, which it is: a float of 53 bits could not hold the number of 56 bits.
        if number < int(ldexp(weighted(mantissas[start], exponents[size, end], table), MANTISSA)):
            return size
    return 0


@compiled
def backward(
    stream: Stream, exponents: Integers, table: Floats, mantissas: Floats, orders: Integers, sizes: Integers
) -> int:
    """Fill in the runs' sizes, last run first, and return how many there are."""
    end, count = exponents.shape[1] - 1, 0
    while end > 0:
        size = choose_size(stream, end, exponents, table, mantissas, orders)
        sizes[count] = 1 << size
        end -= 1 << size
        count += 1
    return count


def partition(stream: Stream, exponents: Integers) -> Integers:
    """Draw a partition; returns the lengths of its runs from the first to the last."""
    ends = exponents.shape[1]
    mantissas, orders = np.empty(ends, np.float64), np.empty(ends, np.int64)
    forward(exponents, powers(), mantissas, orders)
    sizes = np.empty(ends - 1, np.int64)
    count = backward(stream, exponents, powers(), mantissas, orders, sizes)
    return sizes[:count][::-1].copy()
