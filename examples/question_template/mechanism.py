# SPDX-License-Identifier: Apache-2.0
"""Two noisy counts and their ratio, as GUARANTEE.md proves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from anonymaly.ask.binding import Stage
from anonymaly.noise import Noise
from anonymaly.questions.proportion.binding import ProportionBinding
from anonymaly.questions.proportion.summary import count_where


def stages(bound: ProportionBinding) -> tuple[Stage, ...]:
    """Count those that match, then those that do not; the last stage returns the answer."""
    return (
        Stage(
            name="matching",
            summarise=lambda table, released: count_where(table, bound.predicate, True),
            release=lambda count, released, noise: release(count, bound.rate("matching"), noise),
        ),
        Stage(
            name="others",
            summarise=lambda table, released: count_where(table, bound.predicate, False),
            release=lambda count, released, noise: compare(
                released["matching"], release(count, bound.rate("others"), noise)
            ),
        ),
    )


def release(count: int, rate: Fraction, noise: Noise) -> int:
    """Return a count with two-sided geometric noise (Lemma 2)."""
    return count + noise.two_sided_geometric(rate)


def compare(matching: int, others: int) -> dict[str, Any]:
    """Return both released counts and their ratio, between 0 and 1, or None if their sum is not positive.

    This is post-processing, which costs nothing.
    """
    total = matching + others
    ratio = min(max(matching / total, 0.0), 1.0) if total > 0 else None
    return {"matching": matching, "others": others, "proportion": ratio}
