# SPDX-License-Identifier: Apache-2.0
"""What ``score`` claims, written from its GUARANTEE.md and not from its code, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity, absolute_difference
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.neighbours import Pair
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Unbounded
from anonymaly.engine.statements import collect
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.method import MethodFacts
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_layout import FINE
from anonymaly.questions.score.methods.mixed_rule import sketches_for
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.summary import count_for
from anonymaly.questions.score.value import HeldModel, Model

if TYPE_CHECKING:
    import ibis.expr.types as ir


Audited = Literal["published", "held", "marginals", "mixed"]
HIGHEST = 100
COLUMNS: Mapping[str, Domain] = {"age": Interval(0, HIGHEST), "pay": Interval(0, HIGHEST)}
RECORDS: Database = tuple(
    {"age": age, "pay": pay} for age, pay in ((10, 20), (30, 80), (60, 10), (90, 90), (95, None), (50, 50))
)
THRESHOLD = 1
LEAST, MOST = -3, 4  # answers are moved into these, which costs no privacy and makes their law finite
NOT_KEPT = "-"
OPTIONS: Mapping[Audited, dict[str, Any]] = {
    # Two cells: ages below 50, and from 50 on.
    "published": {"columns": ["age"], "method": "grid", "cells": 2, "threshold": THRESHOLD},
    "held": {"columns": ["age"], "method": "grid", "cells": 2, "form": "held"},
    # Two histograms of two cells; the first cell of each is looked at.
    "marginals": {"columns": ["age", "pay"], "method": "marginals", "bins": 2, "pair_bins": 0},
    # Two histograms of two cells and one for what is missing: ages below 50, and missing pay, are looked at.
    "mixed": {"columns": ["age", "pay"], "method": "mixed", "bins": 2, "pair_bins": 0},
}
OF_TWO = ("marginals", "mixed")  # histograms


@dataclasses.dataclass(frozen=True)
class ScoreCase(Case):
    """A case whose answers are written as two counts."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the one stage with its answer as text, which samples can be counted and sorted by."""
        return tuple(map(_written, map(_sorted, super().stages(bound))))


