# SPDX-License-Identifier: Apache-2.0
"""The χ² test that every sampler must pass, and fail when its law is changed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import stats

FALSE_ALARM = 1e-9  # of one test, were its seed fresh
DRAWS = 100_000


def chi_square(observed: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """Return the p-value, after joining neighbouring outcomes until each is expected at least ten times."""
    counts, masses = np.asarray(observed, float), np.asarray(probabilities, float)
    assert abs(masses.sum() - 1) < 1e-9
    total = counts.sum()
    joined: list[list[float]] = [[0.0, 0.0]]
    for count, mass in zip(counts, masses, strict=True):
        if joined[-1][1] * total >= 10:
            joined.append([0.0, 0.0])
        joined[-1][0] += count
        joined[-1][1] += mass
    if len(joined) > 1 and joined[-1][1] * total < 10:
        count, mass = joined.pop()
        joined[-1][0] += count
        joined[-1][1] += mass
    assert len(joined) > 1
    table = np.array(joined)
    expected = table[:, 1] * total
    return float(stats.chi2.sf(((table[:, 0] - expected) ** 2 / expected).sum(), len(table) - 1))


def fit(samples: npt.NDArray[np.int64], cumulative: Callable[[float], float], edges: list[int]) -> float:
    """Return the p-value of samples against P(X <= x), in the bins between edges."""
    edges = sorted(set(edges))
    below = np.array([np.count_nonzero(samples <= edge) for edge in edges] + [len(samples)])
    masses = np.array([cumulative(edge) for edge in edges] + [1.0])
    return chi_square(np.diff(below, prepend=0), np.diff(masses, prepend=0.0))


def two_sided_cumulative(rate: float) -> Callable[[float], float]:
    def cumulative(x: float) -> float:
        if x < 0:
            return float(np.exp(rate * x) / (1 + np.exp(-rate)))
        return float(1 - np.exp(-rate * (x + 1)) / (1 + np.exp(-rate)))

    return cumulative


def one_sided_cumulative(rate: float) -> Callable[[float], float]:
    return lambda x: float(-np.expm1(-rate * (x + 1))) if x >= 0 else 0.0


def two_sided_edges(rate: Fraction) -> list[int]:
    positive = [int(-np.log(1 - level) / float(rate)) for level in np.linspace(0, 0.99, 30)]
    return positive + [-edge - 1 for edge in positive]


def one_sided_edges(rate: Fraction) -> list[int]:
    return [int(-np.log(1 - level) / float(rate)) for level in np.linspace(0, 0.99, 40)]
