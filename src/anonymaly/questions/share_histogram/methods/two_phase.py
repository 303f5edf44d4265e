# SPDX-License-Identifier: Apache-2.0
"""The recipe of 004, section 5.2: a differentially private histogram, corrected by bins that seem empty.

With a small share of ε, the bins without non-sensitive records are released one-sidedly; a private model of
the whole histogram is made with the rest; then those bins are set to 0, and each piece of the model that is
level keeps its total, spread over its other bins.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods.counts import Pieces, read_counts

ZERO_SHARE = Fraction(1, 10)  # ρ of the paper


def two_phase(
    non_sensitive: Integers, model: Callable[[], Floats], *, rate: Fraction, noise: Noise
) -> Floats:
    """Release a histogram by the recipe.

    Parameters
    ----------
    non_sensitive : array of int
        How many non-sensitive records each bin holds.
    model : callable
        Releases a histogram of all records whose pieces are level, at its own price.
    rate : Fraction
        What is paid for the zero bins.
    noise : Noise
        Where the zero bins' randomness comes from.

    Examples
    --------
    >>> two_phase([0, 90], lambda: np.array([45.0, 45.0]), rate=Fraction(1), noise=Noise.seeded(1)).tolist()
    [0.0, 90.0]
    """
    return redistribute(model(), release_zero_bins(non_sensitive, rate, noise))


def release_zero_bins(non_sensitive: Integers, rate: Fraction, noise: Noise) -> Booleans:
    """Return which bins are taken to be empty: one with c non-sensitive records with probability e^(-rate·c).

    That is the law of the bins in which a sample holds nothing, and that of the bins that one-sided noise
    brings to 0 or below (Lemma 8).

    Examples
    --------
    >>> release_zero_bins(np.array([0, 100]), Fraction(1), Noise.seeded(1)).tolist()
    [True, False]
    """
    counts = read_counts(non_sensitive, "non_sensitive")
    return noise.one_sided_geometric(rate, counts.size) >= counts


def redistribute(model: Floats, empty: Booleans) -> Floats:
    """Set bins to 0 and give what they held to the other bins of the same level piece.

    Every piece keeps its total, but for pieces all of whose bins are set to 0. (The paper prints the factor
    |B|/|Z∩B|; what keeps the total is |B|/|B∖Z|.)

    Examples
    --------
    >>> redistribute(np.array([2.0, 2.0, 2.0, 2.0, 7.0]), np.array([True, False, False, True, True])).tolist()
    [0.0, 4.0, 4.0, 0.0, 0.0]
    """
    pieces = Pieces.of(model)
    starts = np.cumsum(pieces.lengths) - pieces.lengths
    kept = np.add.reduceat(~empty, starts, dtype=np.int64)
    factors = np.where(kept > 0, pieces.lengths / np.maximum(kept, 1), 0.0)
    return np.where(empty, 0.0, np.repeat(pieces.levels * factors, pieces.lengths))