@dataclasses.dataclass(frozen=True)
class StagesCase(Case):
    """A case of all stages, for replays: each takes a dozen statements, so pairs are those of one table."""

    def pairs(self, *, seed: int, rounds: int) -> Iterator[Pair]:
        """Yield the worst pair, and changes of the case's own table."""
        for pair in super().pairs(seed=seed, rounds=rounds):
            if pair.kind == "the worst pair" or self.records in (pair.first, pair.second):
                yield pair

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages with counts in an order of their own, which engines do not promise."""
        return tuple(map(_sorted, super().stages(bound)))


def score_case(
    *,
    epsilon: Number,
    audited: Audited = "published",
    adjacency: Adjacency = "add_remove",
    kind: type[Score] = Score,
) -> Case:
    """Return ``score`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    audited : {"published", "held", "marginals", "mixed"}
        A grid of two cells in either form, or two histograms of two, with or without a cell for missing ones.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    kind : type
        The question's type: ``Score``, or a broken variant of it.

    Examples
    --------
    >>> score_case(epsilon="0.5").relation
    Everyone(type='everyone', adjacency='add_remove', rows=None)
    """
    query = kind(**OPTIONS[audited], rows=len(RECORDS), epsilon=epsilon)
    changed = 1 if adjacency == "add_remove" else 2
    histograms = 2 if audited in OF_TWO else 1
    rate = float(to_fraction(query.cost)) / (changed * histograms)
    columns = OPTIONS[audited]["columns"]

    def outcomes(records: Database) -> Outcomes:
        """Count by hand, and add two-sided geometric noise to every cell: Lemmas 2, 4 and 5."""
        if audited == "mixed":
            # What is missing of one column takes nothing away from the others, and has a cell of its own.
            missing = sum(not _is_number(row["pay"]) for row in records)
            counts = [_cell_counts(records, ["age"], "age")[0], missing]
        else:
            low = [_cell_counts(records, columns, name)[0] for name in columns]
            counts = low if audited == "marginals" else _cell_counts(records, columns, "age")
        laws = [_law(count, rate, kept=THRESHOLD if audited == "published" else None) for count in counts]
        return {
            f"{first} {second}": one * other
            for (first, one), (second, other) in product(laws[0].items(), laws[1].items())
        }

    low = {"age": 10, "pay": None if audited == "mixed" else 10}
    return ScoreCase(
        name=f"score, {audited}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"model": Sensitivity(changed * histograms, _change)},
        # A record comes, or changes the cell, in every histogram: Lemma 1 says that it is attained.
        worst_pair=((low,), () if adjacency == "add_remove" else ({"age": 90, "pay": 90},)),
        # Two counts that move apart lose all of ε; of the two histograms' four, two are looked at.
        tight=adjacency == "add_remove" or audited not in OF_TWO,
        outcomes=outcomes,
        adjacency=adjacency,
    )


def score_stages_case(*, epsilon: Number, adjacency: Adjacency = "add_remove") -> Case:
    """Return ``score`` with all its stages: bounds, number of records, model and threshold."""
    changed = 1 if adjacency == "add_remove" else 2
    query = Score(
        columns=["age", "pay"], method="marginals", pair_bins=0, contamination="0.25", epsilon=epsilon
    )
    return StagesCase(
        name=f"score in four stages, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns={"age": Interval(0, HIGHEST), "pay": Unbounded()},
        records=RECORDS,
        sensitivity={
            "bounds": Sensitivity(changed),
            "records": Sensitivity(1),
            "model": Sensitivity(2 * changed, _change),  # a histogram for each column
            "threshold": Sensitivity(changed),
        },
        worst_pair=((RECORDS[0],), () if adjacency == "add_remove" else (RECORDS[3],)),
        adjacency=adjacency,
    )


def score_mixed_case(
    *, epsilon: Number, adjacency: Adjacency = "add_remove", kind: type[Score] = Score
) -> Case:
    """Return ``score`` of real columns with bins that follow the records: Lemmas 10 to 12."""
    changed = 1 if adjacency == "add_remove" else 2
    query = kind(columns=["age", "pay", "ward", "old"], pair_bins=0, rows=MIXED_ROWS, epsilon=epsilon)
    return StagesCase(
        name=f"score of mixed columns in three stages, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns={**COLUMNS, "ward": Categories(["A", "B"]), "old": Flag()},
        records=MIXED_RECORDS,
        sensitivity={
            "coarse": Sensitivity(2 * changed),  # a histogram for each number
            "finer": Sensitivity(2 * changed),
            # A histogram for each column, and one for each two directions.
            "model": Sensitivity(_histograms(query, changed) * changed, _change),
        },
        # Another number in both columns, and another label.
        worst_pair=(
            (MIXED_RECORDS[0],),
            () if adjacency == "add_remove" else ({**RECORDS[3], "ward": "B", "old": True},),
        ),
        adjacency=adjacency,
    )


MIXED_ROWS = 20  # that the question says there are, whatever there are
MIXED_RECORDS: Database = tuple(
    {**row, "ward": ward, "old": old}
    for row, ward, old in zip(
        RECORDS, ("A", "B", None, "A", "Z", "B"), (False, False, None, True, True, True), strict=True
    )
)


def _histograms(query: Score, changed: int) -> int:
    return 4 + sketches_for(MethodFacts(4, to_fraction(query.cost) / changed, MIXED_ROWS, (0, 0, 3, 2)))


def _sorted(stage: Stage) -> Stage:
    if stage.name != "model":
        return stage

    def summarise(table: Any, released: Released) -> pa.Table:
        counts = stage.summarise(table, released)
        return counts.sort_by([(name, "ascending") for name in counts.column_names])

    return dataclasses.replace(stage, summarise=summarise)


def _written(stage: Stage) -> Stage:
    def release(summary: Any, released: Released, noise: Noise) -> str:
        return " ".join(_texts(stage.release(summary, released, noise)))

    return dataclasses.replace(stage, release=release)


def _texts(model: Model) -> list[str]:
    """Return two counts of what was released, moved into the range that is looked at."""
    body = model._body  # which a held model shows to nobody else
    if model.method.name == "mixed":
        # Three cells of age, then three of pay, whose last is for what is missing.
        return [str(_moved(int(body["columns"][place]))) for place in (0, 5)]
    if model.method.name == "marginals":
        return [str(_moved(int(body["columns"][axis, 0]))) for axis in range(2)]
    kept = {int(cell[0]): int(count) for cell, count in zip(body["cells"], body["counts"], strict=True)}
    if model.method.held:
        rate = Fraction(model.method.parameters()["rate"])
        noise = Noise.keyed(body["key"].tobytes()).two_sided_geometric_at(rate, np.arange(2))
        return [str(_moved(kept.get(cell, 0) + int(noise[cell]))) for cell in range(2)]
    return [str(_moved(kept[cell])) if cell in kept else NOT_KEPT for cell in range(2)]


def _moved(count: int) -> int:
    return min(max(count, LEAST), MOST)


def _change(first: pa.Table, second: pa.Table) -> float:
    return absolute_difference(_counts(first), _counts(second))


def _counts(table: pa.Table) -> dict[Any, int]:
    places = [name for name in table.column_names if name != "records"]
    return {tuple(row[name] for name in places): row["records"] for row in table.to_pylist()}


def _cell_counts(records: Database, columns: list[str], name: str) -> list[int]:
    """Count the records in the lower and the upper half of a column, of those that have all columns."""
    complete = [row for row in records if all(_is_number(row[item]) for item in columns)]
    upper = sum(1 for row in complete if row[name] >= HIGHEST / 2)
    return [len(complete) - upper, upper]


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _law(count: int, rate: float, *, kept: int | None) -> dict[str, float]:
    """Return the law of one count with noise, kept from a threshold on, moved into the range."""

    def at_least(value: int) -> float:
        away = value - count
        # The law is symmetric: what is at least -t is all but what is at least t + 1.
        return math.exp(-rate * away) / (1 + math.exp(-rate)) if away >= 0 else 1 - at_least(count + 1 - away)

    lowest = LEAST if kept is None else kept
    law = {str(value): at_least(value) - at_least(value + 1) for value in range(lowest, MOST)}
    law[str(MOST)] = at_least(MOST)
    law[NOT_KEPT if kept is not None else str(LEAST)] = 1 - at_least(
        lowest if kept is not None else LEAST + 1
    )
    return law


Release = Callable[[Any, Model, Fraction, Noise], Model]
Change = Callable[[Stage, ScoreBinding], Stage]


def _changed(name: str, change: Change) -> type[Score]:
    """Return a Score of which one stage is changed."""

    class BrokenScore(Score):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            own = cast("ScoreBinding", bound)
            return tuple(
                change(stage, own) if stage.name == name else stage for stage in super().stages(bound)
            )

    return BrokenScore


def _released(release: Release, **options: Any) -> Case:
    """Return the case of a score that releases in another way, given what the real one would release."""

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        rate = bound.rate("model")
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
    assert isinstance(grid, GridMethod)  # noqa: S101 - the audited method
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

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        def summarise(table: ir.Table, released: Released) -> Any:
            ends = collect(table.aggregate(low=table.age.min(), high=table.age.max()))
            low, high = (ends.column(name)[0].as_py() or 0.0 for name in ("low", "high"))
            space = Space(bound.columns, (low,), (max(high, low + 1),))
            return count_for(bound.method(released.get("records")), space, table)

        return dataclasses.replace(stage, summarise=summarise)

    return score_case(epsilon="1", kind=_changed("model", change))


def _exact_threshold() -> Case:
    """Take the quantile of the reference records' scores as it is."""

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        def release(counts: Any, released: Released, noise: Noise) -> Model:
            model: Model = released["model"]
            above = np.cumsum(counts[::-1])[::-1]
            return model.with_threshold(0.25, float(np.argmax(above <= 0.25 * counts.sum())))

        return dataclasses.replace(stage, release=release)

    case = score_stages_case(epsilon="1")
    kind = _changed("threshold", change)
    return dataclasses.replace(case, query=kind.read(case.query.to_dict()))


def _missing_without_noise(counts: Any, model: Model, rate: Fraction, noise: Noise) -> Model:
    """Leave the cells of what is missing as they are counted."""
    mixed = model.method
    assert isinstance(mixed, MixedMethod)  # noqa: S101 - the audited method
    exact, _, _ = mixed.exact(counts)
    noisy = np.array(model._body["columns"])
    noisy[[2, 5]] = exact[[2, 5]]
    return _with_body(model, columns=noisy)


def _missing_counted_twice() -> Case:
    """Count what is missing in its cell, and once more in the first bin, as if it were 0."""

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        def summarise(table: ir.Table, released: Released) -> Any:
            counts = _counts(stage.summarise(table, released))
            for axis in range(2):
                first, missing = axis * (FINE + 1), axis * (FINE + 1) + FINE
                counts[(first,)] = counts.get((first,), 0) + counts.get((missing,), 0)
            places = sorted(counts)
            return pa.table(
                {"place": [place for (place,) in places], "records": [counts[item] for item in places]}
            )

        return dataclasses.replace(stage, summarise=summarise)

    return score_case(epsilon="1", audited="mixed", kind=_changed("model", change))


def _rule_by_length() -> Case:
    """Choose the number of bins by the length of the table, as if it were public."""

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        def summarise(table: ir.Table, released: Released) -> Any:
            length = int(collect(table.count().name("rows")).column("rows")[0].as_py())
            return length, stage.summarise(table, released)

        def release(summary: Any, released: Released, noise: Noise) -> Any:
            length, counts = summary
            method = bound.method(length)
            return method.release(counts, bound.model_rate(method), noise)

        return dataclasses.replace(stage, summarise=summarise, release=release)

    query = _changed("model", change)(columns=["age"], adaptive=False, rows=len(RECORDS), epsilon="100")
    return dataclasses.replace(score_mixed_case(epsilon="100"), query=query, sensitivity={})


def _edges_without_noise() -> Case:
    """Let the next stage's bins follow the exact counts."""

    def change(stage: Stage, bound: ScoreBinding) -> Stage:
        def release(counts: Any, released: Released, noise: Noise) -> Any:
            return stage.release(counts, released, cast("Noise", _NoNoise()))

        return dataclasses.replace(stage, release=release)

    return score_mixed_case(epsilon="100", kind=_changed("coarse", change))


class _NoNoise:
    def add_two_sided_geometric(self, counts: Any, rate: Fraction) -> Any:
        return counts


SCORE_CASES: tuple[ListedCase, ...] = (
    *(
        ListedCase(
            partial(score_case, adjacency=adjacency, audited=audited),
            samples=16_000,
            thorough_samples=200_000,
        )
        for adjacency, audited in product(get_args(Adjacency), get_args(Audited))
    ),
    # So much ε that bounds are found and scores differ: with little, a replaced record may change nothing.
    *(
        ListedCase(
            partial(case, adjacency=adjacency),
            epsilon="100",
            thorough_epsilon="100",
            layers=("replay", "ledger"),
        )
        for case, adjacency in product((score_stages_case, score_mixed_case), get_args(Adjacency))
    ),
)
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
    Mutant("no noise on missing ones", "bound", lambda: _released(_missing_without_noise, audited="mixed")),
    Mutant("missing ones counted twice", "replay", _missing_counted_twice),
    Mutant("rule by the length of the table", "replay", _rule_by_length),
    Mutant("edges without noise", "replay", _edges_without_noise),
)
