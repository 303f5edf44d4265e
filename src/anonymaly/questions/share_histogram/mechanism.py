# SPDX-License-Identifier: Apache-2.0
"""Every cell counted, then released by the chosen method, with the noise that GUARANTEE.md says."""

from __future__ import annotations

from anonymaly.ask.binding import Stage
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.binding import ShareHistogramBinding
from anonymaly.questions.share_histogram.summary import CellCounts, count_judged_cells
from anonymaly.questions.share_histogram.value import ReleasedHistogram


def stages(bound: ShareHistogramBinding) -> tuple[Stage, ...]:
    """Count every cell on the engine, then release the counts by the method."""
    return (
        Stage(
            name="histogram",
            summarise=lambda table, released: count_judged_cells(table, bound.by),
            release=lambda counts, released, noise: release_histogram(counts, bound, noise),
        ),
    )


def release_histogram(counts: CellCounts, bound: ShareHistogramBinding, noise: Noise) -> ReleasedHistogram:
    """Return an estimate for every cell, and what sums are taken of, if the method gives that too."""
    views = bound.method.views(
        counts.every, counts.non_sensitive, rates=bound.rates, noise=noise, facts=bound.facts
    )
    return ReleasedHistogram(bound.by, views.cells, views.sums)
