# SPDX-License-Identifier: Apache-2.0
"""One-sided counts, 0 where negative, else with the noise's median added (004, Algorithm 2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise, one_sided_geometric_quantile
from anonymaly.questions.share_histogram.methods.counts import Rates
from anonymaly.questions.share_histogram.methods.one_sided import one_sided


def one_sided_l1(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return counts whose positive ones are too high as often as too low; not unbiased.

    A bin without non-sensitive records always gives 0.

    Examples
    --------
    >>> one_sided_l1([9, 0], [7, 0], rates={"one_sided": Fraction(1)}, noise=Noise.seeded(1)).tolist()
    [5, 0]
    """
    counts = one_sided(every, non_sensitive, rates=rates, noise=noise)
    median = one_sided_geometric_quantile(rates["one_sided"], Fraction(1, 2))
    return np.where(counts > 0, counts + median, 0)
