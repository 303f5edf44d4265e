# SPDX-License-Identifier: Apache-2.0
"""What the owner alone may look at: the mixed model without noise, and the oddest of the table's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval, Timestamps, Unbounded
from anonymaly.engine.statements import collect, collect_batches
from anonymaly.errors import InputError
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.methods.method import MethodFacts
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_edges import FIRST_BINS, Edges, equal_edges, next_edges
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.summary import BATCH, count_bins, count_for, count_records
from anonymaly.questions.score.value import HeldModel

if TYPE_CHECKING:
    import ibis.expr.types as ir

STAGES = 2  # in which bins are fitted to the rows, as in the question


class ExactModel(HeldModel):
    """The mixed model of exact counts. It cannot be saved or copied, and promises nothing."""

    __slots__ = ()

    @property
    def promise(self) -> str:
        """That there is none."""
        return "Nothing is promised: exact counts of the rows, for the owner alone."


def exact_model(dataset: Dataset, columns: Sequence[str]) -> ExactModel:
    """Return the model that ``Score`` would release of the columns if it added no noise at all.

    Its bins are those that the rule has for ε = 1 and the exact number of rows; bounds that are not declared
    are the smallest and the largest value. Random directions are left out: they have no words.
    """
    bound = Score(columns=columns, epsilon=1).bind(dataset.declaration)
    if not isinstance(bound, ScoreBinding):
        raise AssertionError("not a score")
    table = dataset.table
    rows = count_records(table, ())
    if not rows:
        raise InputError("has no rows", field="source", next_step="Look at a table that has some.")
    facts = MethodFacts(len(bound.columns), Fraction(1), rows, bound.labels)
    method = MixedMethod.plan({"adaptive": bool(facts.numbers)}, facts)
    space = MixedSpace.of(bound.columns, bound.domains, {**bound.known, **_bounds(table, bound)})
    method = _fitted(method, space, table)
    columns_, pairs, sketches = method.exact(count_for(method, space, table))
    body = {"columns": columns_, "pairs": pairs, "sketches": sketches, "deviations": np.zeros(3)}
    return ExactModel(method, space, body, None, rows=rows)


def _bounds(table: ir.Table, bound: ScoreBinding) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest value of columns without declared bounds."""
    found = {}
    for name, domain in zip(bound.columns, bound.domains, strict=True):
        if isinstance(domain, Unbounded):
            ends = collect(table.agg(low=table[name].min(), high=table[name].max())).to_pylist()[0]
            low, high = (float(ends[side] or 0.0) for side in ("low", "high"))
            found[name] = (low, high if high > low else low + 1.0)
    return found


def _fitted(method: MixedMethod, space: MixedSpace, table: ir.Table) -> MixedMethod:
    """Return the method with bins that follow the rows, in as many steps as the question takes."""
    if not method.adaptive:
        return method
    edges: tuple[Edges, ...] = (equal_edges(FIRST_BINS),) * method.numbers
    for _ in range(STAGES):
        counts = count_bins(method, space, table, edges)
        parts = np.split(counts, np.cumsum([len(each) - 1 for each in edges])[:-1])
        edges = tuple(
            next_edges(part, each, 0.0, method.bins) for part, each in zip(parts, edges, strict=True)
        )
    return replace(method, edges=edges)


def count_outside(dataset: Dataset, columns: Sequence[str]) -> dict[str, int]:
    """Count the rows outside the declared bounds of each column, of those that have any."""
    table, sums = dataset.table, {}
    for name in columns:
        match dataset.declaration.columns[name]:
            case Interval(low=low, high=high) | Timestamps(start=low, end=high):
                sums[name] = (table[name] < low) | (table[name] > high)
    if not sums:
        return {}
    # By place: a name may be one that an engine takes for another.
    counts = collect(table.agg(**{f"outside{place}": each.sum() for place, each in enumerate(sums.values())}))
    found = counts.to_pylist()[0].values()
    return {name: int(many) for name, many in zip(sums, found, strict=True) if many}


@dataclass(frozen=True)
class OddRows:
    """The oddest rows as they are read, with their places in the order that the engine returned them in."""

    records: list[dict[str, Any]]
    places: list[int]
    compared: pa.Table  # the columns that they are compared by


def oddest_rows(dataset: Dataset, model: ExactModel, top: int, shown: Sequence[str]) -> OddRows:
    """Score the table's own rows, and keep the oddest; equal scores stay in their order."""
    table, columns = dataset.table, list(model.columns)
    kept: pa.Table | None = None
    scores, places = np.zeros(0), np.zeros(0, np.int64)
    seen = 0
    for batch in collect_batches(table.select(*dict.fromkeys([*columns, *shown])), BATCH):
        part = pa.Table.from_batches([batch])
        kept = part if kept is None else pa.concat_tables([kept, part])
        scores = np.append(scores, model.score(part.select(columns)))
        places = np.append(places, np.arange(seen, seen + len(part)))
        seen += len(part)
        best = np.argsort(-scores, kind="stable")[:top]
        kept, scores, places = kept.take(pa.array(best)), scores[best], places[best]
    if kept is None:
        raise AssertionError("a table of rows gave none")
    return OddRows(kept.select(list(shown)).to_pylist(), places.tolist(), kept.select(columns))
