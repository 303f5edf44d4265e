# SPDX-License-Identifier: Apache-2.0
"""`Table`: released records of any number, which stay in their file until somebody reads them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from anonymaly.ask.store import KeptFile
from anonymaly.ask.table_files import writer_for
from anonymaly.core.files import appearing
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars

GROUP = 262_144  # rows that are written together
BLOCK = 1024  # rows that the writer takes at a time, between which it may end a page
SHOWN = 5
SHOWN_IN_HTML = 10
UNSHOWN = "(cannot be shown)"
# What a spreadsheet would run as a formula begins with one of these; some read the full-width signs as well.
_FORMULA = r"\A[=+\-@\t\r\n＝＋－＠]"


class Table:
    """Released records, read from a file batch by batch.

    Examples
    --------
    >>> some = pa.table({"ward": ["A", "=1+1"], "age": [30, 41]})
    >>> table = Table.of(some.schema, [some])
    >>> table
    Table(2 rows, columns=['ward', 'age'])
    >>> table.to_csv(folder / "released.csv")
    >>> print((folder / "released.csv").read_text().strip())
    "ward","age"
    "A",30
    "'=1+1",41
    """

    def __init__(self, source: Callable[[], AbstractContextManager[BinaryIO]] | BinaryIO) -> None:
        self._source = source  # an open file, or what opens one

    @classmethod
    def of(cls, schema: pa.Schema, tables: Iterable[pa.Table]) -> Table:
        """Return a table of all these records, in a file without a name that goes when the table goes."""
        # Without a name, so that a killed process leaves nothing behind.
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the table
        # Only text repeats often enough for a dictionary; looking for one in numbers took half of the time.
        text = [field.name for field in schema if pa.types.is_string(field.type)]
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=text) as writer:
            for group in _groups(tables):
                writer.write_table(group)
        return cls(file)

    @classmethod
    def read(cls, file: KeptFile) -> Table:
        """Return the table in an open file of a store; its rows are read only when they are asked for.

        Each time, the file is opened anew, and refused if it is no longer what the ledger says.
        """
        return cls(file.reopen)

    def copy_to(self, file: BinaryIO) -> None:
        """Write the table's own bytes."""
        with self._open() as own:
            shutil.copyfileobj(own, file, 1 << 20)

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""
        with self._open() as file:
            return pq.read_schema(file).remove_metadata()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    @cached_property
    def _rows(self) -> int:
        with self._open() as file:
            return int(pq.read_metadata(file).num_rows)

    def __len__(self) -> int:
        return self._rows

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """Yield the records as Arrow batches of at most ``rows`` rows."""
        with self._open() as file:
            yield from pq.ParquetFile(file).iter_batches(rows)

    def to_arrow(self) -> pa.Table:
        """Return all records as an Arrow table."""
        return pa.Table.from_batches(self.batches(), self.schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all records as a pandas frame."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return all records as a polars frame."""
        import polars  # noqa: PLC0415  (not everybody has it)

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)  # noqa: S101 - a table never becomes a series
        return frame

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file; it appears when it is complete, and replaces one of that name."""
        with _exported(path) as file:
            self.copy_to(file)

    def to_ipc(self, path: str | Path) -> None:
        """Write an Arrow file, which readers can map into memory."""
        with _exported(path) as file, pa.ipc.new_file(file, self.schema) as writer:
            for batch in self.batches():
                writer.write_batch(batch)

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file; text that a spreadsheet would run as a formula is preceded by an apostrophe."""
        schema = pa.schema(
            [
                pa.field(escape(pa.array([field.name]))[0].as_py(), _plain_type(field.type))
                for field in self.schema
            ]
        )
        with _exported(path) as file, pyarrow.csv.CSVWriter(file, schema) as writer:
            for batch in self.batches():
                writer.write_batch(pa.record_batch([_plain(column) for column in batch.columns], schema))

    def write(self, path: str | Path) -> None:
        """Write a file in the format that its ending names."""
        writer_for(path)(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return what is in the table, without the records themselves."""
        return {"rows": len(self), "columns": {field.name: str(field.type) for field in self.schema}}

    def __repr__(self) -> str:
        return f"Table({len(self):,} rows, columns={self.columns})"

    def __str__(self) -> str:
        first = next(self.batches(SHOWN), None)
        rows = [] if first is None else list(zip(*first.columns, strict=True))
        cells = [self.columns, *([_shown(_value(item)) for item in row] for row in rows)]
        widths = [max(len(line[place]) for line in cells) for place in range(len(self.columns))]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
        return "\n".join([*lines, *(["…"] if len(self) > len(rows) else [])])

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import cells, fragment, paragraph  # noqa: PLC0415  (only notebooks)

        first = next(self.batches(SHOWN_IN_HTML), None)
        rows = [] if first is None else list(zip(*first.columns, strict=True))
        shown = [[_shown(_value(item)) for item in row] for row in rows]
        more = f", of which {len(rows):,} are shown" if len(self) > len(rows) else ""
        return fragment(cells(self.columns, shown), paragraph(f"{len(self):,} rows{more}", "faint"))

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        if callable(self._source):
            with self._source() as file:
                yield file
        else:
            self._source.seek(0)
            yield self._source


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of ``GROUP`` rows, and one of the rest.

    The writer ends pages where pieces end. A file must not show in which pieces its rows came, so they are
    cut by their number alone.
    """
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += len(table)
        while rows >= GROUP:
            joined = pa.concat_tables(held)
            yield _in_blocks(joined.slice(0, GROUP))
            held, rows = [joined.slice(GROUP)], rows - GROUP
    if rows:
        yield _in_blocks(pa.concat_tables(held))


def _in_blocks(table: pa.Table) -> pa.Table:
    # Not all in one piece, because one piece of a text column holds at most 2 GiB.
    starts = range(0, len(table), BLOCK)
    return pa.concat_tables([table.slice(start, BLOCK).combine_chunks() for start in starts])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column in a CSV file."""
    simple = pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    return kind if simple else pa.string()


def _plain(column: pa.Array) -> pa.Array:
    if _plain_type(column.type) == column.type and not pa.types.is_string(column.type):
        return column
    if not pa.types.is_string(column.type):
        values = map(_value, column)
        column = pa.array([None if item is None else str(item) for item in values], pa.string())
    return escape(column)


def escape(text: pa.Array) -> pa.Array:
    """Put an apostrophe before every text that a spreadsheet would run as a formula."""
    risky = pc.match_substring_regex(text, _FORMULA)
    quote, nothing = (pa.scalar(item, text.type) for item in ("'", ""))
    return pc.if_else(risky, pc.binary_join_element_wise(quote, text, nothing), text)


def _value(item: pa.Scalar) -> Any:
    """Return a value of any type that can be printed, even a date after the year 9999 or broken text."""
    # Types differ in what they raise, and a table that was paid for must be shown.
    with suppress(Exception):
        return item.as_py()
    with suppress(Exception):
        return item.cast(pa.string()).as_py()
    return UNSHOWN


def _shown(item: Any) -> str:
    text = "" if item is None else " ".join(str(item).split())
    return text if len(text) <= 40 else f"{text[:39]}…"


@contextmanager
def _exported(path: str | Path) -> Iterator[BinaryIO]:
    """Yield a file that appears when it is complete, or raise an error if it cannot be written."""
    place = Path(path)
    try:
        with appearing(place, private=False) as file:
            yield file
    except OSError as problem:
        raise InputError(
            f"{place} could not be written ({type(problem).__name__})",
            field="output",
            next_step="Name a file in a folder that can be written to.",
        ) from None
