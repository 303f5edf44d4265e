# SPDX-License-Identifier: Apache-2.0
"""Each part by what suits it: the sensitive records with two-sided noise, the others with one-sided noise."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import drawable, rows_moved
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram.counts import Rates, read_parts
from anonymaly.questions.share.histogram.one_sided_l1 import one_sided_l1
from anonymaly.questions.share.histogram.smoothed import smoothed


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return ε for each part, as one record is in one of them; in the replace form, half of ε (Lemma 9)."""
    part = drawable(epsilon / rows_moved(1, adjacency))
    return {"one_sided": part, "two_sided": part}


def hybrid(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return the sum of two releases: ``one_sided_l1`` of the non-sensitive, ``smoothed`` of the sensitive.

    Examples
    --------
    >>> hybrid([90, 0], [70, 0], rates=rates(Fraction(4), "replace", 2), noise=Noise.seeded(1)).tolist()
    [90, 0]
    """
    whole, part = read_parts(every, non_sensitive)
    return one_sided_l1(whole, part, rates=rates, noise=noise) + smoothed(
        whole - part, None, rates=rates, noise=noise
    )
