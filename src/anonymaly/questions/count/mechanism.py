# SPDX-License-Identifier: Apache-2.0
"""A count plus two-sided geometric noise, calibrated as Lemma 2 of GUARANTEE.md says."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.epsilon import to_fraction
from anonymaly.declare.declaration import Declaration
from anonymaly.noise import Noise


def noise_rate(share: int, declaration: Declaration) -> Fraction:
    """Return the noise's rate: the share of ε divided by how much one person can change the count.

    Lemma 1: that is the most rows a person has, in both adjacencies.
    """
    return to_fraction(share) / declaration.rows


def release_count(count: int, rate: Fraction, noise: Noise) -> int:
    """Return the count with noise; it may be negative, because clipping would bias sums of answers."""
    return count + noise.two_sided_geometric(rate)
