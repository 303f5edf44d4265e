# SPDX-License-Identifier: Apache-2.0
"""The non-sensitive counts minus one-sided noise (OsdpLaplace of 004, with integer noise)."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import drawable
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram.counts import Rates, read_counts


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return all of ε for the one draw, in both forms (Lemma 2)."""
    return {"one_sided": drawable(epsilon)}


def one_sided(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts that are never above the non-sensitive ones, and may be negative.

    Examples
    --------
    >>> some = one_sided([9], [7], rates={"one_sided": Fraction(1)}, noise=Noise.seeded(1))
    >>> int(some[0]) <= 7
    True
    """
    counts = read_counts(non_sensitive, "non_sensitive")
    return counts - noise.one_sided_geometric(rates["one_sided"], counts.size)
