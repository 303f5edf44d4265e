# SPDX-License-Identifier: Apache-2.0
"""The stages of ``score``: bounds and number of records where nobody knows them, the model, its threshold."""

from __future__ import annotations

from typing import Any

from anonymaly.ask.binding import Released, Stage
from anonymaly.core.arrays import Floats
from anonymaly.noise import Noise
from anonymaly.promise import Guarantee
from anonymaly.questions.score.bounds import release_bounds
from anonymaly.questions.score.model import HeldModel, Model
from anonymaly.questions.score.plan import Plan
from anonymaly.questions.score.summary import count_for, count_magnitudes, count_records, count_scores
from anonymaly.questions.score.threshold import candidates, release_threshold


class Stages:
    """The stages by name; each reads rows through `summary`, or draws, never both."""

    def __init__(self, plan: Plan, guarantee: Guarantee) -> None:
        self.plan, self.guarantee = plan, guarantee

    def bounds(self, share: int) -> Stage:
        """Find the bounds that nobody knows."""
        plan, rate = self.plan, self.plan.rate("bounds")
        return Stage(
            name="bounds",
            share=share,
            summarise=lambda table, released: count_magnitudes(table, plan.columns, plan.unknown),
            release=lambda counts, released, noise: release_bounds(counts, rate, noise),
        )

    def records(self, share: int) -> Stage:
        """Count the records, for the rule that chooses parameters."""
        plan, rate = self.plan, self.plan.rate("records")
        return Stage(
            name="records",
            share=share,
            summarise=lambda table, released: count_records(table, plan.columns),
            release=lambda count, released, noise: count + noise.two_sided_geometric(rate),
        )

    def model(self, share: int) -> Stage:
        """Count as the method wants, and release its model."""
        plan = self.plan

        def release(counts: Any, released: Released, noise: Noise) -> Model:
            method = plan.method(released)
            body = method.release(counts, plan.rate("model"), noise)
            # With a seed the noise can be subtracted, so that nothing is promised.
            promised = None if noise.reproducible else self.guarantee
            kind = HeldModel if method.held else Model
            return kind(method, plan.space(released), body, promised)

        return Stage(
            name="model",
            share=share,
            summarise=lambda table, released: count_for(plan.method(released), table, plan.space(released)),
            release=release,
        )

    def threshold(self, share: int) -> Stage:
        """Find the threshold above which a part of the reference records scores."""
        plan, rate = self.plan, self.plan.rate("threshold")

        def edges(released: Released) -> Floats:
            model: Model = released["model"]
            return candidates(*model.score_range)

        def release(counts: Any, released: Released, noise: Noise) -> Model:
            if plan.quantile is None:
                raise AssertionError("a threshold without a contamination")
            found = release_threshold(counts, edges(released), plan.quantile, rate, noise)
            model: Model = released["model"]
            return model.with_threshold(float(plan.quantile.part), found)

        return Stage(
            name="threshold",
            share=share,
            summarise=lambda table, released: count_scores(table, released["model"], edges(released)),
            release=release,
        )
