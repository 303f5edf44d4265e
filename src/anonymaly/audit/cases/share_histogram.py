# SPDX-License-Identifier: Apache-2.0
"""Broken variants of ``share-sample`` and ``share-histogram``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Stage
from anonymaly.ask.table import Table
from anonymaly.audit.case import Case
from anonymaly.audit.cases.share_sample import histogram_case, sample_case
from anonymaly.audit.mutants import Mutant
from anonymaly.declare.dataset import NON_SENSITIVE, Dataset, Declaration
from anonymaly.declare.rules import Policy
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods.table import METHODS
from anonymaly.questions.share_histogram.query import ShareHistogram
from anonymaly.questions.share_histogram.summary import Cells
from anonymaly.questions.share_histogram.value import Histogram
from anonymaly.questions.share_sample.mechanism import kept_probability, rate_for, release_sample
from anonymaly.questions.share_sample.query import ShareSample

if TYPE_CHECKING:
    import ibis.expr.types as ir

Release = Callable[[pa.RecordBatchReader, Fraction, Noise], Table]


def _released(release: Release, **options: Any) -> Case:
    """Return the case of a sample that is released in another way; its claims stay those of the real one."""

    class BrokenSample(ShareSample):
        def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
            rate = rate_for(self.cost, declaration)
            return tuple(
                dataclasses.replace(
                    stage, release=lambda records, released, noise: release(records, rate, noise)
                )
                for stage in super().stages(declaration)
            )

    return sample_case(**{"epsilon": "1", **options, "kind": BrokenSample})


def _suppress(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Release all that is not sensitive: access control, and the Suppress of personalised privacy."""
    table = records.read_all()
    return Table.of(records.schema, [table.take(pa.array(noise.permutation(len(table))))])


def _in_order(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Leave records in the table's order."""
    table = records.read_all()
    kept = noise.bernoulli(kept_probability(rate), len(table))
    return Table.of(records.schema, [table.take(pa.array(np.flatnonzero(kept)))])


def _at_least_one(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Draw again as long as nothing is kept, so that nobody is disappointed."""
    table = records.read_all()
    while True:
        sample = release_sample(table.to_reader(), rate, noise)
        if len(sample) or not len(table):
            return sample


class _NullPasses(Dataset):
    """Takes what is unknown for harmless."""

    def judged(self, policy: Policy) -> ir.Table:
        view = self.table
        verdict = policy.predicate(self.declaration.columns).to_ibis(view).fill_null(True)
        return view.mutate(**{NON_SENSITIVE: verdict})


class _Clamped(Dataset):
    """Moves values into their domain before it judges them."""

    def judged(self, policy: Policy) -> ir.Table:
        view = self.table.mutate(age=self.table.age.clip(0, 120))
        return view.mutate(**{NON_SENSITIVE: policy.non_sensitive(view, self.declaration.columns)})


class _RowByRow(Dataset):
    """Judges each row of a person by itself."""

    def judged(self, policy: Policy) -> ir.Table:
        view = self.table
        return view.mutate(**{NON_SENSITIVE: policy.non_sensitive(view, self.declaration.columns)})


def _of_dataset(kind: type[Dataset], **options: Any) -> Case:
    return dataclasses.replace(sample_case(epsilon="1", **options), dataset_type=kind)


def _counted(run: Callable[[Cells, Any, Noise], Any], **options: Any) -> Case:
    """Return the case of a histogram that is released in another way, from cells, rates and noise."""

    class BrokenHistogram(ShareHistogram):
        def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
            by, rates = self._attributes(declaration), self._rates(declaration)
            return tuple(
                dataclasses.replace(
                    stage, release=lambda cells, released, noise: Histogram(by, run(cells, rates, noise))
                )
                for stage in super().stages(declaration)
            )

    return histogram_case(**{"epsilon": "1", **options, "kind": BrokenHistogram})


def _occupied_only(cells: Cells, rates: Any, noise: Noise) -> Any:
    """Leave empty cells empty."""
    drawn = METHODS["hybrid"].run(cells.every, cells.non_sensitive, rates=rates, noise=noise)
    return np.where(cells.every > 0, drawn + 1, 0)


def order_kept() -> Case:
    """Return the case of a sample in the table's order; few draws show it."""
    return _released(_in_order)


SHARE_MUTANTS: tuple[Mutant, ...] = (
    Mutant("Suppress (exclusion attack)", "bound", lambda: _released(_suppress)),
    Mutant(
        "kept as if ε were twice as large",
        "bound",
        lambda: _released(lambda records, rate, noise: release_sample(records, 2 * rate, noise)),
    ),
    Mutant(
        "kept as if a person had one row",
        "bound",
        lambda: _released(lambda records, rate, noise: release_sample(records, 2 * rate, noise), max_rows=2),
    ),
    Mutant("drawn again when empty", "bound", lambda: _released(_at_least_one, max_rows=2)),
    Mutant("null passes", "replay", lambda: _of_dataset(_NullPasses)),
    Mutant("judged after clamping", "replay", lambda: _of_dataset(_Clamped)),
    Mutant("a person judged row by row", "replay", lambda: _of_dataset(_RowByRow, max_rows=2)),
    Mutant(
        "histogram: non-sensitive counts as they are",
        "bound",
        lambda: _counted(lambda cells, rates, noise: cells.non_sensitive),
    ),
    Mutant("histogram: empty cells stay empty", "bound", lambda: _counted(_occupied_only)),
)
