# SPDX-License-Identifier: Apache-2.0
"""The first stage of DAWA as it was published (Li et al. 2014), and the partition that replaces it here.

It cuts a histogram into buckets of even counts: each window has a noisy deviation and a price, and the
cheapest cut is taken. Two things are wrong in the published code. A window of one cell has no noise. And one
record makes some windows dearer and others cheaper, for which the noise is half as large as it must be.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import anonymaly as am
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods.dawa import partition_exponents
from anonymaly.questions.share_histogram.methods.rates import PARTITION_SHARE, dawa

EPSILON = 1
SHARE = float(PARTITION_SHARE * EPSILON)  # what the first stage may lose
PRICE = 1 / (EPSILON - SHARE)
CELLS = 8
SPIKE = CELLS // 2
TWO = tuple(2 * (cell == SPIKE) for cell in range(CELLS))
THREE = tuple(3 * (cell == SPIKE) for cell in range(CELLS))  # a neighbour: one record more
WINDOWS = [(end, length) for end in range(1, CELLS + 1) for length in (1, 2, 4, 8) if length <= end]
SCALES = np.array([0 if length == 1 else (2 - 1 / length - 1 / CELLS) / SHARE for _, length in WINDOWS])
RATES = dawa(Fraction(EPSILON), "add_remove", CELLS)
drawn, noise = np.random.default_rng(), Noise.system()


def deviations(counts: tuple[int, ...]) -> np.ndarray:
    windows = [np.array(counts[end - length : end]) for end, length in WINDOWS]
    return np.array([np.abs(window - window.mean()).sum() for window in windows])


DEVIATIONS = {counts: deviations(counts) for counts in (TWO, THREE)}  # once, and not for every draw


def published(counts: tuple[int, ...]) -> bool:
    """Say whether the spike has a bucket of its own: a part of what the first stage releases."""
    scores = np.maximum(DEVIATIONS[counts] + PRICE + drawn.laplace(size=len(WINDOWS)) * SCALES, 0)
    cheapest, last = [0.0], [0]
    for (end, length), score in zip(WINDOWS, scores.tolist(), strict=True):
        cost = cheapest[end - length] + score
        if length == 1:
            cheapest.append(cost)
            last.append(1)
        elif cost <= cheapest[end]:
            cheapest[end], last[end] = cost, length
    end = CELLS
    while end - last[end] > SPIKE:
        end -= last[end]
    return last[end] == 1


def replaced(counts: tuple[int, ...]) -> bool:
    """Return the same of a partition that is drawn by the exponential mechanism."""
    lengths = noise.partition(partition_exponents(np.array(counts), RATES))
    return int(lengths[np.searchsorted(np.cumsum(lengths), SPIKE, side="right")]) == 1


def broken(samples: int = 20_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(published, TWO, THREE, epsilon=SHARE, samples=samples)


def right(samples: int = 5_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(replaced, TWO, THREE, epsilon=SHARE, samples=samples)


if __name__ == "__main__":
    print(f"DAWA's first stage as published: {broken()}\n")
    print(f"the partition that replaces it: {right()}")
