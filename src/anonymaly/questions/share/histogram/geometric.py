# SPDX-License-Identifier: Apache-2.0
"""All records' counts plus two-sided noise: plain differential privacy, which needs no policy."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import drawable, rows_moved
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram.counts import Rates, read_counts


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return ε over what one record moves (Lemma 4)."""
    return {"two_sided": drawable(epsilon / rows_moved(1, adjacency))}


def geometric(every: Integers, non_sensitive: Integers | None, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts with noise; they may be negative.

    Examples
    --------
    >>> geometric([9, 50], None, rates={"two_sided": Fraction(1)}, noise=Noise.seeded(1)).tolist()
    [7, 49]
    """
    return noise.add_two_sided_geometric(read_counts(every, "every"), rates["two_sided"])
