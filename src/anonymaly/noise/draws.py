# SPDX-License-Identifier: Apache-2.0
"""Exact uniform draws, orders and Bernoulli draws from a stream (Canonne, Kamath, Steinke 2020, algorithm 1).

All arithmetic is on signed 64-bit integers. With numerator and denominator of a rate at most
`core.rate.LARGEST_TERM` = 2^56 nothing here can pass 2^63 - 1:

- `below` multiplies a 32-bit word by a bound under 2^31, and compares larger bounds without arithmetic;
- `bernoulli_exp` splits Uniform{0..bK-1} < a into the two independent events Uniform{0..K-1} = 0 and
  Uniform{0..b-1} < a, whose product has the same probability a/(bK), so bK is never formed.
"""

from __future__ import annotations

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled, inlined, whole
from anonymaly.noise.chacha import Stream, next_bit, next_word

LARGEST_INTEGER = 2**63 - 1
SHORT = 2**31
LOW = 0xFFFFFFFF


@compiled
def up_to(stream: Stream, largest: int) -> int:
    """Return a uniform integer from 0 to largest (below 2^63), by rejection from the next power of two."""
    mask = largest
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    mask |= mask >> 32
    while True:
        value = (((next_word(stream) & 0x7FFFFFFF) << 32) | next_word(stream)) & mask
        if value <= largest:
            return value


@compiled
def below(stream: Stream, bound: int) -> int:
    """Return a uniform integer from 0 to bound - 1."""
    if bound >= SHORT:
        return up_to(stream, bound - 1)
    # Lemire 2019: the high half of word × bound is uniform once the few lowest products are rejected.
    product = next_word(stream) * bound
    if (product & LOW) < bound:
        rejected = (LOW + 1) % bound
        while (product & LOW) < rejected:
            product = next_word(stream) * bound
    return product >> 32


@inlined
def bernoulli_exp_one(stream: Stream) -> bool:
    """Return true with probability 1/e: K stops beyond k with probability 1/k!, and is odd with 1/e."""
    if next_bit(stream) == 1:
        return False
    trial = whole(3)
    while below(stream, trial) == 0:
        trial += 1
    return trial % 2 == 1


@compiled
def bernoulli_exp_part(stream: Stream, numerator: int, denominator: int) -> bool:
    """Return true with probability exp(-numerator/denominator), for a quotient of at most 1."""
    if below(stream, denominator) >= numerator:
        return True
    if next_bit(stream) == 1 or below(stream, denominator) >= numerator:
        return False
    trial = whole(3)
    while below(stream, trial) == 0 and below(stream, denominator) < numerator:
        trial += 1
    return trial % 2 == 1


@compiled
def bernoulli_exp(stream: Stream, numerator: int, denominator: int) -> bool:
    """Return true with probability exp(-numerator/denominator)."""
    whole = numerator // denominator
    for _ in range(whole):
        if not bernoulli_exp_one(stream):
            return False
    rest = numerator - whole * denominator
    return rest == 0 or bernoulli_exp_part(stream, rest, denominator)


@inlined
def bernoulli_exp_multiple(stream: Stream, times: int, numerator: int, denominator: int) -> bool:
    """Return true with probability exp(-times·numerator/denominator), for any times from 0 to 2^63 - 1.

    The product may not fit 64 bits, so it is taken in steps that do: a step that is not the last has an
    exponent of at least (2^62 - 2^56)/2^56 = 63, so a second step is hardly ever reached.
    """
    step = (LARGEST_INTEGER >> 1) // numerator
    while times > step:
        if not bernoulli_exp(stream, step * numerator, denominator):
            return False
        times -= step
    return bernoulli_exp(stream, times * numerator, denominator)


@compiled
def shuffle(stream: Stream, output: Integers) -> None:
    """Put what the output holds into a uniform order (Durstenfeld 1964).

    Each place, from the last one on, gets one of those not placed yet.
    """
    for last in range(len(output) - 1, 0, -1):
        chosen = below(stream, last + 1)
        kept = output[last]
        output[last] = output[chosen]
        output[chosen] = kept
