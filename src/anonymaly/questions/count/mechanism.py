# SPDX-License-Identifier: Apache-2.0
"""Counts plus two-sided geometric noise, calibrated as Lemmas 2 and 4 of GUARANTEE.md say."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.ask.binding import Stage
from anonymaly.noise import Noise
from anonymaly.questions.count.binding import CountBinding
from anonymaly.questions.count.summary import count_each, count_matching


def stages(bound: CountBinding) -> tuple[Stage, ...]:
    """Count on the engine, then add noise."""
    if bound.predicates is not None:
        filters = bound.predicates
        return (
            Stage(
                name="count",
                summarise=lambda table, released: count_each(table, filters),
                release=lambda counts, released, noise: release_counts(counts, bound.rate, noise),
            ),
        )
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


def release_counts(counts: list[int], rate: Fraction, noise: Noise) -> list[int]:
    """Return each count with noise of its own."""
    return [int(count) for count in noise.add_two_sided_geometric(counts, rate)]
