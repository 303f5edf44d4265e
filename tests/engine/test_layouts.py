# SPDX-License-Identifier: Apache-2.0
"""Files as people have them: partitions, packed text, parts of one table, and what lies elsewhere."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import anonymaly as am
from anonymaly.engine import duckdb as embedded
from anonymaly.errors import InputError, SchemaError
from tests.declare.tables import records

AGE = {"age": am.Interval(0, 120)}
WITH_FOLDERS = {**AGE, "year": am.Interval(2000, 2100), "ward": am.Categories(["A", "two words/ü"])}
ROWS = [(1, 2023, "A"), (2, 2024, "A"), (3, 2024, "two words/ü"), (4, 2024, None)]


def by_arrow(folder: Path) -> None:
    columns = list(zip(*ROWS, strict=True))
    table = pa.table(dict(zip(("age", "year", "ward"), map(list, columns), strict=True)))
    kinds = pa.schema([("year", pa.int64()), ("ward", pa.string())])
    pa.dataset.write_dataset(
        table, folder, format="parquet", partitioning=pa.dataset.partitioning(kinds, flavor="hive")
    )


def by_duckdb(folder: Path) -> None:
    rows = ", ".join(f"({a}, {y}, {'NULL' if w is None else repr(w)})" for a, y, w in ROWS)
    duckdb.connect().execute(
        f"COPY (SELECT * FROM (VALUES {rows}) t(age, year, ward)) TO '{folder}' "
        "(FORMAT parquet, PARTITION_BY (year, ward))"
    )


def as_text(folder: Path) -> None:
    for age, year, ward in ROWS:
        names = {"two words/ü": "two%20words%2F%C3%BC", None: "__HIVE_DEFAULT_PARTITION__"}
        place = folder / f"year={year}" / f"ward={names.get(ward, ward)}"
        place.mkdir(parents=True)
        (place / "part.csv.gz").write_bytes(gzip.compress(f"age,note\n{age},x\n".encode()))


@pytest.mark.parametrize("write", [by_arrow, by_duckdb, as_text])
def test_a_folder_of_partitions_is_one_table(write: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "table"
    write(folder)
    for name in ("_SUCCESS", ".part.crc"):
        (folder / name).write_text("")
    dataset = am.Dataset(folder, name="t", columns=WITH_FOLDERS)
    assert records(dataset) == ROWS
    assert [line.problem for line in dataset.check()] == [None] * 3
    ending = "csv.gz" if write is as_text else "parquet"
    assert records(am.Dataset(f"{folder}/**/*.{ending}", name="t", columns=WITH_FOLDERS)) == ROWS


def test_one_more_folder_changes_no_other_row(tmp_path: Path) -> None:
    by_arrow(tmp_path)
    more = tmp_path / "year=unknown" / "ward=A"
    more.mkdir(parents=True)
    pq.write_table(pa.table({"age": [5]}), more / "x.parquet")
    assert records(am.Dataset(tmp_path, name="t", columns=WITH_FOLDERS)) == [*ROWS, (5, None, "A")]


def test_folders_of_other_columns_are_named(tmp_path: Path) -> None:
    for place in ("year=2023", "month=1"):
        (tmp_path / place).mkdir()
        pq.write_table(pa.table({"age": [5]}), tmp_path / place / "x.parquet")
    with pytest.raises(SchemaError, match=r"folders of month, and .*year=….* in folders of year"):
        am.Dataset(tmp_path, name="t", columns=AGE).check()
    (tmp_path / "t" / "age=5").mkdir(parents=True)
    (tmp_path / "t" / "age=5" / "x.csv").write_text("age\n1\n")
    with pytest.raises(SchemaError, match="age is a column of the files and of the folders"):
        am.Dataset(tmp_path / "t", name="t", columns=AGE).check()


ODD_VALUES = ["x=y", "what?", "a\nb", "a\\b", "%FF", "100%", "%00", "*[a]", "", "%2F..%2F"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("value", ODD_VALUES)
def test_what_a_folder_is_called_after_opens_or_closes_no_table(
    value: str, ending: str, tmp_path: Path
) -> None:
    for place, text in enumerate([value, "A"]):
        folder = tmp_path / f"ward={text}"
        folder.mkdir()
        if ending == "csv":
            (folder / "x.csv").write_text(f"age\n{place}\n")
        else:
            pq.write_table(pa.table({"age": [place]}), folder / "x.parquet")
    dataset = am.Dataset(tmp_path, name="t", columns={**AGE, "ward": am.Opaque()})
    meant = None if value == "%FF" else unquote(value)
    assert records(dataset) == [(0, meant), (1, "A")]


def test_a_folder_may_have_the_name_that_lines_have_here(tmp_path: Path) -> None:
    for place in range(2):
        (tmp_path / f"line=U{place}").mkdir()
        (tmp_path / f"line=U{place}" / "x.csv").write_text(f"age,note\n{place},x\n")
    columns = {**AGE, "line": am.Categories(["U0", "U1"])}
    assert records(am.Dataset(tmp_path, name="t", columns=columns)) == [(0, "U0"), (1, "U1")]


def _broken(file: Path) -> None:
    file.write_bytes(b"PAR1 and no more")


def _of_another_type(file: Path) -> None:
    pq.write_table(pa.table({"age": ["x"]}), file)


def _without_the_column(file: Path) -> None:
    pq.write_table(pa.table({"note": ["x"]}), file)


def _deeper(file: Path) -> None:
    (file.parent / "diagnosis=Geheim").mkdir()
    pq.write_table(pa.table({"age": [1]}), file.parent / "diagnosis=Geheim" / "y.parquet")


def _as_text_of_another_header(file: Path) -> None:
    (file.parents[1] / "ward=A" / "x.parquet").unlink()
    (file.parents[1] / "ward=A" / "x.csv").write_text("age\n1\n")
    file.with_suffix(".csv").write_text("years\n1\n")


def _of_a_nameless_column(file: Path) -> None:
    (file.parents[1] / "ward=A" / "x.parquet").unlink()
    file.with_suffix(".csv").write_text("age,,\n1\n")


@pytest.mark.parametrize(
    "change",
    [
        _broken,
        _of_another_type,
        _without_the_column,
        _deeper,
        _as_text_of_another_header,
        _of_a_nameless_column,
    ],
)
def test_no_refusal_shows_the_values_that_folders_are_called_after(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    for value in ("A", "Geheim"):
        (tmp_path / f"ward={value}").mkdir()
    pq.write_table(pa.table({"age": [1]}), tmp_path / "ward=A" / "x.parquet")
    change(tmp_path / "ward=Geheim" / "x.parquet")
    with pytest.raises(SchemaError, match=r"ward=….* \(file \d of \d\)") as refused:
        am.Dataset(tmp_path, name="t", columns=AGE).check()
    assert "Geheim" not in str(refused.value)


def test_folders_of_text_in_another_encoding_are_columns_too(tmp_path: Path) -> None:
    (tmp_path / "year=2023").mkdir()
    (tmp_path / "year=2023" / "x.csv").write_bytes("age;ward\n1;Gyn\xe4\n".encode("latin-1"))
    columns = {**AGE, "year": am.Interval(2000, 2100), "ward": am.Categories(["Gynä"])}
    dataset = am.Dataset(tmp_path, name="t", columns=columns, file={"encoding": "latin-1"})
    assert records(dataset) == [(1, 2023, "Gynä")]


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACKINGS)
@pytest.mark.parametrize("options", [{}, {"line_breaks": True}, {"file": {"encoding": "latin-1"}}], ids=str)
def test_packed_text_is_read(ending: str, options: dict[str, Any], tmp_path: Path) -> None:
    for place in range(2):
        packed = PACKINGS[ending](f"age,ward\n{place},A\n".encode())
        (tmp_path / f"{place}.csv.{ending}").write_bytes(packed)
    columns = {**AGE, "ward": am.Categories(["A"])}
    for source in (tmp_path, f"{tmp_path}/*.csv.{ending}"):
        assert records(am.Dataset(source, name="t", columns=columns, **options)) == [(0, "A"), (1, "A")]


@pytest.mark.parametrize("inner", ["tar", "json", "ndjson", "parquet", "xlsx", "sql", "duckdb"])
@pytest.mark.parametrize("ending", PACKINGS)
def test_a_packed_file_that_is_no_text_is_refused_by_its_name(
    inner: str, ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"t.{inner}.{ending}"
    path.write_bytes(PACKINGS[ending](b"age\n1\n"))
    with pytest.raises(InputError, match=rf"the ending \.{inner}\.{ending} of .* does not name") as refused:
        am.Dataset(path, name="t", columns=AGE)
    assert refused.value.field == "source"


@pytest.mark.parametrize("name", ["t.gz", "t.txt.gz", "T.CSV.GZ", "visits.2024.gz", "t.tab.gz"])
def test_packed_text_may_have_any_other_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"age\n1\n"))
    assert records(am.Dataset(tmp_path / name, name="t", columns=AGE)) == [(1,)]


def test_folders_that_are_links_are_read_once_and_never_in_a_circle(tmp_path: Path) -> None:
    for place, age in (("table/year=1", 1), ("elsewhere", 2)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "x.csv").write_text(f"age\n{age}\n")
    (tmp_path / "table" / "year=2").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "table" / "year=1" / "round").symlink_to(tmp_path / "table")
    columns = {**AGE, "year": am.Interval(0, 9)}
    assert records(am.Dataset(tmp_path / "table", name="t", columns=columns)) == [(1, 1), (2, 2)]


def test_a_link_that_leads_nowhere_is_not_left_out_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n")
    (tmp_path / "b.csv").symlink_to(tmp_path / "b.csv")
    with pytest.raises(InputError, match="cannot be looked into") as refused:
        am.Dataset(tmp_path, name="t", columns=AGE)
    assert refused.value.field == "source"
    (tmp_path / "b.csv").unlink()
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(SchemaError, match="could not be opened"):
        am.Dataset(tmp_path, name="t", columns=AGE).check()


def test_a_file_that_is_not_whole_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(SchemaError, match=r"b\.parquet is no whole Parquet file") as refused:
        am.Dataset(tmp_path, name="t", columns=AGE).check()
    assert refused.value.__context__ is None


@pytest.mark.parametrize("ending", ["bz2", "xz", "zip"])
def test_what_cannot_be_unpacked_is_refused_with_what_can(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"t.csv.{ending}").write_bytes(bz2.compress(b"age\n1\n"))
    with pytest.raises(InputError, match=rf"packed as \.{ending}") as refused:
        am.Dataset(tmp_path / f"t.csv.{ending}", name="t", columns=AGE)
    assert refused.value.field == "source"
    assert ".zst" in str(refused.value.next_step)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (pa.table({"age": ["x"]}), r"age is int64 in .*1\.parquet and string in .*2\.parquet"),
        (pa.table({"age": [True]}), r"age is int64 in .*1\.parquet and bool in .*2\.parquet"),
        (
            pa.table({"age": pa.array([1], pa.decimal128(38, 30))}),
            r"age is int64 in .* and decimal128\(38, 30\)",
        ),
        (pa.table({"age": pa.array([1], pa.float32())}), r"age is int64 in .* and float in"),
        (pa.table({"Age": [1]}), r"1\.parquet has the column age, and .*2\.parquet has not"),
    ],
)
def test_files_that_differ_in_a_declared_column_are_named(
    second: pa.Table, said: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"age": [1], "note": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(second, tmp_path / "2.parquet")
    with pytest.raises(SchemaError, match=said) as refused:
        am.Dataset(tmp_path / "*.parquet", name="t", columns=AGE).check()
    assert refused.value.field == "columns.age"
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.timestamp("us"), pa.timestamp("ns")),  # in nanoseconds, 9999-12-31 fails the statement
        (pa.date32(), pa.timestamp("us")),  # and as a timestamp the last day of dates does
        (pa.decimal128(38, 2), pa.decimal128(38, 10)),  # the first one's digits were all that was left
    ],
)
def test_files_whose_types_could_fail_at_a_value_are_not_one_table(
    first: pa.DataType, second: pa.DataType, tmp_path: Path
) -> None:
    for place, kind in enumerate([first, second]):
        pq.write_table(pa.table({"seen": pa.nulls(1, kind)}), tmp_path / f"{place}.parquet")
    with pytest.raises(SchemaError, match=r"seen is .* in .*0\.parquet and .* in .*1\.parquet"):
        am.Dataset(tmp_path, name="t", columns={"seen": am.Opaque()}).check()


def test_files_may_differ_in_what_is_read_alike_and_in_what_is_not_declared(tmp_path: Path) -> None:
    kinds = [pa.int32(), pa.float64(), pa.uint64(), pa.null()]
    for place, kind in enumerate(kinds):
        values = pa.nulls(1) if pa.types.is_null(kind) else pa.array([place], pa.int64()).cast(kind)
        more = {"other": pa.array([["x", 1, True, None][place]])} if place else {}
        pq.write_table(pa.table({"age": values, **more}), tmp_path / f"{place}.parquet")
    assert records(am.Dataset(tmp_path, name="t", columns=AGE)) == [(0,), (1,), (2,), (None,)]


@pytest.mark.parametrize(
    "address",
    [
        "s3://clinic/visits.parquet",
        "s3a://clinic/visits",
        "gs://clinic/*.parquet",
        "abfss://clinic@account.dfs.core.windows.net/visits",
        "az://clinic/visits.csv",
        "https://ada:geheim@example.org/visits.parquet",
        "http://example.org/visits.csv",
        "hf://datasets/clinic/visits.parquet",
        "HDFS://name/visits",
    ],
)
@pytest.mark.parametrize("table", [None, "visits"])
def test_what_lies_elsewhere_is_refused_with_the_way_to_read_it(address: str, table: str | None) -> None:
    with pytest.raises(InputError, match="is not read from here") as refused:
        am.Dataset(address, table=table, name="t", columns=AGE)
    assert refused.value.field == "source"
    assert "Copy the files to a disk" in str(refused.value.next_step)
    assert "geheim" not in str(refused.value)


def test_an_address_that_was_made_a_path_is_refused_as_an_address() -> None:
    with pytest.raises(InputError, match=r"s3:// is in an object store, which is not read from here"):
        am.Dataset(Path("s3://clinic/visits.parquet"), name="t", columns=AGE)


def test_the_engine_fetches_no_extension_by_itself(tmp_path: Path) -> None:
    duckdb.connect(tmp_path / "t.duckdb").execute("CREATE TABLE t AS SELECT 1 AS age").close()
    (tmp_path / "t.csv").write_text("age\n1\n")
    sources: list[Any] = [tmp_path / "t.csv", pa.table({"age": [1]})]
    opened = [am.Dataset(source, name="t", columns=AGE).table for source in sources]
    opened.append(am.Dataset(tmp_path / "t.duckdb", table="t", name="t", columns=AGE).table)
    for table in opened:
        ask = "SELECT current_setting('autoinstall_known_extensions')"
        assert table.get_backend().con.execute(ask).fetchall() == [(False,)]
    with pytest.raises(duckdb.Error):
        embedded.ENGINE._in_memory().con.execute("SELECT * FROM 'https://127.0.0.1:1/x.parquet'")


def test_a_schema_of_a_database_file_is_named_before_a_dot(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS SELECT 7 AS age")
    assert records(am.Dataset(tmp_path / "t.duckdb", table="clinic.visits", name="t", columns=AGE)) == [(7,)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_question_is_about_the_files_as_they_are_when_it_is_asked(ending: str, tmp_path: Path) -> None:
    columns = {**AGE, "bmi": am.Interval(0, 120)}
    folder = tmp_path / "table"
    folder.mkdir()

    def write(name: str, rows: dict[str, list[int]]) -> None:
        if ending == "csv":
            lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        else:
            pq.write_table(pa.table(rows), folder / f"{name}.parquet")

    write("1", {"age": [90] * 400, "bmi": [20] * 400})
    curator = am.Curator(
        am.Dataset(folder, name="t", columns=columns), budget=90, ledger=tmp_path / "t.ledger"
    )

    def aged(number: int) -> int:
        return int(curator.ask(am.Count(where="age > 50", epsilon=5), repeat=number).value)

    assert abs(aged(0) - 400) < 20
    # The same columns in another order: read by the old order, ages would be 20.
    write("1", {"bmi": [20] * 400, "age": [90] * 400})
    os.utime(next(folder.iterdir()), (1, 1))
    assert abs(aged(1) - 400) < 20
    write("2", {"bmi": [20] * 300, "age": [90] * 300})
    assert abs(aged(2) - 700) < 20
    (folder / f"1.{ending}").unlink()
    assert abs(aged(3) - 300) < 20


def test_a_file_of_another_encoding_that_was_replaced_is_copied_anew(tmp_path: Path) -> None:
    file, other = tmp_path / "t.csv", tmp_path / "other"
    file.write_text("age\n1\n")
    other.write_text("age\n2\n")  # as long, and as rsync and cp -p do it, of the same time
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    dataset = am.Dataset(file, name="t", columns=AGE, file={"encoding": "latin-1"})
    assert records(dataset) == [(1,)]
    other.replace(file)
    dataset.ready()
    assert records(dataset) == [(2,)]
