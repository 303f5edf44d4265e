# SPDX-License-Identifier: Apache-2.0
"""Broken variants of ``score``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymaly.ask.binding import Released, Stage
from anonymaly.audit.case import Case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.score_case import score_case, score_stages_case
from anonymaly.declare.declaration import Declaration
from anonymaly.engine.statements import collect
from anonymaly.noise import Noise
from anonymaly.questions.score.grid import Grid
from anonymaly.questions.score.model import HeldModel, Model
from anonymaly.questions.score.plan import make_plan
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.summary import count_for

if TYPE_CHECKING:
    import ibis.expr.types as ir

Release = Callable[[Any, Model, Fraction, Noise], Model]
Change = Callable[[Score, Stage, Declaration], Stage]


def _changed(name: str, change: Change) -> type[Score]:
    """Return a Score of which one stage is changed."""

    class BrokenScore(Score):
        def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
            return tuple(
                change(self, stage, declaration) if stage.name == name else stage
                for stage in super().stages(declaration)
            )

    return BrokenScore


def _released(release: Release, **options: Any) -> Case:
    """Return the case of a score that releases in another way, given what the real one would release."""

    def change(query: Score, stage: Stage, declaration: Declaration) -> Stage:
        rate = make_plan(query, declaration).rate("model")
        return dataclasses.replace(
            stage,
            release=lambda counts, released, noise: release(
                counts, stage.release(counts, released, noise), rate, noise
            ),
        )

    return score_case(**{"epsilon": "1", **options, "kind": _changed("model", change)})


def _with_body(model: Model, **body: Any) -> Model:
    inside = {**model._body, **body}  # which a held model shows to nobody else
    return type(model)(model.method, model.space, inside, model.guarantee)


def _twice_the_rate(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    return _with_body(model, **model.method.release(counts, 2 * rate, noise))


def _only_occupied(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    """Noise the cells that have records, and publish none of the others."""
    grid = model.method
    assert isinstance(grid, Grid)  # noqa: S101 - the audited method
    cells, records = grid.lattice.unpack(counts)
    noisy = noise.add_two_sided_geometric(records, rate)
    kept = noisy >= (grid.threshold or 0)
    return _with_body(model, cells=cells[kept], counts=noisy[kept])


def _one_key(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    """Derive the key from the columns alone, so that another version of the data has the same."""
    key = "-".join(model.columns).encode().ljust(32)[:32]
    held = _with_body(model, key=np.frombuffer(key, np.uint8))
    assert isinstance(held, HeldModel)  # noqa: S101 - the audited form
    return held


def _whole_rate_for_each_histogram(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    """Forget that a record is counted once in each of them."""
    return _with_body(model, **model.method.release(counts, model.method.dimensions * rate, noise))


def _fixed_seed(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    return _with_body(model, **model.method.release(counts, rate, Noise.seeded(7)))


def _bounds_from_data() -> Case:
    """Scale by the smallest and the largest value in the table."""

    def change(query: Score, stage: Stage, declaration: Declaration) -> Stage:
        plan = make_plan(query, declaration)

        def summarise(table: ir.Table, released: Released) -> Any:
            ends = collect(table.aggregate(low=table.age.min(), high=table.age.max()))
            low, high = (ends.column(name)[0].as_py() or 0.0 for name in ("low", "high"))
            return count_for(plan.method(released), table, Space(plan.columns, (low,), (max(high, low + 1),)))

        return dataclasses.replace(stage, summarise=summarise)

    return score_case(epsilon="1", kind=_changed("model", change))


def _exact_threshold() -> Case:
    """Take the quantile of the reference records' scores as it is."""

    def change(query: Score, stage: Stage, declaration: Declaration) -> Stage:
        def release(counts: Any, released: Released, noise: Noise) -> Model:
            model: Model = released["model"]
            above = np.cumsum(counts[::-1])[::-1]
            return model.with_threshold(0.25, float(np.argmax(above <= 0.25 * counts.sum())))

        return dataclasses.replace(stage, release=release)

    case = score_stages_case(epsilon="1")
    kind = _changed("threshold", change)
    return dataclasses.replace(case, query=kind.read(case.query.to_dict()))


SCORE_MUTANTS: tuple[Mutant, ...] = (
    Mutant("rate × 2", "bound", lambda: _released(_twice_the_rate)),
    Mutant(
        "replace charged like add/remove", "bound", lambda: _released(_twice_the_rate, adjacency="replace")
    ),
    Mutant("no noise on empty cells", "bound", lambda: _released(_only_occupied)),
    Mutant("key reused over two versions", "bound", lambda: _released(_one_key, audited="held")),
    Mutant(
        "every histogram spends all",
        "bound",
        lambda: _released(_whole_rate_for_each_histogram, audited="marginals"),
    ),
    Mutant("fixed seed", "bound", lambda: _released(_fixed_seed)),
    Mutant("bounds from data", "replay", _bounds_from_data),
    Mutant("threshold without noise", "replay", _exact_threshold),
)
