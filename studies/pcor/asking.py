# SPDX-License-Identifier: Apache-2.0
"""One record of a public table after another, asked about with the functions that answer a real question.

A summary and all verdicts serve every search of the same record; a real question makes them anew.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.explain.binding import ExplainBinding, bind_contexts
from anonymaly.questions.explain.mechanism import SummarisedContexts, release_context
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.explain.summary import summarise
from anonymaly.questions.explain.value import Context
from studies.pcor.data import Records
from studies.progress import Progress


class Asking:
    """A public table and a detector.

    Parameters
    ----------
    records
        The table.
    detector
        Its name.
    """

    def __init__(self, records: Records, detector: str) -> None:
        self.records, self.detector = records, detector
        dataset = records.dataset()
        self.declaration = dataset.with_adjacency("add_remove")
        self.table = dataset.table

    @property
    def name(self) -> str:
        """The table and the detector, for people."""
        return f"{self.records.name}, {self.detector}"

    def question(self, row: int, epsilon: str, **fields: Any) -> Explain:
        """Return the question about one row."""
        return Explain(
            record=self.records.record(row),
            metric=self.records.metric,
            attributes=self.records.attributes,
            detector=self.detector,
            epsilon=epsilon,
            **fields,
        )

    def bind(self, question: Explain) -> ExplainBinding:
        """Return what follows from the question and the declaration."""
        return bind_contexts(question, self.declaration)

    def ask(self, row: int, progress: Progress) -> Asked:
        """Summarise the table and judge all contexts of one row."""
        return Asked(self, row, progress)


class Asked:
    """All that searches for one record's context share.

    Attributes
    ----------
    validity, populations
        Of every context, whether the record stands out in it and how many records it holds.
    summary_seconds, exact_seconds
        How long it took to read the rows, and to judge and count all contexts.
    """

    def __init__(self, asking: Asking, row: int, progress: Progress) -> None:
        self._asking, self._row = asking, row
        self.bound = asking.bind(asking.question(row, "0.2"))
        begun = time.perf_counter()
        self._summary = summarise(asking.table, self.bound)
        self.summary_seconds = time.perf_counter() - begun
        begun = time.perf_counter()
        contexts, size = SummarisedContexts(self._summary, self.bound), self.bound.space.size
        self.validity: npt.NDArray[np.bool_] = contexts.kernel.valid(
            lambda done: progress.contexts(done, size)
        )
        self.populations = contexts.utilities()
        self.exact_seconds = time.perf_counter() - begun

    def choices(self, context: int) -> dict[str, list[Any]]:
        """Return a context as a question's start or target."""
        found = Context.of(self.bound.attributes, self.bound.space.masks(context))
        return {choice.column: list(choice.values) for choice in found.choices}

    def overlaps(self, context: int) -> Integers:
        """Return how many records every context shares with a given one."""
        target = {"utility": "overlap", "target": self.choices(context)}
        bound = self._asking.bind(self._asking.question(self._row, "0.2", **target))
        return SummarisedContexts(self._summary, bound).utilities()

    def release(
        self, epsilon: str, seed: int, fields: Mapping[str, Any]
    ) -> tuple[int | None, ExplainBinding, float]:
        """Answer a question from the summary; return the context, the binding and the seconds it took."""
        bound = self._asking.bind(self._asking.question(self._row, epsilon, **fields))
        begun = time.perf_counter()
        context = release_context(self._summary, bound, Noise.seeded(seed))
        seconds = time.perf_counter() - begun
        return None if context is None else bound.space.index_of_bits(context.bits), bound, seconds
