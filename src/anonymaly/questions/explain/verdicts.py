# SPDX-License-Identifier: Apache-2.0
"""Which kernel judges a detector's verdicts, and what it is fed from the summary."""

from __future__ import annotations

from anonymaly.detectors import Grubbs, Histogram, LocalOutlierFactor
from anonymaly.questions.explain.binding import Plan
from anonymaly.questions.explain.kernels.kernel import (
    GenericKernel,
    GrubbsKernel,
    HistogramKernel,
    Kernel,
    LofKernel,
)
from anonymaly.questions.explain.summary import Summary


def make_kernel(summary: Summary, plan: Plan) -> Kernel:
    """Return the detector's kernel with the summaries it needs."""
    detector, space, value = plan.detector, plan.space, plan.steps
    if isinstance(detector, LocalOutlierFactor) and summary.nearest is not None:
        below, above = summary.nearest
        return LofKernel(space, value, below.values, below.offsets, above.values, above.offsets, detector)
    if isinstance(detector, Grubbs) and summary.moments is not None:
        moments = summary.moments
        return GrubbsKernel(space, summary.counts.others, moments.sums, moments.squares(), detector)
    if summary.values is None:
        raise AssertionError(f"{detector.name} names a summary that no kernel takes")
    if isinstance(detector, Histogram):
        return HistogramKernel(space, value, summary.values.values, summary.values.offsets, detector)
    return GenericKernel(space, value, summary.values.values, summary.values.offsets, detector)
