# SPDX-License-Identifier: Apache-2.0
"""Rigorous bounds on irrational numbers, in integers.

A number p is known through pairs (low, high) with low <= p·2^bits <= high, for as many bits as asked for.
Every division below rounds down on the way to `low` and up on the way to `high`, so the pairs are proved,
not estimated; how close they are matters for speed only.
"""

from __future__ import annotations

from fractions import Fraction


def ceiling_divide(numerator: int, denominator: int) -> int:
    """Divide and round up."""
    return -(-numerator // denominator)


def ceiling_shift(value: int, bits: int) -> int:
    """Divide by 2^bits and round up."""
    return -(-value >> bits)


def exp_minus(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Bound exp(-exponent)·2^bits for an exponent >= 0; the two bounds differ by at most 2.

    Examples
    --------
    >>> exp_minus(Fraction(1), 10)  # 1024/e = 376.7
    (376, 377)
    """
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent >= bits:
        return 0, 1  # e^-x < 2^-x <= 2^-bits
    # e^-x = (e^-y)^(2^h) with y = x/2^h below 2^-8. A squaring of a number below 1 at most doubles its error,
    # hence h guard bits; the series below adds less than 2^12 units for any number of bits used here.
    halvings = int(exponent).bit_length() + 8
    guard = halvings + 16
    scale = bits + guard
    numerator = exponent.numerator
    denominator = exponent.denominator << halvings
    low = high = term_low = term_high = 1 << scale
    order = 0
    while term_high > 1:
        order += 1
        term_low = term_low * numerator // (denominator * order)
        term_high = ceiling_divide(term_high * numerator, denominator * order)
        if order % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    # The series alternates with falling terms: what is left is at most the last term.
    low, high = low - term_high, high + term_high
    for _ in range(halvings):
        low = low * low >> scale
        high = ceiling_shift(high * high, scale)
    return low >> guard, ceiling_shift(high, guard)
