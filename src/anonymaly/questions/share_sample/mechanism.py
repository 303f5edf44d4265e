# SPDX-License-Identifier: Apache-2.0
"""A sample of true records in an order of its own, as Lemmas S1 and S2 of GUARANTEE.md say."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Stage
from anonymaly.ask.table import Table
from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.share_sample.binding import ShareSampleBinding
from anonymaly.questions.share_sample.shuffle import ChosenRows, shuffled
from anonymaly.questions.share_sample.summary import non_sensitive_records


def stages(bound: ShareSampleBinding) -> tuple[Stage, ...]:
    """Stream the records that are not sensitive, then keep some of them."""
    return (
        Stage(
            name="sample",
            summarise=lambda table, released: non_sensitive_records(table, bound.columns),
            release=lambda records, released, noise: release_sample(records, bound.rate, noise),
        ),
    )


def release_sample(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Keep each record by a coin of its own, and put what is kept into a uniform order."""
    probability = kept_probability(rate)

    def kept() -> ChosenRows:
        # No record and one record are treated alike: an empty batch stands for no batch.
        first = next(records, pa.RecordBatch.from_pylist([], records.schema))
        for batch in chain([first], records):
            yield batch, np.flatnonzero(noise.bernoulli(probability, batch.num_rows))

    return Table.of(records.schema, shuffled(records.schema, kept(), noise))


def kept_probability(rate: Fraction) -> ExactProbability:
    """Return 1 − e^-ε (Lemma S1)."""
    return ExactProbability.exponential(rate).complement()
