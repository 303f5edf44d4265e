# SPDX-License-Identifier: Apache-2.0
"""Means with the confidence interval that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.90


@dataclass(frozen=True)
class Sample:
    """The mean of some measurements, its 90 % confidence interval, their range and number."""

    mean: float
    low: float
    high: float
    least: float
    most: float
    number: int


def sample(values: Sequence[float]) -> Sample:
    """Sum measurements up; the interval is Student's.

    Examples
    --------
    >>> found = sample([0.8, 0.9, 1.0])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.9, 0.731, 1.069)
    """
    if not values:
        return Sample(math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    numbers = np.asarray(values, dtype=np.float64)
    mean, count = float(numbers.mean()), len(numbers)
    half = 0.0
    if count > 1:
        deviation = float(numbers.std(ddof=1)) / math.sqrt(count)
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * deviation
    return Sample(mean, mean - half, mean + half, float(numbers.min()), float(numbers.max()), count)
