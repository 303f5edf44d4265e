# SPDX-License-Identifier: Apache-2.0
"""What is released: a sample of true records, in an order of its own."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain

import numpy as np
import pyarrow as pa

from anonymaly.ask.table import Table
from anonymaly.core.rate import noise_rate
from anonymaly.declare.dataset import Declaration
from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.share.shuffle import Pieces, shuffled


def rate_for(cost: int, declaration: Declaration) -> Fraction:
    """Return ε for each row: the charge over the most rows that a person has (Lemma P3)."""
    return noise_rate(cost, moves=declaration.rows)


def kept_probability(rate: Fraction) -> ExactProbability:
    """Return 1 − e^-ε (Lemma S1)."""
    return ExactProbability.exponential(rate).complement()


def kept_share(rate: Fraction) -> float:
    """Return 1 − e^-ε as a number to show: to write the exact one as a float takes minutes at a vast ε."""
    return -math.expm1(-float(rate))


def release_sample(records: pa.RecordBatchReader, rate: Fraction, noise: Noise) -> Table:
    """Keep each record by a coin of its own, and put what is kept into a uniform order."""
    probability = kept_probability(rate)

    def kept() -> Pieces:
        # No record and one record are treated alike: an empty batch stands for no batch.
        first = next(records, pa.RecordBatch.from_pylist([], records.schema))
        for batch in chain([first], records):
            yield batch, np.flatnonzero(noise.bernoulli(probability, batch.num_rows))

    return Table.of(records.schema, shuffled(records.schema, kept(), noise))
