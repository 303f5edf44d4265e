# SPDX-License-Identifier: Apache-2.0
"""What the owner alone may look at: which contexts are valid, and how often they stay so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.declare.dataset import Dataset
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import ExplainBinding, bind_contexts
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.mechanism import SummarisedContexts, make_kernel
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.explain.summary import sorted_values, summarise
from anonymaly.questions.explain.value import Context

CHANGES = (1, 5, 10, 25)


@dataclass(frozen=True)
class Contexts:
    """Every context of a question, with its utility and whether the record stands out in it."""

    bound: ExplainBinding
    valid: Booleans
    utilities: Integers

    def context(self, index: int) -> Context:
        """Return a context by its number."""
        return Context.of(self.bound.attributes, self.bound.space.masks(index))

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
    bound = bind_contexts(query, dataset.declaration)
    summary = summarise(dataset.table, bound)
    found = SummarisedContexts(summary, bound)
    valid = found.kernel.valid() if summary.counts.present else np.zeros(bound.space.size, dtype=np.bool_)
    return Contexts(bound, valid, found.utilities())


def context_match(
    dataset: Dataset,
    query: Explain,
    *,
    changes: Sequence[int] = CHANGES,
    neighbours: int = 50,
    seed: int = 0,
) -> dict[int, float]:
    """Return how often tables keep exactly the same valid contexts when records are removed.

    ``changes`` says how many records; the answer has the share of the ``neighbours`` tables for each.
    The promise of ``explain`` holds between such tables only, so this is how much it is worth here.
    """
    bound = bind_contexts(query, dataset.declaration)
    need = kernel_type(bound.detector).needs(bound.detector)
    others = sorted_values(dataset.table, bound).others
    cells, steps = others.cells, others.values
    if max(changes) > len(cells):
        raise InputError(
            f"removes {max(changes)} records from a table that has fewer",
            field="changes",
            next_step="Give smaller numbers.",
        )

    def validity(kept: Booleans) -> Booleans:
        summary = need.of(cells[kept], steps[kept], bound.record_steps, bound.space.cells)
        return make_kernel(summary, bound).valid()

    noise = Noise.seeded(seed)
    truth = validity(np.ones(len(cells), dtype=np.bool_))
    found = {}
    for change in changes:
        same = 0
        for _ in range(neighbours):
            kept = np.ones(len(cells), dtype=np.bool_)
            while kept.sum() > len(cells) - change:
                kept[noise.uniform(len(cells))] = False
            same += bool((validity(kept) == truth).all())
        found[change] = same / neighbours
    return found
