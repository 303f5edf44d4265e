# SPDX-License-Identifier: Apache-2.0
"""Counts plus two-sided noise, smoothed: differential privacy, nearer to sparse or level histograms."""

from __future__ import annotations

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.kernels.smoothing import smooth
from anonymaly.questions.share_histogram.methods.counts import Rates
from anonymaly.questions.share_histogram.methods.geometric import geometric


def smoothed(every: Integers, non_sensitive: Integers | None, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts of which none is negative, and runs of which may be level.

    Examples
    --------
    >>> counts = [0] * 40 + [60, 61, 59, 60]
    >>> smoothed(counts, None, rates={"two_sided": 1}, noise=Noise.seeded(1)).tolist()[38:]
    [0, 0, 60, 60, 60, 60]
    """
    return smooth(geometric(every, non_sensitive, rates=rates, noise=noise), rates["two_sided"])
