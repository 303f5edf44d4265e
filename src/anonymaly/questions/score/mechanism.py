# SPDX-License-Identifier: Apache-2.0
"""The stages of ``score``: unknown bounds, the number of records, the model, its threshold."""

from __future__ import annotations

from typing import Any

from anonymaly.ask.binding import Released, Stage
from anonymaly.core.arrays import Floats
from anonymaly.noise import Noise
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.bounds import release_bounds
from anonymaly.questions.score.methods.method import ScoringMethod
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.summary import count_for, count_magnitudes, count_records, count_scores
from anonymaly.questions.score.threshold import candidates, release_threshold
from anonymaly.questions.score.value import HeldModel, Model


def stages(bound: ScoreBinding) -> tuple[Stage, ...]:
    """Return the stages among which the charge is divided."""
    made = {"bounds": _bounds, "records": _records, "model": _model, "threshold": _threshold}
    return tuple(made[name](bound) for name in bound.shares)


def _bounds(bound: ScoreBinding) -> Stage:
    """Find the bounds of unbounded columns."""
    return Stage(
        name="bounds",
        summarise=lambda table, released: count_magnitudes(table, bound.columns, bound.unknown),
        release=lambda counts, released, noise: release_bounds(counts, bound.rate("bounds"), noise),
    )


def _records(bound: ScoreBinding) -> Stage:
    """Count the records, for the rule that chooses parameters."""
    return Stage(
        name="records",
        summarise=lambda table, released: count_records(table, bound.columns),
        release=lambda count, released, noise: count + noise.two_sided_geometric(bound.rate("records")),
    )


def _model(bound: ScoreBinding) -> Stage:
    """Count as the method wants, and release its model."""

    def release(counts: Any, released: Released, noise: Noise) -> Model:
        method, space = planned(bound, released)
        body = method.release(counts, bound.rate("model"), noise)
        # Seeded noise can be subtracted, so nothing is promised.
        promised = None if noise.reproducible else bound.guarantee
        kind = HeldModel if method.held else Model
        return kind(method, space, body, promised, rows=bound.asked.rows)

    return Stage(
        name="model",
        summarise=lambda table, released: count_for(*planned(bound, released), table),
        release=release,
    )


def planned(bound: ScoreBinding, released: Released) -> tuple[ScoringMethod, Space]:
    """Return the method and the columns' bounds, using what earlier stages released."""
    found = dict(zip(bound.unknown, released.get("bounds", ()), strict=True))
    pairs = [bound.known[name] if name in bound.known else found[name] for name in bound.columns]
    space = Space(bound.columns, tuple(low for low, _ in pairs), tuple(high for _, high in pairs))
    return bound.method(released.get("records")), space


def _threshold(bound: ScoreBinding) -> Stage:
    """Find the threshold above which a part of the reference records scores."""

    def edges(released: Released) -> Floats:
        model: Model = released["model"]
        return candidates(*model.score_range)

    def release(counts: Any, released: Released, noise: Noise) -> Model:
        if bound.quantile is None:
            raise AssertionError("a threshold without a contamination")
        rate = bound.rate("threshold")
        found = release_threshold(counts, edges(released), bound.quantile, rate, noise)
        model: Model = released["model"]
        return model.with_threshold(float(bound.quantile.part), found)

    return Stage(
        name="threshold",
        summarise=lambda table, released: count_scores(table, released["model"], edges(released)),
        release=release,
    )
