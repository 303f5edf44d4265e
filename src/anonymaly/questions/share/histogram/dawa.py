# SPDX-License-Identifier: Apache-2.0
"""DAWA that keeps its promise: a partition by the exponential mechanism, then its totals with noise."""

from __future__ import annotations

from fractions import Fraction
from math import log, log10

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.rate import drawable, rows_moved
from anonymaly.errors import InputError
from anonymaly.noise import Noise, partition_error
from anonymaly.noise.partition import LARGEST_EXPONENT, UNIT
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram.counts import Rates, read_counts
from anonymaly.questions.share.histogram.smoothing import smooth
from anonymaly.questions.share.histogram.windows import deviations, window_sizes

PARTITION_SHARE = Fraction(1, 4)  # of ε, as published
LOG_2 = Fraction(6_931_471_805_599_453_095, 10**19)  # a little above ln 2


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return what a unit of the partition's score weighs, and the totals' rate (Lemmas 5 to 7)."""
    share = PARTITION_SHARE * epsilon
    rounding = 2 * partition_error(bins, window_sizes(bins))
    if share <= rounding:
        raise InputError(
            f"is too small: {float(rounding / PARTITION_SHARE):.1e} pays for rounding with {bins:,} bins",
            field="epsilon",
            next_step="Give more, or use another method.",
        )
    changes = rows_moved(1, adjacency)
    score = (share - rounding) / (2 * changes)
    return {"score": score, "totals": drawable((epsilon - share) / changes)}


def dawa(every: Integers, non_sensitive: Integers | None, *, rates: Rates, noise: Noise) -> Floats:
    """Return counts that are level over buckets, smoothed like those of ``smoothed``.

    Examples
    --------
    >>> counts = [0] * 40 + [60, 61, 59, 60]
    >>> dawa(counts, None, rates=rates(Fraction(4), "add_remove", 44), noise=Noise.seeded(1)).tolist()[38:]
    [0.0, 0.0, 60.0, 60.0, 60.0, 60.0]
    """
    counts = read_counts(every, "every")
    lengths = noise.partition(partition_exponents(counts, rates))
    starts = np.cumsum(lengths) - lengths
    totals = noise.add_two_sided_geometric(np.add.reduceat(counts, starts), rates["totals"])
    return smooth(np.repeat(totals / lengths, lengths), rates["totals"])


def partition_exponents(counts: Integers, rates: Rates) -> Integers:
    """Return the weights of all buckets: 2^(-e/2^30) is at most e^(-score·deviation) apart for neighbours.

    The deviation of a bucket is Σ|count - median|, an integer.
    """
    # Rounded down, so that a unit of deviation weighs at most the score's rate.
    step = int(rates["score"] * 2**UNIT / LOG_2)
    price = round(bucket_price(rates["totals"]) / log(2) * 2**UNIT)
    exponents, _ = deviations(counts)
    if step:
        # A bound on the deviation keeps its sensitivity, and exponents within 61 bits.
        np.minimum(exponents, (LARGEST_EXPONENT - 2**40) // step, out=exponents)
    exponents *= step
    exponents += price
    return exponents


def bucket_price(rate: Fraction) -> float:
    """Return λ, minus the logarithm of what each bucket weighs whatever the counts: a public number.

    Smoothing joins buckets at no cost but cannot part them, so where noise is small a bucket more is welcome
    (λ = -1, most buckets are single cells), and where noise is large it is not (up to λ = 2).

    Examples
    --------
    >>> [round(bucket_price(Fraction(3, 8) * e), 2) for e in (1, Fraction(1, 10), Fraction(1, 100))]
    [-1.0, 0.25, 1.5]
    """
    return min(2.0, 1.25 * max(0.0, log10(0.375 / float(rate))) - 1.0)
