# SPDX-License-Identifier: Apache-2.0
"""Rows that come out of Spark as Arrow, packed on the executors and let go one batch after another.

PySpark's own way to a client would bring whole tables, or take rows apart into Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from anonymaly.errors import SchemaError

ROWS = 65_536  # in a packed batch


def packer() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what packs batches on the executors; they need pyarrow, and nothing of this package.

    A function within a function is sent as it is. One of a module would be sent by its name.
    """

    def pack(batches: Any) -> Any:
        import pyarrow  # noqa: PLC0415

        for batch in batches:
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pyarrow.record_batch([pyarrow.array([sink.getvalue().to_pybytes()])], names=["batch"])

    return pack


def unpacked(frame: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield a frame's rows by these names and types, one partition after the other; none is kept."""
    # By names of our own: with a dot in a column's name, PySpark does not find it here.
    numbered = frame.toDF(*(f"c{place}" for place in range(len(schema))))
    packed = numbered.mapInArrow(packer(), "batch binary")
    for row in packed.toLocalIterator(prefetchPartitions=False):
        with pa.ipc.open_stream(row[0]) as reader:
            for batch in reader:
                whole = pa.Table.from_batches([batch]).rename_columns(schema.names)
                yield from whole.cast(schema).to_batches()


def refuse_without_arrow(session: Any) -> None:
    """Refuse a cluster whose Python cannot pack batches, before any question is charged."""
    try:
        packed = session.range(1, numPartitions=1).mapInArrow(packer(), "batch binary").toArrow()
        if packed.num_rows == 1:
            return
    except Exception as problem:
        kind = type(problem).__name__
    else:
        kind = "no batch"
    raise SchemaError(
        f"Spark's own Python cannot return rows as Arrow ({kind})",
        field="source",
        next_step="Install pyarrow where Spark runs, and set PYSPARK_PYTHON to the Python that has it.",
    )
