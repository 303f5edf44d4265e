# SPDX-License-Identifier: Apache-2.0
"""DAWAz of 004, Algorithm 3, corrected: the two-phase recipe with DAWA as the model."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.rate import drawable
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram import dawa as model
from anonymaly.questions.share.histogram.counts import Rates, read_parts
from anonymaly.questions.share.histogram.two_phase import ZERO_SHARE, two_phase


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return the zero bins' rate, ρ·ε in both forms, and DAWA's rates for the rest of ε."""
    zero = ZERO_SHARE * epsilon
    return {"zero_bins": drawable(zero), **model.rates(epsilon - zero, adjacency, bins)}


def dawaz(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Floats:
    """Return DAWA's counts with bins set to 0 that hold no non-sensitive records, as far as was released.

    Examples
    --------
    >>> counts = [0] * 40 + [60, 0, 0, 60]
    >>> found = dawaz(counts, counts, rates=rates(Fraction(9), "add_remove", 44), noise=Noise.seeded(1))
    >>> found.tolist()[38:]
    [0.0, 0.0, 60.0, 0.0, 0.0, 60.0]
    """
    whole, part = read_parts(every, non_sensitive)
    return two_phase(
        part, lambda: model.dawa(whole, None, rates=rates, noise=noise), rate=rates["zero_bins"], noise=noise
    )
