# SPDX-License-Identifier: Apache-2.0
"""Exact geometric draws by inversion of a table with lazily refined uniform numbers.

Let X be one-sided geometric with rate r = numerator/denominator: P(X = x) ∝ exp(-r·x). Then X = 2^k·H + L,
where H and L are independent, H is one-sided geometric with rate 2^k·r, and L lies below 2^k with
P(L) ∝ exp(-r·L). The shift k is the smallest with 2^k·r >= 1/16.

- H: a uniform number U is compared with the thresholds C_v = P(H <= v) for v < V. The first bits of U point
  into a table, which knows the answer unless a threshold lies in that cell; then 63 bits of U are compared
  with 63 bits of the thresholds, and in a tie the next digits of both, as far as 252 bits. If U is beyond
  the last threshold then H >= V, and H - V has the law of H (no memory), so H is V plus a new draw.
- L: a uniform one is accepted with probability exp(-r·L), which is above exp(-1/8).
- A rate above 24 has no table: X is the number of coins of probability exp(-r) that succeed in a row, and
  those coins (`draws.bernoulli_exp`) are exact at any rate. 252 digits could not tell 1 - exp(-175) from 1,
  and X would always be 0.

**Lemma D.** A value that takes n looks at the table is drawn with its probability times a factor within
(1 ± 2^-216)^n: for each value that is likelier than 2^-500000, a factor within 1 ± 2^-200.
*Proof.* The digits of the thresholds are exact (rigorous bounds, `probability.floor_of`). One look at the
table of a rate h <= 24 ends in H = v < V with probability exp(-h·v)·(1 - exp(-h)) > 2^-22, since h >= 1/16
and h·v < 12, or goes on with exp(-h·V) >= exp(-24) > 2^-35, since h·V < 12 + h for h < 12 and V = 1 above.
A uniform number of 252 bits is counted on its side of each threshold unless it is level with one in all of
them, so each of these probabilities is drawn less by at most 2·2^-252, and 2^-251 is at most 2^-216 of any of
them. More than 2^15 looks have a probability below exp(-12·(2^15 - 1)) < 2^-500000. L is exact. ∎

Two events end a draw with an error: the level number, less than 2^-240 per draw, and a value that 64 bits
cannot hold, which has probability exp(-2^63·r): below 2^-180 for the largest denominator accepted, 2^56.
Neither depends on data.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
import numpy.typing as npt

from anonymaly.core.compiled import compiled, inlined
from anonymaly.noise.chacha import FAILED, Stream, next_word
from anonymaly.noise.draws import LARGEST_INTEGER, bernoulli_exp, bernoulli_exp_part
from anonymaly.noise.probability import ExactProbability, floor_of

Cells = npt.NDArray[np.int16]
Law = npt.NDArray[np.int64]
Table = tuple[Cells, Law]

CELL_BITS = 12  # 4,096 cells of two bytes stay in a processor's fastest cache
DIGIT_BITS = 63
DIGIT_COUNT = 4
SMALLEST_TABLE_RATE = Fraction(1, 16)
LARGEST_TABLE_RATE = 24  # Lemma D; beyond it, coins
TAIL = 12  # the table ends at about exp(-12) of the mass

# Positions in the array that describes a law; the thresholds' first digits follow, then their second ones.
NUMERATOR, DENOMINATOR, SHIFT, VALUES, LARGEST_HIGH, THRESHOLDS = 0, 1, 2, 3, 4, 5


@lru_cache(maxsize=256)
def geometric_table(numerator: int, denominator: int) -> Table:
    """Return the table of a rate: cells that know their value (or -1), and the law's numbers.

    A rate that is drawn by coins has no values and no cells.
    """
    rate = Fraction(numerator, denominator)
    if rate > LARGEST_TABLE_RATE:
        return np.empty(0, np.int16), np.array([numerator, denominator, 0, 0, LARGEST_INTEGER], np.int64)
    shift = 0
    while rate * 2**shift < SMALLEST_TABLE_RATE:
        shift += 1
    high_rate = rate * 2**shift
    # At most 192 values. Neighbouring thresholds differ by more than exp(-12)/17, so their first digits do.
    values = ceil(TAIL / high_rate)
    digits = np.empty((DIGIT_COUNT, values), np.int64)
    for value in range(values):
        below = ExactProbability.exponential(high_rate * (value + 1)).complement()
        number, _ = floor_of(below.bounds, DIGIT_BITS * DIGIT_COUNT)
        for position in reversed(range(DIGIT_COUNT)):
            digits[position, value] = number & LARGEST_INTEGER
            number >>= DIGIT_BITS
    edges = np.arange(2**CELL_BITS + 1, dtype=np.uint64) << np.uint64(DIGIT_BITS - CELL_BITS)
    thresholds_below = np.searchsorted(digits[0].astype(np.uint64), edges, side="left")
    cells = np.where(thresholds_below[:-1] == thresholds_below[1:], thresholds_below[:-1], -1).astype(
        np.int16
    )
    header = [numerator, denominator, shift, values, LARGEST_INTEGER >> shift]
    return cells, np.concatenate([np.array(header, np.int64), digits.ravel()])


@inlined
def _next_digit(stream: Stream) -> int:
    return ((next_word(stream) >> 1) << 32) | next_word(stream)


@inlined
def _search(stream: Stream, law: Law, number: int) -> int:
    """Return how many thresholds lie below a uniform number whose first digit is given."""
    values = int(law[VALUES])
    low, high = 0, values
    while low < high:
        middle = (low + high) // 2
        if law[THRESHOLDS + middle] < number:
            low = middle + 1
        else:
            high = middle
    if low == values or law[THRESHOLDS + low] != number:
        return low
    for position in range(1, DIGIT_COUNT):
        digit = _next_digit(stream)
        threshold = law[THRESHOLDS + position * values + low]
        if digit < threshold:
            return low
        if digit > threshold:
            return low + 1
    stream[FAILED] = np.uint32(1)
    return 0


@inlined
def _high_part(stream: Stream, cells: Cells, law: Law, word: int) -> int:
    """Return H, given the first 31 bits of its uniform number."""
    high = 0
    while True:
        value = int(cells[word >> (31 - CELL_BITS)])
        if value < 0:
            value = _search(stream, law, (word << 32) | next_word(stream))
        high += value
        if value < law[VALUES]:
            return high
        word = next_word(stream) >> 1


@inlined
def _low_part(stream: Stream, law: Law) -> int:
    """Return L."""
    shift = int(law[SHIFT])
    while True:
        low = next_word(stream)
        if shift > 32:
            low |= next_word(stream) << 32
        low &= (1 << shift) - 1
        # low·numerator < 2^shift·numerator < denominator/8: the product is small, the exponent below 1/8.
        if bernoulli_exp_part(stream, low * int(law[NUMERATOR]), int(law[DENOMINATOR])):
            return low


@inlined
def coins_in_a_row(stream: Stream, numerator: int, denominator: int) -> int:
    """Return x >= 0 with probability proportional to exp(-x·numerator/denominator); for high rates."""
    count = 0
    while bernoulli_exp(stream, numerator, denominator):
        count += 1
    return count


@compiled
def _magnitude(stream: Stream, cells: Cells, law: Law, word: int) -> int:
    if law[VALUES] == 0:
        return coins_in_a_row(stream, int(law[NUMERATOR]), int(law[DENOMINATOR]))
    high = _high_part(stream, cells, law, word)
    if law[SHIFT] == 0:
        return high
    if high >= law[LARGEST_HIGH]:
        stream[FAILED] = np.uint32(1)
        return 0
    return (high << int(law[SHIFT])) + _low_part(stream, law)


@inlined
def one_sided_geometric(stream: Stream, cells: Cells, law: Law) -> int:
    """Return x >= 0 with probability proportional to exp(-rate·x)."""
    return _magnitude(stream, cells, law, next_word(stream) >> 1)


@compiled
def two_sided_geometric(stream: Stream, cells: Cells, law: Law) -> int:
    """Return x with probability proportional to exp(-rate·|x|)."""
    while True:
        word = next_word(stream)
        magnitude = _magnitude(stream, cells, law, word >> 1)
        if word & 1 == 0:
            return magnitude
        # Zero has one sign only; otherwise it would be drawn twice as often as its law says.
        if magnitude != 0:
            return -magnitude
