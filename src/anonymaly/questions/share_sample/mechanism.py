# SPDX-License-Identifier: Apache-2.0
"""A sample of true records in an order of its own, as Lemmas S1 to S4 of GUARANTEE.md say."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Stage
from anonymaly.ask.table import Table
from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.share_sample.binding import ShareSampleBinding, kept_share
from anonymaly.questions.share_sample.persons import KeptPersons
from anonymaly.questions.share_sample.shuffle import ChosenRows, shuffled
from anonymaly.questions.share_sample.summary import non_sensitive_persons, non_sensitive_records


def stages(bound: ShareSampleBinding) -> tuple[Stage, ...]:
    """Stream the records, or the whole persons, that are not sensitive, then keep some of them."""
    read = non_sensitive_persons if bound.by_person else non_sensitive_records
    return (
        Stage(
            name="sample",
            summarise=lambda table, released: read(table, bound.columns),
            release=lambda records, released, noise: release_sample(
                records, bound.rate, noise, label=bound.label, weight=bound.weight
            ),
        ),
    )


def release_sample(
    records: pa.RecordBatchReader,
    rate: Fraction,
    noise: Noise,
    *,
    label: str | None = None,
    weight: str | None = None,
) -> Table:
    """Keep each record by a coin of its own, and put what is kept into a uniform order.

    With the name of a column for ``label`` there is one coin for all rows of a person, and what is kept gets
    labels; with one for ``weight`` each record says for how many it stands.
    """
    probability = kept_probability(rate)

    def kept() -> ChosenRows:
        # No record and one record are treated alike: an empty batch stands for no batch.
        first = next(records, pa.RecordBatch.from_pylist([], records.schema))
        for batch in chain([first], records):
            yield batch, np.flatnonzero(noise.bernoulli(probability, batch.num_rows))

    schema: pa.Schema
    tables: Iterable[pa.Table]
    if label is None:
        schema, tables = records.schema, shuffled(records.schema, kept(), noise)
    else:
        persons = KeptPersons(records, probability, noise, label)
        schema, tables = persons.schema, persons.tables()
    if weight is not None:
        # A public number: the same in each row, and in an empty sample too.
        each = 1 / kept_share(float(rate))
        schema = schema.append(pa.field(weight, pa.float64()))
        tables = (table.append_column(weight, pa.array(np.full(len(table), each))) for table in tables)
    return Table.of(schema, tables)


def kept_probability(rate: Fraction) -> ExactProbability:
    """Return 1 − e^-ε (Lemmas S1 and S3)."""
    return ExactProbability.exponential(rate).complement()
