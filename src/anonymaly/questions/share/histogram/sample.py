# SPDX-License-Identifier: Apache-2.0
"""The histogram of a sample of the non-sensitive records (OsdpRR of 004)."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import drawable
from anonymaly.noise import ExactProbability, Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram.counts import Rates, read_counts


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return all of ε for the one draw, in both forms (Lemma 3)."""
    return {"left_out": drawable(epsilon)}


def sample(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return how many of each bin's non-sensitive records are kept, each with probability 1 - e^-ε.

    The counts are the sample's own, not scaled up: they are true of records that exist.

    Examples
    --------
    >>> sample([9, 50], [7, 0], rates={"left_out": Fraction(1)}, noise=Noise.seeded(1)).tolist()
    [5, 0]
    """
    kept = ExactProbability.exponential(rates["left_out"]).complement()
    return noise.thin(read_counts(non_sensitive, "non_sensitive"), kept)
