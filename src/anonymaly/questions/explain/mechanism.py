# SPDX-License-Identifier: Apache-2.0
"""From the summaries of base cells to one context: verdicts, utilities, a search and its draws.

That is the form under a rule; that for everyone is in its own folder.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from anonymaly.ask.binding import Stage
from anonymaly.core.arrays import Booleans, Integers
from anonymaly.core.progress import tell
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import ExplainBinding
from anonymaly.questions.explain.everyone import mechanism as everyone
from anonymaly.questions.explain.everyone.binding import EveryoneBinding
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.kernels.cells import CellSummary
from anonymaly.questions.explain.kernels.kernel import Kernel
from anonymaly.questions.explain.kernels.populations import overlaps, populations, totals
from anonymaly.questions.explain.summary import Summary, summarise
from anonymaly.questions.explain.value import Context


def stages(bound: ExplainBinding | EveryoneBinding) -> tuple[Stage, ...]:
    """Return the stages of the form that was bound; under a rule, choose among the valid contexts."""
    if isinstance(bound, EveryoneBinding):
        return everyone.stages(bound)
    return (
        Stage(
            name="context",
            summarise=lambda table, released: summarise(table, bound),
            release=lambda summary, released, noise: release_context(summary, bound, noise),
        ),
    )


def release_context(summary: Summary, bound: ExplainBinding, noise: Noise) -> Context | None:
    """Choose a context; None is the one constant outcome, whichever of its reasons holds."""
    if not summary.counts.present:
        return None
    contexts = SummarisedContexts(summary, bound)
    index = bound.search.run(contexts, bound.settings, rate=bound.rate, noise=noise)
    return None if index is None else Context.of(bound.attributes, bound.space.masks(index))


def make_kernel(cells: CellSummary, bound: ExplainBinding) -> Kernel[Any, Any]:
    """Return the kernel of the question's detector over these cells."""
    return kernel_type(bound.detector)(bound.space, cells, bound.detector)


class SummarisedContexts:
    """What a search may ask, worked out from the summary: which contexts are valid, and their utility."""

    def __init__(self, summary: Summary, bound: ExplainBinding) -> None:
        self._summary, self._bound, self._space = summary, bound, bound.space

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""
        return self._space.free_bits

    @cached_property
    def kernel(self) -> Kernel[Any, Any]:
        """What judges the record in a context."""
        return make_kernel(self._summary.cells, self._bound)

    @cached_property
    def _counted(self) -> Integers:
        """How many records of each base cell count for the utility (Lemma 1)."""
        others = self._summary.counts.others
        if self._bound.target is None:
            return others
        inside = self._space.members([self._space.index(self._bound.target)])[0]
        return np.where(inside, others, 0)

    def valid(self, chosen: Integers) -> Booleans:
        """Say of each context whether the record stands out in it."""
        # All of them at once share their work, which a few of them do not.
        if len(chosen) == self._space.size:
            size = self._space.size
            return self.kernel.valid(lambda done: tell("groups", done, size))[chosen]
        return self.kernel.valid_at(chosen)

    def utility(self, chosen: Integers) -> Integers:
        """Return the population of each context, or its overlap with the target."""
        if len(chosen) == self._space.size:
            return self.utilities()[chosen]
        return totals(self._space, chosen, self._counted) + 1

    def utilities(self) -> Integers:
        """Return the utility of every context."""
        if self._bound.target is None:
            return populations(self._space, self._summary.counts.others)
        return overlaps(self._space, self._summary.counts.others, self._bound.target)
