# SPDX-License-Identifier: Apache-2.0
"""Two noisy counts and their ratio, as GUARANTEE.md proves."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.epsilon import to_fraction
from anonymaly.declare.declaration import Declaration
from anonymaly.noise import Noise


def noise_rate(share: int, declaration: Declaration) -> Fraction:
    """Return the rate of the noise on one count (Lemma 1)."""
    return to_fraction(share) / declaration.rows


def release(count: int, rate: Fraction, noise: Noise) -> int:
    """Return a count with two-sided geometric noise (Lemma 2)."""
    return count + noise.two_sided_geometric(rate)


def proportion(matching: int, others: int) -> float | None:
    """Return the ratio of released counts, within 0 and 1; None where it says nothing (post-processing)."""
    total = matching + others
    return min(max(matching / total, 0.0), 1.0) if total > 0 else None
