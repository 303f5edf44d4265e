# SPDX-License-Identifier: Apache-2.0
"""What an owner may look at and nobody else: every context's validity, and how often it stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.core.arrays import Integers
from anonymaly.declare.dataset import Dataset
from anonymaly.engine.source import collect
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import Plan, make_plan
from anonymaly.questions.explain.mechanism import ContextOracle
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.explain.summary import (
    Counts,
    Moments,
    Ragged,
    Summary,
    sorted_values,
    split,
    summarise,
)
from anonymaly.questions.explain.value import Context
from anonymaly.questions.explain.verdicts import make_kernel

CHANGES = (1, 5, 10, 25)


@dataclass(frozen=True)
class Contexts:
    """Every context of a question, with its utility and whether the record stands out in it."""

    plan: Plan
    valid: npt.NDArray[np.bool_]
    utilities: Integers

    def context(self, index: int) -> Context:
        """Return a context by its number."""
        return Context.of(self.plan.attributes, self.plan.space.masks(index))

    def best(self) -> int | None:
        """Return the number of the valid context with the highest utility."""
        if not self.valid.any():
            return None
        return int(np.where(self.valid, self.utilities, -1).argmax())

    def to_arrow(self) -> pa.Table:
        """Return all of them as a table, in order."""
        return pa.table(
            {
                "context": np.arange(len(self.valid), dtype=np.int64),
                "utility": self.utilities,
                "valid": self.valid,
            }
        )


def record(dataset: Dataset, key: str | int, columns: Sequence[str]) -> dict[str, Any]:
    """Return an owner's row by its key, as ``Explain(record=…)`` takes it."""
    name = dataset.declaration.key
    if name is None or name not in dataset.declaration.columns:
        raise InputError(
            "is not declared as a column",
            field="key",
            next_step="Declare the dataset with key= and that column, for instance as Opaque().",
        )
    table = dataset.table
    found = collect(table.filter(table[name].cast("string") == str(key)).select(*columns).limit(2))
    if found.num_rows != 1:
        raise InputError(
            f"belongs to {'no row' if not found.num_rows else 'several rows'}",
            field="key",
            next_step="Give the key of one row.",
        )
    row: dict[str, Any] = found.to_pylist()[0]
    return row


def contexts(dataset: Dataset, query: Explain) -> Contexts:
    """Return every context with its utility and validity: the exact truth, not for release."""
    plan = make_plan(query, dataset.declaration)
    summary = summarise(dataset.table, plan)
    oracle = ContextOracle(summary, plan)
    valid = (
        make_kernel(summary, plan).valid()
        if summary.counts.present
        else np.zeros(plan.space.size, dtype=np.bool_)
    )
    return Contexts(plan, valid, oracle.utilities())


def context_match(
    dataset: Dataset,
    query: Explain,
    *,
    changes: Sequence[int] = CHANGES,
    neighbours: int = 50,
    seed: int = 0,
) -> dict[int, float]:
    """Return how often tables with so many records removed keep exactly the same valid contexts.

    The promise of ``explain`` holds between such tables only, so this is how much it is worth here.
    """
    plan = make_plan(query, dataset.declaration)
    values = sorted_values(dataset.table, plan)
    cells = np.repeat(np.arange(plan.cells, dtype=np.int64), np.diff(values.offsets))
    if max(changes) > len(cells):
        raise InputError(
            f"removes {max(changes)} records from a table that has fewer",
            field="changes",
            next_step="Give smaller numbers.",
        )
    noise = Noise.seeded(seed)
    truth = make_kernel(_summary(cells, values.values, plan), plan).valid()
    found = {}
    for change in changes:
        same = 0
        for _ in range(neighbours):
            kept = np.ones(len(cells), dtype=np.bool_)
            while kept.sum() > len(cells) - change:
                kept[noise.uniform(len(cells))] = False
            changed = make_kernel(_summary(cells[kept], values.values[kept], plan), plan).valid()
            same += bool((changed == truth).all())
        found[change] = same / neighbours
    return found


def _summary(cells: Integers, values: Integers, plan: Plan) -> Summary:
    """Return the summary of records in memory, cell by cell and in order, without the one asked about."""
    counts = Counts(True, np.bincount(cells, minlength=plan.cells).astype(np.int64))
    offsets = np.zeros(plan.cells + 1, np.int64)
    np.cumsum(counts.others, out=offsets[1:])
    match plan.detector.summary:
        case "nearest":
            lower = values <= plan.steps
            below = np.lexsort((-values[lower], cells[lower]))
            return Summary(
                counts,
                nearest=(
                    Ragged.of(cells[lower][below], values[lower][below], plan.cells),
                    Ragged.of(cells[~lower], values[~lower], plan.cells),
                ),
            )
        case "moments":
            distances = values - plan.steps
            high, low = split(distances)

            def total(items: Integers) -> Integers:
                sums = np.zeros(plan.cells, np.int64)
                np.add.at(sums, cells, items)
                return sums

            return Summary(
                counts,
                moments=Moments(total(distances), total(high * high), total(high * low), total(low * low)),
            )
        case _:
            return Summary(counts, values=Ragged(values, offsets))
