# SPDX-License-Identifier: Apache-2.0
"""From the summaries of base cells to one context: verdicts, utilities, a search and its draws."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.core.progress import tell
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import Plan
from anonymaly.questions.explain.kernels.kernel import Kernel
from anonymaly.questions.explain.kernels.populations import overlaps, populations, totals
from anonymaly.questions.explain.summary import Summary
from anonymaly.questions.explain.value import Context
from anonymaly.questions.explain.verdicts import make_kernel


class ContextOracle:
    """What a search may ask: which contexts are valid, and what they are worth."""

    def __init__(self, summary: Summary, plan: Plan) -> None:
        self._summary, self._plan = summary, plan

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""
        return self._plan.space.free_bits

    @cached_property
    def _kernel(self) -> Kernel:
        return make_kernel(self._summary, self._plan)

    @cached_property
    def _counted(self) -> Integers:
        """How many records of each base cell count for the utility (Lemma 1)."""
        others = self._summary.counts.others
        if self._plan.target is None:
            return others
        inside = self._plan.space.members([self._plan.space.index(self._plan.target)])[0]
        return np.where(inside, others, 0)

    def valid(self, contexts: Integers) -> Booleans:
        """Say of each context whether the record stands out in it."""
        # All of them at once share their work, which a few of them do not.
        if len(contexts) == self._plan.space.size:
            size = self._plan.space.size
            return self._kernel.valid(lambda done: tell("groups", done, size))[contexts]
        return self._kernel.valid_at(contexts)

    def utility(self, contexts: Integers) -> Integers:
        """Return the population of each context, or its overlap with the target."""
        if len(contexts) == self._plan.space.size:
            return self.utilities()[contexts]
        return totals(self._plan.space, contexts, self._counted) + 1

    def utilities(self) -> Integers:
        """Return the utility of every context."""
        if self._plan.target is None:
            return populations(self._plan.space, self._summary.counts.others)
        return overlaps(self._plan.space, self._summary.counts.others, self._plan.target)


def release_context(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    """Choose a context; None is the one constant outcome, whichever of its reasons holds."""
    if not summary.counts.present:
        return None
    index = plan.search.run(
        ContextOracle(summary, plan),
        rate=plan.rate,
        noise=noise,
        start=plan.start,
        starts=plan.starts,
        samples=plan.samples,
        tries=plan.tries,
    )
    return None if index is None else Context.of(plan.attributes, plan.space.masks(index))
