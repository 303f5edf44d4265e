# SPDX-License-Identifier: Apache-2.0
"""Laplace noise in floating point: the last digits of an answer tell what the noise was added to.

A sum is rounded to the digits that a double of its size has. With 0 the noise keeps digits below 2^-53; added
to 1 it loses them. So a single answer with such a digit says that the count was not 1 (Mironov 2012).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import anonymaly as am
from anonymaly.noise import Noise

EPSILON = 0.5
NOBODY, SOMEBODY = 0, 1
drawn, noise = np.random.default_rng(), Noise.system()


def float_laplace(count: int) -> float:
    return float(count + drawn.laplace(0, 1 / EPSILON))


def integer_noise(count: int) -> int:
    return count + noise.two_sided_geometric(Fraction(1, 2))


def broken(samples: int = 2_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(float_laplace, NOBODY, SOMEBODY, epsilon=EPSILON, samples=samples)


def right(samples: int = 2_000) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(integer_noise, NOBODY, SOMEBODY, epsilon=EPSILON, samples=samples)


if __name__ == "__main__":
    print(f"numpy's Laplace noise: {broken()}\n")
    print(f"integer noise: {right()}")
