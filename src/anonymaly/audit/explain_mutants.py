# SPDX-License-Identifier: Apache-2.0
"""Broken variants of ``explain``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from anonymaly.ask.binding import Stage
from anonymaly.audit.case import Case
from anonymaly.audit.cases.explain import explain_case
from anonymaly.audit.mutants import Mutant
from anonymaly.declare.dataset import Declaration
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import Plan, make_plan
from anonymaly.questions.explain.mechanism import ContextOracle, release_context
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.explain.summary import Summary
from anonymaly.questions.explain.value import Context

Release = Callable[[Summary, Plan, Noise], Context | None]

SMALL = 6  # the populations of the worst pair's contexts are on both sides of it


def _released(release: Release, **options: Any) -> Case:
    """Return the case of an explain that releases in another way; its claims stay those of the real one."""

    class BrokenExplain(Explain):
        def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
            plan = make_plan(self, declaration)
            return tuple(
                dataclasses.replace(
                    stage, release=lambda summary, released, noise: release(summary, plan, noise)
                )
                for stage in super().stages(declaration)
            )

    return explain_case(**{"epsilon": "1", **options, "kind": BrokenExplain})


def _twice_the_rate(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    return release_context(summary, dataclasses.replace(plan, rate=2 * plan.rate), noise)


def _steered_start(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    """Begin at the best valid context instead of blind ones."""
    oracle = ContextOracle(summary, plan)
    every = np.arange(plan.space.size, dtype=np.int64)
    valid = every[oracle.valid(every)]
    if not len(valid):
        return None
    best = int(valid[np.argmax(oracle.utilities()[valid])])
    return release_context(summary, dataclasses.replace(plan, start=best, starts=1), noise)


def _domain_from_data(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    """Choose among contexts of values that occur, instead of all that are declared."""
    counts = summary.counts.others.reshape(plan.space.sizes)
    occurring = []
    for axis, own in enumerate(plan.space.own):
        seen = np.moveaxis(counts, axis, 0).reshape(counts.shape[axis], -1).any(axis=1)
        occurring.append(1 << own | sum(1 << int(value) for value in np.flatnonzero(seen)))
    oracle = ContextOracle(summary, plan)
    every = np.arange(plan.space.size, dtype=np.int64)
    known = np.array(
        [
            all(mask & ~seen == 0 for mask, seen in zip(plan.space.masks(index), occurring, strict=True))
            for index in range(plan.space.size)
        ]
    )
    candidates, valid = every[known], oracle.valid(every)[known]
    if not (summary.counts.present and valid.any()):
        return None
    chosen = candidates[noise.choose(oracle.utilities()[known], plan.rate, valid=valid)]
    return Context.of(plan.attributes, plan.space.masks(int(chosen)))


def _withheld_when_small(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    """Keep back a group of few records, as if that were safer: it tells its exact population."""
    context = release_context(summary, plan, noise)
    if context is None:
        return None
    population = ContextOracle(summary, plan).utilities()[plan.space.index_of_bits(context.bits)]
    return context if population >= SMALL else None


def _reused() -> Case:
    kept: list[Context | None] = []

    def release(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
        if not kept:
            kept.append(release_context(summary, plan, noise))
        return kept[0]

    return _released(release)


def _fixed_seed(summary: Summary, plan: Plan, noise: Noise) -> Context | None:
    return release_context(summary, plan, Noise.seeded(7))


EXPLAIN_MUTANTS: tuple[Mutant, ...] = (
    Mutant("rate × 2", "bound", lambda: _released(_twice_the_rate)),
    # Twice the rate is just what add/remove would have bought.
    Mutant(
        "replace charged like add/remove", "bound", lambda: _released(_twice_the_rate, adjacency="replace")
    ),
    Mutant("start steered by utility", "bound", lambda: _released(_steered_start, search="breadth_first")),
    Mutant("domain from data", "replay", lambda: _released(_domain_from_data)),
    Mutant("withheld when small", "bound", lambda: _released(_withheld_when_small)),
    Mutant("noise reused for a second answer", "replay", _reused),
    Mutant("fixed seed: given noise not used", "replay", lambda: _released(_fixed_seed)),
)
