# SPDX-License-Identifier: Apache-2.0
"""All records' counts plus two-sided noise: plain differential privacy, which needs no policy."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.kernels.smoothing import smooth
from anonymaly.questions.share_histogram.kernels.windows import Numbers
from anonymaly.questions.share_histogram.methods.rates import Rates


def geometric(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts with noise; they may be negative."""
    return noise.add_two_sided_geometric(every, rates["two_sided"])


def smoothed(
    every: Integers,
    non_sensitive: Integers,
    *,
    rates: Rates,
    noise: Noise,
    shape: tuple[int, ...] | None = None,
) -> Integers:
    """Return counts of which none is negative, and runs of which may be level, or boxes of several columns.

    They are nearer to sparse or level histograms, at the same promise (Lemma 0).

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([0] * 40 + [60, 61, 59, 60])
    >>> smoothed(counts, counts, rates={"two_sided": 1}, noise=Noise.seeded(1)).tolist()[38:]
    [0, 0, 60, 60, 60, 60]
    """
    released = geometric(every, non_sensitive, rates=rates, noise=noise)
    return or_largest(smooth(released, rates["two_sided"], shape=shape), released)


def or_largest(levels: Numbers, released: Numbers) -> Numbers:
    """Return smoothed counts; if nothing is left of them, the largest released one stands, if it is positive.

    A histogram of zeros says that nobody is there, which noise alone seldom says.

    Examples
    --------
    >>> import numpy as np
    >>> or_largest(np.array([0, 0]), np.array([-3, 2])).tolist()
    [0, 2]
    """
    if levels.any():
        return levels
    place = int(np.argmax(released))
    levels[place] = max(released[place], 0)
    return levels
