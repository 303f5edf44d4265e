# SPDX-License-Identifier: Apache-2.0
"""The choice of one candidate, better ones more likely: permute-and-flip and the exponential mechanism.

Both take time proportional to the number of candidates, whatever their utilities.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anonymaly.noise import arrays
from anonymaly.noise.bounds import ceiling_divide, exp_minus
from anonymaly.noise.chacha import Words
from anonymaly.noise.probability import decide

Utilities = npt.NDArray[np.int64]

CLASSES = 128
# A little below 1/log 2 = 1.4427, so that exp(-g) <= 2^-floor(g·36/25).
HALVINGS_PER_UNIT = Fraction(36, 25)


def permute_and_flip(key: bytes, words: Words, utilities: Utilities, rate: Fraction) -> int:
    """Choose by permute-and-flip (McKenna, Sheldon 2020).

    The mechanism walks a random permutation and stops at the first candidate whose flip succeeds, which has
    probability exp(-rate·(best - utility)). Flips and permutation are independent, so it is the same to flip
    all and choose uniformly among the successes; the best candidate always succeeds.
    """
    flips = np.empty(len(utilities), np.bool_)
    gaps = utilities.max() - utilities
    arrays.fill(arrays.flips, key, flips, gaps, (rate.numerator, rate.denominator))
    successes = np.flatnonzero(flips)
    return int(successes[words.below(len(successes))])


def exponential(words: Words, utilities: Utilities, rate: Fraction) -> int:
    """Choose with probability proportional to exp(rate·utility), by rejection within classes.

    Plain rejection of uniform candidates may need as many tries as there are candidates. So they are sorted
    into classes by gap g = rate·(best - utility): class j = floor(1.44·g), at most CLASSES. A candidate of
    class j is proposed with weight 2^-j >= exp(-g) and accepted with probability exp(-g)·2^j. In the classes
    below the last that is at least 2^-1.3, and the last one holds at most a share of n·2^-128 of the weight,
    so fewer than three proposals are expected.
    """
    gaps = utilities.max() - utilities
    step = HALVINGS_PER_UNIT * rate
    edges = [ceiling_divide(j * step.denominator, step.numerator) for j in range(1, CLASSES + 1)]
    # Utilities are below 2^62 in size, so no gap reaches an edge cut here.
    cut = np.array([min(edge, 2**63 - 1) for edge in edges], np.int64)
    classes = np.searchsorted(cut, gaps, side="right").astype(np.uint8)
    counts = [int(count) for count in np.bincount(classes, minlength=CLASSES + 1)]
    weights = [count << (CLASSES - j) for j, count in enumerate(counts)]
    total = sum(weights)
    while True:
        ticket = words.below(total)
        chosen = 0
        while ticket >= weights[chosen]:
            ticket -= weights[chosen]
            chosen += 1
        # The ticket is uniform within the class's weight, and its quotient uniform within its members.
        index = int(np.flatnonzero(classes == chosen)[ticket >> (CLASSES - chosen)])
        gap = rate * int(gaps[index])

        def bounds(bits: int, gap: Fraction = gap, halvings: int = chosen) -> tuple[int, int]:
            return exp_minus(gap, bits + halvings)

        if decide(words, bounds):
            return index
