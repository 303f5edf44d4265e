# SPDX-License-Identifier: Apache-2.0
"""A mean whose bounds are the smallest and the largest value of the data: the noise tells how large they are.

Noise for the width of the data hides a change within that width. Whoever makes the width is not hidden.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import anonymaly as am
from anonymaly.noise import Noise

EPSILON = 1
LOW, HIGH = 0, 120  # declared, before anybody looked
AGES = [34, 41, 29, 52, 47, 38, 61, 33, 45, 50]
WITH_A_TYPO = [*AGES[:-1], 5_000]  # a neighbour: one record replaced
drawn, noise = np.random.default_rng(), Noise.system()


def bounds_from_data(ages: list[int]) -> float:
    width = max(ages) - min(ages)
    return float(np.round(np.mean(ages) + drawn.laplace(0, width / (len(ages) * EPSILON)), 2))


def declared_bounds(ages: list[int]) -> float:
    total = sum(min(max(age, LOW), HIGH) for age in ages)
    # A replaced record moves the sum by the declared width; how many there are is public here.
    return (total + noise.two_sided_geometric(Fraction(EPSILON, HIGH - LOW))) / len(ages)


def broken(samples: int = 2_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(bounds_from_data, AGES, WITH_A_TYPO, epsilon=EPSILON, samples=samples)


def right(samples: int = 2_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(declared_bounds, AGES, WITH_A_TYPO, epsilon=EPSILON, samples=samples)


if __name__ == "__main__":
    print(f"bounds from the data: {broken()}\n")
    print(f"declared bounds: {right()}")
