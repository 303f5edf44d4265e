# SPDX-License-Identifier: Apache-2.0
"""Released tables: every file holds the same records, and no spreadsheet runs them."""

from __future__ import annotations

import csv
import io
import re
import struct
from datetime import datetime
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from anonymaly.ask.table import GROUP, UNSHOWN, Table
from anonymaly.errors import InputError

SOME = pa.table(
    {
        "text": ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "fine", 'a "quoted", one', None, "a=b"],
        "number": [1.5, -2.0, None, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
        "moment": pa.array([datetime(2020, 1, 1)] * 10),
        "several": [[1, 2]] * 10,
    }
)


def table(source: pa.Table = SOME) -> Table:
    return Table.of(source.schema, [source.slice(0, 3), source.slice(3)])


def test_every_way_out_gives_the_same_records(tmp_path: Path) -> None:
    released = table()
    assert released.to_arrow() == SOME
    assert released.to_pandas().equals(SOME.to_pandas())
    assert released.to_polars().equals(polars.from_arrow(SOME))
    assert sum(batch.num_rows for batch in released.batches(4)) == len(released) == 10
    for name in ("a.parquet", "a.arrow", "a.feather"):
        released.write(tmp_path / name)
    assert pq.read_table(tmp_path / "a.parquet") == SOME
    assert (
        pa.feather.read_table(tmp_path / "a.arrow") == pa.feather.read_table(tmp_path / "a.feather") == SOME
    )


def test_no_text_in_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    source = SOME.rename_columns(["=text", *SOME.column_names[1:]])
    table(source).to_csv(tmp_path / "a.csv")
    head, *rows = csv.reader(io.StringIO((tmp_path / "a.csv").read_bytes().decode(), newline=""))
    assert head == ["'=text", "number", "moment", "several"]
    assert [row[0] for row in rows] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "fine", 'a "quoted", one', "", "a=b",
    ]  # fmt: skip
    # Numbers are no formulas, and stay numbers.
    assert pandas.read_csv(tmp_path / "a.csv")["number"].tolist()[:2] == [1.5, -2.0]


@pytest.mark.parametrize("sign", ["\n=", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_text_that_becomes_a_formula_when_it_is_trimmed_or_normalised_is_none(
    tmp_path: Path, sign: str
) -> None:
    source = pa.table({"text": [f"{sign}1+1", f"a{sign}"]})
    Table.of(source.schema, [source]).to_csv(tmp_path / "a.csv")
    _, *rows = csv.reader(io.StringIO((tmp_path / "a.csv").read_bytes().decode(), newline=""))
    assert rows == [[f"'{sign}1+1"], [f"a{sign}"]]


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_an_empty_table_keeps_its_columns(tmp_path: Path, ending: str) -> None:
    empty = Table.of(SOME.schema, [])
    assert (len(empty), empty.columns) == (0, SOME.column_names)
    empty.write(tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 0
    assert str(empty).split() == SOME.column_names


def test_a_file_appears_when_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("old")

    def broken(self: Table, rows: int = 0) -> None:
        assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["a.csv"]
        raise KeyboardInterrupt

    monkeypatch.setattr(Table, "batches", broken)
    with pytest.raises(KeyboardInterrupt):
        table().to_csv(tmp_path / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_what_cannot_be_written_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ending \.xls"):
        table().write(tmp_path / "a.xls")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        table().write(tmp_path / "a.csv")
    with pytest.raises(InputError, match="could not be written"):
        table().to_csv(tmp_path / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_small_pieces_are_written_together() -> None:
    piece = pa.table({"x": [1]})
    released = Table.of(piece.schema, [piece] * 300)
    with released._open() as file:
        assert pq.read_metadata(file).num_row_groups == 1
    assert GROUP > 300


def written(source: pa.Table, pieces: list[int]) -> bytes:
    """Return the file of these rows when they come in pieces, cut before the rows given."""
    ends = [*pieces, len(source)]
    tables = [
        source.slice(start, end - start)
        if place % 2
        # Copied, so that it begins at the beginning of its memory.
        else source.slice(start, end - start).take(pa.array(range(end - start), pa.int64()))
        for place, (start, end) in enumerate(zip([0, *pieces], ends, strict=True))
    ]
    file = io.BytesIO()
    Table.of(source.schema, tables).copy_to(file)
    return file.getvalue()


def test_a_file_shows_nothing_of_how_its_rows_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many batches there were before sampling tells how many records there were."""
    monkeypatch.setattr("anonymaly.ask.table.GROUP", 20_480)
    rows = 50_000
    # Long text that differs, so that there are many pages; nulls in some parts only.
    texts = [None if row % 7_001 < 5 else f"{row * 7919 % rows:0120x}" for row in range(rows)]
    source = pa.table({"text": texts, "number": range(rows), "several": [[row, 1] for row in range(rows)]})
    whole = written(source, [])
    assert pq.read_table(io.BytesIO(whole)) == source
    groups = pq.read_metadata(io.BytesIO(whole))
    assert [groups.row_group(place).num_rows for place in range(3)] == [20_480, 20_480, 9_040]
    for pieces in ([25_000], [0, 1, 20_479, 20_480, 50_000], [20_481, 40_961], list(range(333, rows, 777))):
        assert written(source, pieces) == whole, pieces
    empty = source.slice(0, 0)
    assert written(empty, [0]) == written(empty, [0, 0]) == written(empty, [])


def test_values_that_python_does_not_know_are_shown() -> None:
    """It is called after the charge, so nothing in a table may make it fail."""
    far = 2**31 - 1  # days, which is how DuckDB's infinity is written
    broken = pa.StringArray.from_buffers(
        2, pa.py_buffer(struct.pack("iii", 0, 2, 4)), pa.py_buffer(b"ab\xff\xfe")
    )
    source = pa.table(
        {
            "text": broken,
            "day": pa.array([0, far], pa.int32()).cast(pa.date32()),
            "moment": pa.array([0, far * 86_400], pa.int64()).cast(pa.timestamp("s")),
            "fine": pa.array([0, 1], pa.int64()).cast(pa.timestamp("ns")),
            "days": pa.array([[0], [far]], pa.list_(pa.int32())).cast(pa.list_(pa.date32())),
        }
    )
    first, second = str(table(source)).splitlines()[1:]
    assert re.split("  +", first)[:2] == ["ab", "1970-01-01"]
    assert UNSHOWN in second
    assert len(re.split("  +", second)) == len(source.column_names)
