# SPDX-License-Identifier: Apache-2.0
"""Exact binomial draws for any number of trials, such as the 10^30 empty cells of a lattice.

A trial succeeds when its uniform number lies below p. All trials reveal their uniform numbers together, one
binary digit at a time: of m trials still level with p, Bin(m, 1/2) have a 1 at the next digit, and a trial
whose digit differs from p's is decided. So only fair binomials are needed, about log2(trials) of them.

A fair binomial of few trials counts random bits. One of many is drawn by rejection, in the manner of
Bringmann, Kuhn, Panagiotou, Peter and Thomas 2014, with a proof short enough to give here. For 2n trials let
R(x) = C(2n, n+x)/C(2n, n). Then log R(x) = Σ_{i=1..|x|} log(1 - (2i-1)/(n+i)) <= -x²/(n+|x|) <= -x²/(2n), and
x²/(2n) >= |x|/q - n/(2q²) for every q (a square is not negative). Hence

    A(x) = R(x)·exp(|x|/q - n/(2q²)) <= 1,

and a two-sided geometric x of rate 1/q that is accepted with probability A(x) has the law of R, which is
the fair binomial's. With q near √n more than half of the proposals are accepted.

Stirling's series gives log A to any precision wanted: with y = |x|/n and S(z) = Σ B_2k/(2k(2k-1)z^(2k-1)),

    log R(x) = -Σ_{k>=1} y^2k·(2n-2k+1)/(2k(2k-1)) + 2S(n) - S(n+|x|) - S(n-|x|),

where the error of a cut S is at most its first omitted term.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import islice
from math import comb, isqrt

from anonymaly.noise.bounds import ceiling_divide, exp_minus
from anonymaly.noise.chacha import IMPOSSIBLE_DRAW, Words
from anonymaly.noise.probability import Bounds, binary_digits, decide

COUNTED = 2**16  # trials up to which counting random bits is the faster way
FEWEST_REJECTED = 2**12  # below this many trials the bounds of `acceptance` need not hold
STIRLING_TERMS = 60
FAR_BITS = 300


def binomial(words: Words, trials: int, bounds: Bounds, counted: int = COUNTED, decided: int = 0) -> int:
    """Return the number of successes in `trials` independent trials of the bounded probability.

    ``decided`` is the number of binary digits in which the trials are known to be level with it.
    """
    low, high = bounds(1)
    if low == high == 2:
        return trials
    successes = 0
    for digit in islice(binary_digits(bounds), decided, None):
        ones = fair_binomial(words, trials, counted)
        if digit:
            successes += trials - ones
            trials = ones
        else:
            trials -= ones
        if trials == 0:
            break
    # Digits that end leave trials whose uniform number is at least p: they fail.
    return successes


def fair_binomial(words: Words, trials: int, counted: int = COUNTED) -> int:
    """Return the number of heads in `trials` fair tosses."""
    if trials <= max(counted, FEWEST_REJECTED):
        return words.take(trials).bit_count()
    if trials % 2:
        return words.take(1) + fair_binomial(words, trials - 1, counted)
    half = trials // 2
    width = isqrt(half)
    while True:
        offset = _two_sided_geometric(words, width)
        if abs(offset) > half:
            continue

        def bounds(bits: int, distance: int = abs(offset)) -> tuple[int, int]:
            return acceptance(distance, half, width, bits)

        if decide(words, bounds):
            return half + offset


def _two_sided_geometric(words: Words, width: int) -> int:
    """Draw with rate 1/width, in Python integers of any size (the compiled sampler's algorithm)."""
    while True:
        rest = words.below(width)
        if not _bernoulli_exp(words, rest, width):
            continue
        units = 0
        while _bernoulli_exp(words, 1, 1):
            units += 1
        magnitude = rest + width * units
        if words.take(1) == 0:
            return magnitude
        if magnitude:
            return -magnitude


def _bernoulli_exp(words: Words, numerator: int, denominator: int) -> bool:
    trial = 1
    while words.below(denominator * trial) < numerator:
        trial += 1
    return trial % 2 == 1


def acceptance(distance: int, half: int, width: int, bits: int) -> tuple[int, int]:
    """Bound A(distance)·2^bits, for half >= 2^11 and width = isqrt(half)."""
    if 2 * distance > half:
        # Here log A <= -n/8 + n/(2q) - 1/2 < -233 < -300·log 2 for n >= 2^11; for the n >= 2^15 of actual
        # use it is below -4000, and the chance of ever asking for more bits is below 2^-300.
        if bits > FAR_BITS:
            raise OverflowError(IMPOSSIBLE_DRAW)
        return 0, 1
    # The powers of y are multiplied by up to n, so that many bits are added to keep them apart.
    scale = bits + half.bit_length() + 32
    tolerance = 1 << (scale - bits - 8)
    square, whole = distance * distance, half * half
    low = high = 0
    power_low = power_high = 1 << scale
    order = 0
    while True:
        order += 1
        power_low = power_low * square // whole
        power_high = ceiling_divide(power_high * square, whole)
        # For y <= 1/2 the terms from here on sum to at most n·y^2k·(1 + 1/4 + ...) < 2n·y^2k.
        if 2 * half * power_high <= tolerance:
            low -= 2 * half * power_high
            high += 2 * half * power_high
            break
        factor, divisor = 2 * half - 2 * order + 1, 2 * order * (2 * order - 1)
        low -= ceiling_divide(power_high * factor, divisor)
        high -= power_low * factor // divisor
    for argument, times in ((half, 2), (half + distance, -1), (half - distance, -1)):
        first, second = _stirling(argument, scale, tolerance)
        low += times * (first if times > 0 else second)
        high += times * (second if times > 0 else first)
    tilt = Fraction(distance, width) - Fraction(half, 2 * width * width)
    low += (tilt.numerator << scale) // tilt.denominator
    high += ceiling_divide(tilt.numerator << scale, tilt.denominator)
    # A <= 1 is proved above, so a bound of log A above 0 is 0.
    return (
        exp_minus(Fraction(max(0, -low), 1 << scale), bits)[0],
        exp_minus(Fraction(max(0, -high), 1 << scale), bits)[1],
    )


def _stirling(argument: int, scale: int, tolerance: int) -> tuple[int, int]:
    """Bound S(argument)·2^scale, to within about the tolerance."""
    low = high = 0
    for order in range(1, STIRLING_TERMS):
        coefficient = _bernoulli_number(2 * order) / (2 * order * (2 * order - 1))
        numerator = coefficient.numerator << scale
        denominator = coefficient.denominator * argument ** (2 * order - 1)
        if abs(numerator) <= tolerance * denominator:
            omitted = ceiling_divide(abs(numerator), denominator)
            return low - omitted, high + omitted
        low += numerator // denominator
        high += ceiling_divide(numerator, denominator)
    # More than 1,000 bits were asked for: that happens with probability below 2^-1000.
    raise OverflowError(IMPOSSIBLE_DRAW)


@cache
def _bernoulli_number(index: int) -> Fraction:
    """Return B_index by its recurrence Σ_{j<=m} C(m+1, j)·B_j = 0."""
    if index == 0:
        return Fraction(1)
    if index > 1 and index % 2:
        return Fraction(0)
    total = sum((comb(index + 1, j) * _bernoulli_number(j) for j in range(index)), Fraction(0))
    return -total / (index + 1)
