# SPDX-License-Identifier: Apache-2.0
"""Files of new records, which are the asker's own: read in batches, and written with further columns."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from anonymaly.ask.table import escape
from anonymaly.core.files import PartialFile
from anonymaly.errors import InputError

ROWS = 65_536  # of a batch
BYTES = 8 * 2**20
KINDS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
# Text that begins like a formula and is a number all the same.
NUMBER = r"^[+\-]?[0-9.]+([eE][+\-]?[0-9]+)?$"


def kind_of(path: Path, field: str) -> str:
    """Return csv or parquet, by the ending."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            f"the ending of {path} does not name a known format",
            field=field,
            next_step=f"Give a file that ends in {' or '.join(KINDS)}.",
        )
    return kind


class RecordFile:
    """A CSV or Parquet file of records, with the columns that a model scores and what they hold.

    An empty field of a CSV file is a missing value in all of them.
    """

    def __init__(self, path: Path, kinds: Mapping[str, pa.DataType]) -> None:
        self._path, self._kinds, self._kind = path, kinds, kind_of(path, "records")
        with self._explained():
            self.names: list[str] = self._schema().names
            rows = pyarrow.parquet.read_metadata(path).num_rows if self._kind == "parquet" else None
        self.rows: int | None = rows  # where the file says so without being read
        missing = [name for name in kinds if name not in self.names]
        if missing or len(set(self.names)) < len(self.names):
            raise InputError(
                f"{path} has no column {missing[0]!r}" if missing else f"{path} names a column twice",
                field="records",
                next_step=f"The model scores {', '.join(kinds)}.",
            )

    def batches(self) -> Generator[pa.RecordBatch, None, None]:
        """Yield the records in order; one empty batch for a file without records."""
        with self._explained(), self._open() as file:
            schema, empty = file.schema, True
            for batch in file.iter_batches(ROWS) if self._kind == "parquet" else file:
                empty = False
                yield batch
            if empty:
                arrow = schema.to_arrow_schema() if self._kind == "parquet" else schema
                yield pa.RecordBatch.from_pylist([], schema=arrow)

    def _open(self) -> Any:
        if self._kind == "parquet":
            return pyarrow.parquet.ParquetFile(self._path)
        # Columns that the model does not use are passed on as they are written.
        kinds = {name: self._kinds.get(name, pa.string()) for name in self.names}
        return pyarrow.csv.open_csv(
            self._path,
            pyarrow.csv.ReadOptions(block_size=BYTES),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=kinds,
                # Where a model knows labels, an empty one is missing; other columns stay as they are written.
                strings_can_be_null=pa.string() in self._kinds.values(),
                quoted_strings_can_be_null=False,
            ),
        )

    def _schema(self) -> pa.Schema:
        if self._kind == "parquet":
            return pyarrow.parquet.read_schema(self._path)
        with pyarrow.csv.open_csv(self._path) as reader:
            return reader.schema

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as problem:
            reason = str(problem).partition("\n")[0]
            raise InputError(
                f"cannot read {self._path}: {reason}",
                field="records",
                next_step="Give a complete CSV or Parquet file with values of the model's columns.",
            ) from None


class ScoreFile:
    """The file of scored records; it appears when all of it is written."""

    def __init__(self, path: Path) -> None:
        self._path, self._kind = path, kind_of(path, "output")
        self._writer: Any = None
        if path.is_dir():
            raise InputError(f"{path} is a folder", field="output", next_step="Name a file in it.")
        with self._explained():
            self._partial = PartialFile(path.parent)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add a batch."""
        batch = _without_formulas(batch) if self._kind == "csv" else batch
        if self._writer is None:
            kind = pyarrow.csv.CSVWriter if self._kind == "csv" else pyarrow.parquet.ParquetWriter
            self._writer = kind(self._partial.file, batch.schema)
        with self._explained():
            self._writer.write_batch(batch)

    def __enter__(self) -> ScoreFile:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        with self._partial, self._explained():
            if self._writer is not None:
                self._writer.close()
            if kind is None and self._writer is not None:
                self._partial.appear(self._path)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise InputError(
                f"cannot write to {self._path.parent} ({type(problem).__name__})",
                field="output",
                next_step="Give a path in a folder that can be written to.",
            ) from None


def _without_formulas(batch: pa.RecordBatch) -> pa.RecordBatch:
    plain = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    columns = [
        _escaped(column)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
        for column in plain
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _escaped(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.match_substring_regex(column, NUMBER), column, escape(column))
