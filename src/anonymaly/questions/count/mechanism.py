# SPDX-License-Identifier: Apache-2.0
"""A count plus two-sided geometric noise, calibrated as Lemma 2 of GUARANTEE.md says."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.ask.binding import Stage
from anonymaly.noise import Noise
from anonymaly.questions.count.binding import CountBinding
from anonymaly.questions.count.summary import count_matching


def stages(bound: CountBinding) -> tuple[Stage, ...]:
    """Count on the engine, then add noise."""
    return (
        Stage(
            name="count",
            summarise=lambda table, released: count_matching(table, bound.predicate),
            release=lambda count, released, noise: release_count(count, bound.rate, noise),
        ),
    )


def release_count(count: int, rate: Fraction, noise: Noise) -> int:
    """Return the count with noise; it may be negative, because clipping would bias sums of answers."""
    return count + noise.two_sided_geometric(rate)
