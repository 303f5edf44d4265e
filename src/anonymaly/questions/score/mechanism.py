# SPDX-License-Identifier: Apache-2.0
"""The stages of ``score``: unknown bounds, the number of records, edges, the model, its threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymaly.ask.binding import Released, Stage
from anonymaly.core.arrays import Floats, Integers
from anonymaly.noise import Noise, two_sided_geometric_deviation
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.bounds import release_bounds
from anonymaly.questions.score.methods.method import ScoringMethod
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_edges import FIRST_BINS, Edges, equal_edges, next_edges
from anonymaly.questions.score.methods.mixed_rule import COARSE, bins_for
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.summary import (
    count_bins,
    count_for,
    count_magnitudes,
    count_records,
    count_scores,
)
from anonymaly.questions.score.threshold import candidates, release_threshold
from anonymaly.questions.score.value import HeldModel, Model

if TYPE_CHECKING:
    import ibis.expr.types as ir


def stages(bound: ScoreBinding) -> tuple[Stage, ...]:
    """Return the stages among which the charge is divided."""
    made: dict[str, Callable[[ScoreBinding], Stage]] = {
        "bounds": _bounds,
        "records": _records,
        "coarse": partial(_edges, "coarse"),
        "finer": partial(_edges, "finer"),
        "model": _model,
        "threshold": _threshold,
    }
    return tuple(made[name](bound) for name in bound.shares)


def _bounds(bound: ScoreBinding) -> Stage:
    """Find the bounds of unbounded columns."""
    return Stage(
        name="bounds",
        summarise=lambda table, released: count_magnitudes(table, _complete(bound), bound.unknown),
        release=lambda counts, released, noise: release_bounds(counts, bound.rate("bounds"), noise),
    )


def _records(bound: ScoreBinding) -> Stage:
    """Count the records, for the rule that chooses parameters."""
    return Stage(
        name="records",
        summarise=lambda table, released: count_records(table, _complete(bound)),
        release=lambda count, released, noise: count + noise.two_sided_geometric(bound.rate("records")),
    )


def _complete(bound: ScoreBinding) -> tuple[str, ...]:
    """Return the columns in which a record must have a value to be counted."""
    return () if bound.mixed else bound.columns


@dataclass(frozen=True)
class FoundEdges:
    """What a stage before the model released: each number's edges, and coins for random directions."""

    edges: tuple[Edges, ...]
    coins: int


def _edges(name: str, bound: ScoreBinding) -> Stage:
    """Find where the records are, so that the next stage's bins follow them."""

    def before(method: MixedMethod, released: Released) -> tuple[Edges, ...]:
        found: FoundEdges | None = released.get("coarse")
        return found.edges if found is not None else (equal_edges(FIRST_BINS),) * method.numbers

    def summarise(table: ir.Table, released: Released) -> Integers | None:
        method, space = planned(bound, released)
        if not isinstance(method, MixedMethod) or not method.adaptive:
            return None  # the released number of records says so; nothing is spent here
        return count_bins(method, space, table, before(method, released))

    def release(counts: Integers | None, released: Released, noise: Noise) -> FoundEdges | None:
        method, _ = planned(bound, released)
        if counts is None or not isinstance(method, MixedMethod):
            return None
        rate, edges = bound.rate(name), before(method, released)
        noisy = noise.add_two_sided_geometric(counts, rate)
        parts = np.split(noisy, np.cumsum([len(each) - 1 for each in edges])[:-1])
        deviation, last = two_sided_geometric_deviation(rate), name == "finer"
        bins = method.bins if last else bins_for(bound.facts(_number(bound, released)), COARSE)
        found = tuple(
            next_edges(part, each, deviation, bins) for part, each in zip(parts, edges, strict=True)
        )
        return FoundEdges(found, noise.uniform(2**63) if last and method.sketches else 0)

    return Stage(name=name, summarise=summarise, release=release)


def _number(bound: ScoreBinding, released: Released) -> int | None:
    """Return the number of records that rules may use: the given one, or the released one."""
    return bound.records(released.get("records"))


def _model(bound: ScoreBinding) -> Stage:
    """Count as the method wants, and release its model."""

    def release(counts: Any, released: Released, noise: Noise) -> Model:
        method, space = planned(bound, released)
        body = method.release(counts, bound.model_rate(method), noise)
        # Seeded noise can be subtracted, so nothing is promised.
        promised = None if noise.reproducible else bound.guarantee
        kind = HeldModel if method.held else Model
        model = kind(method, space, body, promised, rows=bound.asked.rows)
        if bound.quantile is None or "threshold" in bound.shares:
            return model
        return model.with_quantile(float(bound.quantile.part))

    return Stage(
        name="model",
        summarise=lambda table, released: count_for(*planned(bound, released), table),
        release=release,
    )


def planned(bound: ScoreBinding, released: Released) -> tuple[ScoringMethod, Space]:
    """Return the method and the columns' bounds, using what earlier stages released."""
    found = dict(zip(bound.unknown, released.get("bounds", ()), strict=True))
    method, bounds = bound.method(released.get("records")), {**bound.known, **found}
    if isinstance(method, MixedMethod):
        edges: FoundEdges | None = released.get("finer")
        if edges is not None:
            method = replace(method, edges=edges.edges, coins=edges.coins)
        return method, MixedSpace.of(bound.columns, bound.domains, bounds)
    lows, highs = zip(*(bounds[name] for name in bound.columns), strict=True)
    return method, Space(bound.columns, lows, highs)


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
