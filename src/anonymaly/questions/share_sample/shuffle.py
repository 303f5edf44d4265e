# SPDX-License-Identifier: Apache-2.0
"""A uniform order for more records than memory holds.

Every record goes to a bucket drawn for it alone, and each bucket is put into a uniform order: as if all
records were sorted by random numbers of which the buckets are the first digits. Every order of all records
is equally likely (Lemma S2 of GUARANTEE.md).
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise

ChosenRows = Iterable[tuple[pa.RecordBatch, Integers]]  # batches, and which of their rows to take

BUCKETS = 64
MEMORY = 1 << 28  # bytes held before buckets go to disk, and of a bucket that is put in order at once


class _Bucket:
    """Some records: those that came last in memory, earlier ones in a file without a name."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.held: list[pa.RecordBatch] = []
        self.rows = self.bytes = 0
        self._file: Any = None
        self._writer: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        self.held.append(batch)
        self.rows += batch.num_rows
        self.bytes += batch.nbytes

    def spill(self) -> None:
        if self._writer is None:
            # Without a name, so that a killed process leaves no draw behind that nobody was given.
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - read again below
            self._writer = pa.ipc.new_stream(self._file, self.schema)
        for batch in self.held:
            self._writer.write_batch(batch)
        self.held = []

    def batches(self) -> Iterator[pa.RecordBatch]:
        if self._writer is not None:
            self._writer.close()
            self._file.seek(0)
            with self._file, pa.ipc.open_stream(self._file) as reader:
                yield from reader
        yield from self.held
        self.held = []


def shuffled(
    schema: pa.Schema, chosen: ChosenRows, noise: Noise, *, memory: int = MEMORY
) -> Iterator[pa.Table]:
    """Yield the chosen records of all batches in a uniform order.

    Parameters
    ----------
    schema : pyarrow.Schema
        The names and types of every batch.
    chosen : iterable of (batch, places)
        Batches, and which of their rows to take.
    noise : Noise
        Where the order comes from.
    memory : int
        How many bytes may be held before buckets go to disk.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [1, 2, 3, 4]})
    >>> some = shuffled(batch.schema, [(batch, np.array([0, 2, 3]))], Noise.seeded(1))
    >>> sorted(pa.concat_tables(some).column("age").to_pylist())
    [1, 3, 4]
    """
    rest = iter(chosen)
    first = list(itertools.islice(rest, 2))
    if len(first) == 1:
        # A single batch is in memory anyway, and small enough to be put in order at once.
        batch, places = first[0]
        yield pa.Table.from_batches([batch]).take(pa.array(places[noise.permutation(len(places))]))
        return
    buckets = [_Bucket(schema) for _ in range(BUCKETS)]
    held = 0
    for batch, places in itertools.chain(first, rest):
        drawn = noise.uniform(BUCKETS, len(places)).astype(np.uint8)
        ends = np.cumsum(np.bincount(drawn, minlength=BUCKETS)).tolist()
        scattered = batch.take(pa.array(places[np.argsort(drawn, kind="stable")]))
        for bucket, start, end in zip(buckets, [0, *ends], ends, strict=False):
            bucket.add(scattered.slice(start, end - start))
        held += scattered.nbytes
        if held > memory:
            for bucket in buckets:
                bucket.spill()
            held = 0
    for bucket in buckets:
        if bucket.bytes > memory and bucket.rows > BUCKETS:
            every = ((batch, np.arange(batch.num_rows)) for batch in bucket.batches())
            yield from shuffled(schema, every, noise, memory=memory)
        else:
            table = pa.Table.from_batches(bucket.batches(), schema).combine_chunks()
            yield table.take(pa.array(noise.permutation(len(table))))
