# SPDX-License-Identifier: Apache-2.0
"""The lookahead mechanism of Asif et al. 2021, corrected: noise on every count that may protect somebody."""

from __future__ import annotations

import numpy as np

from anonymaly.ask.binding import Stage
from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.lookahead.binding import LookaheadBinding
from anonymaly.questions.lookahead.summary import count_records
from anonymaly.questions.lookahead.value import CountTable


def stages(bound: LookaheadBinding) -> tuple[Stage, ...]:
    """Count every cell, then add noise where it is due."""
    return (
        Stage(
            name="counts",
            summarise=lambda table, released: count_records(table, bound.attributes),
            release=lambda counts, released, noise: release_counts(counts, bound, noise),
        ),
    )


def release_counts(counts: Integers, bound: LookaheadBinding, noise: Noise) -> CountTable:
    """Add noise to every count that a protected record can be part of, before or after it comes (Lemma 1)."""
    # Drawn for all of them: the number of draws must not show how many counts are small.
    noisy = noise.add_two_sided_geometric(counts, bound.rate)
    kept = np.where(counts >= bound.least, noisy, counts)
    return CountTable(bound.attributes, tuple(int(count) for count in kept))
