# SPDX-License-Identifier: Apache-2.0
"""Whole persons, kept by one coin each, under labels drawn anew: Lemmas S3 and S4 of GUARANTEE.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.share_sample.shuffle import ChosenRows, shuffled
from anonymaly.questions.share_sample.summary import BEGINS


class KeptPersons:
    """The rows of the persons whose coins keep them, in a uniform order, with labels in another one.

    Nothing is remembered of persons who are not kept, and of others their number.
    """

    def __init__(
        self, records: pa.RecordBatchReader, probability: ExactProbability, noise: Noise, label: str
    ) -> None:
        self.records, self.probability, self.noise = records, probability, noise
        columns = [field for field in records.schema if field.name != BEGINS]
        self.schema = pa.schema([pa.field(label, pa.int64()), *columns])
        self.kept = 0  # persons so far
        self.last = False  # the coin of the person whose row came last

    def tables(self) -> Iterator[pa.Table]:
        """Yield the rows; labels are 1, 2, … up to the number of persons."""
        labels = None
        for table in shuffled(self.schema, self._chosen(), self.noise):
            if labels is None:
                # By now every coin is thrown: the first row of a uniform order may be anybody's.
                labels = self.noise.permutation(self.kept) + 1
            yield table.set_column(0, self.schema.field(0), pa.array(labels[table.column(0).to_numpy()]))

    def _chosen(self) -> ChosenRows:
        """Yield batches with the number of each person among those kept, and which of their rows to take."""
        # No record and one record are treated alike: an empty batch stands for no batch.
        first = next(self.records, pa.RecordBatch.from_pylist([], self.records.schema))
        for batch in chain([first], self.records):
            begins = batch.column(BEGINS).to_numpy(zero_copy_only=False)
            # Whose row it is, of this batch's persons; 0 is the one with whom the batch before ended.
            person = np.cumsum(begins)
            thrown = self.noise.bernoulli(self.probability, int(begins.sum()))
            coins = np.concatenate([[self.last], thrown])
            numbers = self.kept - 1 + np.concatenate([[0], np.cumsum(thrown)])
            self.kept, self.last = int(numbers[-1]) + 1, bool(coins[-1])
            columns = [batch.column(name) for name in self.schema.names[1:]]
            labelled = pa.record_batch([pa.array(numbers[person]), *columns], schema=self.schema)
            yield labelled, np.flatnonzero(coins[person])
