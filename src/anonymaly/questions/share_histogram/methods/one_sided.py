# SPDX-License-Identifier: Apache-2.0
"""Methods that look at the non-sensitive records by themselves, and need only one-sided noise for them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import ExactProbability, Noise, one_sided_geometric_quantile
from anonymaly.questions.share_histogram.kernels.smoothing import smooth
from anonymaly.questions.share_histogram.methods.geometric import or_largest
from anonymaly.questions.share_histogram.methods.rates import Rates

FEW = Fraction(1, 8)  # of bins/ε


def one_sided(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts that are never above the non-sensitive ones, and may be negative.

    It is OsdpLaplace of Kotsogiannis et al. 2020, with integer noise.
    """
    return non_sensitive - noise.one_sided_geometric(rates["one_sided"], non_sensitive.size)


def one_sided_l1(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return one-sided counts, 0 where negative, else with the noise's median added.

    Positive counts are too high as often as too low; they are not unbiased. A bin without non-sensitive
    records always gives 0. It is Algorithm 2 of Kotsogiannis et al. 2020.

    Examples
    --------
    >>> counts = np.array([7, 0])
    >>> one_sided_l1(counts, counts, rates={"one_sided": Fraction(1)}, noise=Noise.seeded(1)).tolist()
    [5, 0]
    """
    counts = one_sided(every, non_sensitive, rates=rates, noise=noise)
    median = one_sided_geometric_quantile(rates["one_sided"], Fraction(1, 2))
    return np.where(counts > 0, counts + median, 0)


def sample(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return how many of each bin's non-sensitive records are kept, each with probability 1 - e^-ε.

    The counts are the sample's own, not scaled up: they are true of records that exist. It is the histogram
    of OsdpRR of Kotsogiannis et al. 2020.
    """
    kept = ExactProbability.exponential(rates["left_out"]).complement()
    return noise.thin(non_sensitive, kept)


def hybrid(
    every: Integers,
    non_sensitive: Integers,
    *,
    rates: Rates,
    noise: Noise,
    shape: tuple[int, ...] | None = None,
) -> Integers:
    """Return the sum of two releases: ``one_sided_l1`` of the non-sensitive, ``smoothed`` of the sensitive.

    Examples
    --------
    >>> rates = {"one_sided": Fraction(2), "two_sided": Fraction(2)}
    >>> hybrid(np.array([90, 0]), np.array([70, 0]), rates=rates, noise=Noise.seeded(1)).tolist()
    [90, 0]
    """
    sensitive = every - non_sensitive
    first = one_sided_l1(every, non_sensitive, rates=rates, noise=noise)
    second = noise.add_two_sided_geometric(sensitive, rates["two_sided"])
    return or_largest(first + smooth(second, rates["two_sided"], shape=shape), second)


def auto_before(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return what ``one_sided_l1`` gives if few records are sensitive, else what ``hybrid`` gives.

    It is what ``auto`` was in the first versions, for charges whose answer was not drawn yet.

    The non-sensitive counts alone leave out the sensitive records: a total error of their number. The hybrid
    method adds noise to every bin: a total error of about bins/ε. So their number, asked first with a
    fiftieth of ε, is compared with bins/ε. The factor was fixed by experiment on the seven histograms of
    DPBench; a larger one gains in mean relative error, which rewards leaving out, and loses in total error.
    """
    if "sensitive" in rates:
        sensitive = int((every - non_sensitive).sum()) + noise.two_sided_geometric(rates["sensitive"])
        if sensitive * rates["one_sided_alone"] <= FEW * every.size:
            alone = {"one_sided": rates["one_sided_alone"]}
            return one_sided_l1(every, non_sensitive, rates=alone, noise=noise)
    return hybrid(every, non_sensitive, rates=rates, noise=noise)
