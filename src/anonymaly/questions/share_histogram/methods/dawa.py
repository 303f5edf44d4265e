# SPDX-License-Identifier: Apache-2.0
"""DAWA that keeps its promise, and DAWAz: the same, corrected by bins that seem empty.

DAWA draws a partition by the exponential mechanism, then adds noise to its buckets' totals. DAWAz is the
two-phase recipe of Kotsogiannis et al. 2020, section 5.2 and Algorithm 3, corrected: with a small share of ε
the bins without non-sensitive records are released one-sidedly; DAWA runs with the rest; then those bins are
set to 0, and each piece of DAWA's histogram that is level keeps its total, spread over its other bins.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, log10

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.noise import Noise
from anonymaly.noise.partition import LARGEST_EXPONENT, UNIT
from anonymaly.questions.share_histogram.kernels.smoothing import smooth
from anonymaly.questions.share_histogram.kernels.windows import deviations
from anonymaly.questions.share_histogram.methods.geometric import or_largest
from anonymaly.questions.share_histogram.methods.rates import Rates

LOG_2 = Fraction(6_931_471_805_599_453_095, 10**19)  # a little above ln 2


def dawa(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Floats:
    """Return counts that are level over buckets, smoothed like those of ``smoothed``.

    Examples
    --------
    >>> counts = np.array([0] * 40 + [60, 61, 59, 60])
    >>> rates = {"score": Fraction(1, 2), "totals": Fraction(3)}
    >>> dawa(counts, counts, rates=rates, noise=Noise.seeded(1)).tolist()[38:]
    [0.0, 0.0, 60.0, 60.0, 60.0, 60.0]
    """
    lengths = noise.partition(partition_exponents(every, rates))
    starts = np.cumsum(lengths) - lengths
    totals = noise.add_two_sided_geometric(np.add.reduceat(every, starts), rates["totals"])
    shares = np.repeat(totals / lengths, lengths)
    return or_largest(smooth(shares, rates["totals"]), shares)


def dawaz(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Floats:
    """Return DAWA's counts with bins set to 0 that hold no non-sensitive records, as far as was released.

    Examples
    --------
    >>> counts = np.array([0] * 40 + [60, 0, 0, 60])
    >>> rates = {"zero_bins": Fraction(9, 10), "score": Fraction(1), "totals": Fraction(6)}
    >>> dawaz(counts, counts, rates=rates, noise=Noise.seeded(1)).tolist()[38:]
    [0.0, 0.0, 60.0, 0.0, 0.0, 60.0]
    """
    model = dawa(every, non_sensitive, rates=rates, noise=noise)
    found = redistribute(model, release_zero_bins(non_sensitive, rates["zero_bins"], noise))
    return found if found.any() else model  # if all of it is in cells that seem empty, they are not


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


def release_zero_bins(non_sensitive: Integers, rate: Fraction, noise: Noise) -> Booleans:
    """Return which bins are taken to be empty: one with c non-sensitive records with probability e^(-rate·c).

    That is the law of the bins in which a sample holds nothing, and that of the bins that one-sided noise
    brings to 0 or below (Lemma 8).

    Examples
    --------
    >>> release_zero_bins(np.array([0, 100]), Fraction(1), Noise.seeded(1)).tolist()
    [True, False]
    """
    return noise.one_sided_geometric(rate, non_sensitive.size) >= non_sensitive


def redistribute(model: Floats, empty: Booleans) -> Floats:
    """Set bins to 0 and give what they held to the other bins of the same level piece.

    Every piece keeps its total, but for pieces all of whose bins are set to 0. (The paper prints the factor
    |B|/|Z∩B|; what keeps the total is |B|/|B∖Z|.)

    Examples
    --------
    >>> redistribute(np.array([2.0, 2.0, 2.0, 2.0, 7.0]), np.array([True, False, False, True, True])).tolist()
    [0.0, 4.0, 4.0, 0.0, 0.0]
    """
    starts = np.flatnonzero(np.concatenate([[True], model[1:] != model[:-1]]))
    lengths = np.diff(starts, append=len(model))
    kept = np.add.reduceat(~empty, starts, dtype=np.int64)
    factors = np.where(kept > 0, lengths / np.maximum(kept, 1), 0.0)
    return np.where(empty, 0.0, model * np.repeat(factors, lengths))
