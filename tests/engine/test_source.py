# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
import sqlite3
import traceback
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.filters import parse
from anonymaly.declare.readings import matches
from anonymaly.engine.source import read_sample
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError, SchemaError
from tests.declare.tables import COLUMNS, PLACES, ROWS, arrow, declare, fill_postgres, records
from tests.places import Put

EXPECTED = records(declare({"source": arrow()}))
AGE = {"age": Interval(0, 120)}


@pytest.mark.parametrize("place", PLACES)
def test_the_same_table_gives_the_same_view_wherever_it_lives(place: str, tmp_path: Path) -> None:
    dataset = declare(PLACES[place](arrow(), tmp_path))
    assert records(dataset) == EXPECTED
    assert dataset.table.columns == tuple(COLUMNS)
    assert [line.problem for line in dataset.check()] == [None] * len(COLUMNS)


def test_the_same_table_gives_the_same_view_from_postgresql(postgres: str) -> None:
    fill_postgres(postgres, arrow())
    assert records(declare({"source": postgres, "table": "records"})) == EXPECTED
    assert records(declare({"source": ibis.connect(postgres).table("records")})) == EXPECTED


def test_the_view_holds_what_was_put_in() -> None:
    ages = [row[0] for row in EXPECTED]
    assert sorted(age for age in ages if age is not None) == [0, 30, 31, 300]
    assert [row[2] for row in EXPECTED if row[0] == 31] == ["two\nlines, one"]
    assert len(EXPECTED) == len(ROWS)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "rows",
    [[], [(None,) * 9] * 3, [ROWS[3]], [ROWS[0]]],
    ids=["no rows", "nulls only", "out of domain", "no null"],
)
def test_no_rows_are_an_error_anywhere(place: str, rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    dataset = declare(PLACES[place](arrow(rows), tmp_path), person="id", max_rows=2)
    if place not in ("csv parts", "parquet parts"):  # an empty part of a text file has no header either
        assert len(records(dataset)) == len(rows)
    assert records(dataset) == records(declare({"source": arrow(rows)}, person="id", max_rows=2))


@pytest.mark.parametrize("rows", [[], [(None,) * 9] * 3, ROWS], ids=["no rows", "nulls", "all"])
def test_no_rows_are_an_error_on_any_engine(rows: list[tuple[Any, ...]], put: Put) -> None:
    table = arrow(rows)
    found = records(declare(put(table), person="id", max_rows=2))
    assert found == records(declare({"source": table}, person="id", max_rows=2))
    assert len(found) == len(rows)


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_whole_number_categories_are_not_rounded_from_text(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", f"c\n1\n1.5\n2.0\n1e0\n{2**52 + 1}\n1e30\n-inf\nx\n")
    dataset = Dataset(path, name="codes", columns={"c": Categories([1, 2, 2**52 + 1])})
    found = dataset.table.to_pyarrow()["c"].to_pylist()
    assert found == [1, None, 2, 1, 2**52 + 1, None, None, None]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 1.5, np.nan, np.inf, -np.inf, 1e30, -1e300],
        np.array([1, 2**63, 2**64 - 1], dtype="uint64"),
        pd.array([1, None], dtype="Int64"),
        pd.Categorical([1, None]),
    ],
    ids=["floats", "unsigned", "nullable", "categorical"],
)
def test_whole_number_categories_take_what_is_one_and_leave_the_rest_null(values: Any) -> None:
    dataset = Dataset(pd.DataFrame({"c": values}), name="codes", columns={"c": Categories([1])})
    found = dataset.table.to_pyarrow()["c"].to_pylist()
    assert found == [1] + [None] * (len(values) - 1)


@pytest.mark.parametrize(
    "source",
    [
        None,
        5,
        b"t.csv",
        {"age": [1]},
        [1],
        np.zeros(3),
        pd.Series([1]),
        pl.Series([1]),
        pa.array([1]),
        pd.DataFrame({"age": [1]}).groupby("age"),
        arrow().to_reader(),
        pd,
    ],
    ids=lambda source: type(source).__name__,
)
def test_what_is_no_table_is_refused_by_type(source: Any) -> None:
    with pytest.raises(InputError, match=f"cannot read a table from {type(source).__name__}") as refused:
        Dataset(source, name="x", columns=AGE)
    assert refused.value.field == "source"
    assert "CSV or Parquet path" in str(refused.value)


def test_a_database_needs_to_be_told_which_table(tmp_path: Path) -> None:
    place = PLACES["duckdb file"](arrow(), tmp_path)
    for source in (place["source"], "postgresql://user:geheim@localhost/x"):
        with pytest.raises(InputError, match="Name one with table=") as refused:
            Dataset(source, name="x", columns=AGE)
        assert refused.value.field == "table"
    with pytest.raises(SchemaError, match="could not be opened"):
        _ = Dataset(place["source"], table="elsewhere", name="x", columns=AGE).table


def test_a_database_that_is_not_there_is_not_created(tmp_path: Path) -> None:
    dataset = Dataset(f"duckdb://{tmp_path}/new.duckdb", table="t", name="x", columns=AGE)
    with pytest.raises(SchemaError, match="could not be opened"):
        dataset.check()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["csv", "parquet"])
def test_a_file_that_went_after_it_was_declared_is_said_not_to_be_there(place: str, tmp_path: Path) -> None:
    options = PLACES[place](arrow(), tmp_path)
    unopened, opened = declare(options), declare(options)
    opened.ready()
    Path(options["source"]).unlink()
    for dataset in (unopened, opened):
        with pytest.raises(SchemaError, match=r"there is no file .* any more\. Put it back"):
            dataset.ready()


@pytest.mark.parametrize("place", ["parquet", "duckdb file"])
def test_a_damaged_file_is_refused_without_the_engines_words(place: str, tmp_path: Path) -> None:
    options = PLACES[place](arrow(), tmp_path)
    Path(options["source"]).write_bytes(b"Ada Lovelace" * 1000)
    with pytest.raises(SchemaError, match="could not be opened") as refused:
        _ = declare(options).table
    shown = "".join(traceback.format_exception(refused.value))
    assert "Lovelace" not in shown
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:geheim@127.0.0.1:1/db",
        "postgres://ada:geheim@127.0.0.1:1/db",
        "mysql://ada:geheim@127.0.0.1:1/db",
        "nonsense://ada:geheim@127.0.0.1:1/db",
        "duckdb://ada:geheim@nowhere/x.db",
        "://ada:geheim@nowhere",
    ],
)
def test_a_password_in_an_address_never_appears_in_an_error(url: str) -> None:
    with pytest.raises(InputError) as refused:
        _ = Dataset(url, table="t", name="x", columns=AGE).table
    error = refused.value
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "geheim" not in str(error) + repr(error) + repr(error.to_dict())


@pytest.mark.parametrize(
    "path", ["postgresql:/ada:geheim@host/db", "postgres:ada:geheim@host", "host=x password=geheim"]
)
def test_a_mistyped_address_does_not_come_back_with_its_password(path: str) -> None:
    for source in (path, Path(path)):
        with pytest.raises(InputError, match="there is no file") as refused:
            Dataset(source, table="t", name="x", columns=AGE)
        assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": [1, "x", None]}),
        pd.DataFrame({"age": [1, {"x": 1}, object()]}),
        pd.DataFrame({"age": ["1", None, None]}, dtype=object),
        pd.DataFrame({"age": [None, pd.NaT, 1]}, dtype=object),
        pd.DataFrame({"age": [2**70, 1, None]}, dtype=object),
    ],
    ids=["mixed", "strange", "text", "nulls", "huge"],
)
def test_objects_of_several_kinds_are_read_like_text_and_never_an_error(frame: pd.DataFrame) -> None:
    dataset = Dataset(frame, name="x", columns=AGE)
    found = dataset.table.to_pyarrow()["age"].to_pylist()
    assert 1 in found
    assert all(age is None or age in (1, 2.0**70) for age in found)
    assert str(dataset.check()[0].found) == "object"


@pytest.mark.parametrize("domain", [Interval(0, 1), Categories(["x"]), Categories([1]), Flag(), Opaque()])
@pytest.mark.parametrize(
    "values",
    [
        pd.Series([None, None], dtype=object),
        pd.Series([np.nan, np.nan]),
        pd.Series([], dtype="float64"),
        pd.Series([], dtype=object),
        pd.Series(pd.Categorical([None, None])),
        pl.Series([None, None]),
    ],
    ids=["objects", "floats", "no floats", "no objects", "categorical", "polars"],
)
def test_a_column_of_nothing_fits_every_declaration(values: Any, domain: Any) -> None:
    frame = pl.DataFrame({"a": values}) if isinstance(values, pl.Series) else pd.DataFrame({"a": values})
    dataset = Dataset(frame, name="x", columns={"a": domain})
    assert dataset.table.to_pyarrow()["a"].to_pylist() == [None] * len(values)


def test_a_column_of_nothing_in_a_parquet_file_fits_too(tmp_path: Path) -> None:
    pd.DataFrame({"a": [None, None]}).to_parquet(tmp_path / "t.parquet")
    dataset = Dataset(tmp_path / "t.parquet", name="x", columns={"a": Categories(["x"])})
    assert dataset.table.to_pyarrow()["a"].to_pylist() == [None, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_beyond_the_calendar_are_null(unit: Any) -> None:
    values = pa.array([0, 2**63 - 1, -(2**63) + 1, None], pa.int64()).cast(pa.timestamp(unit))
    dataset = Dataset(
        pa.table({"t": values}), name="x", columns={"t": Timestamps("2020-01-01", "2021-01-01")}
    )
    found = dataset.table.to_pyarrow()["t"].cast(pa.int64()).to_pylist()
    assert found[0] == 0
    assert found[3] is None
    assert found[1:3] == [None, None] or unit == "ns"


def test_moments_of_a_database_beyond_the_calendar_are_null(postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE t (d date, m timestamp, x numeric, f real)")
        connection.execute(
            "INSERT INTO t VALUES ('infinity', '-infinity', 'NaN', 'NaN'), ('500000-01-01', '290000-01-01', "
            "'1e400', 'inf'), ('2020-02-03', '2020-02-03 04:05', '2.5', 2.5)"
        )
    period = Timestamps("2020-01-01", "2021-01-01")
    columns = {"d": period, "m": period, "x": Interval(0, 9), "f": Interval(0, 9)}
    rows = records(Dataset(postgres, table="t", name="x", columns=columns))
    assert rows[1:] == [(None,) * 4] * 2
    assert [str(value) for value in rows[0]] == ["2020-02-03 00:00:00", "2020-02-03 04:05:00", "2.5", "2.5"]


def test_decimals_of_a_database_that_no_float_comes_near_are_nothing(postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE t (x numeric, y numeric(500, 450))")
        for value in ("1e-400", "-1e-400", "1e-324", "1e-200", "2.5", "NaN", None):
            connection.execute("INSERT INTO t VALUES (%s::numeric, %s::numeric)", (value, value))
    columns = {"x": Interval(-9, 9), "y": Interval(-9, 9)}
    rows = records(Dataset(postgres, table="t", name="x", columns=columns))
    expected = [0.0, 0.0, 0.0, 1e-200, 2.5, None, None]
    assert sorted(map(str, rows)) == sorted(str((value, value)) for value in expected)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.decimal128(25, 2), pa.int8(), pa.uint64()])
def test_numbers_of_every_width_are_numbers(kind: pa.DataType) -> None:
    table = pa.table({"age": pa.array([1, 2, None], pa.int64()).cast(kind)})
    dataset = Dataset(table, name="x", columns=AGE)
    assert dataset.table.to_pyarrow()["age"].to_pylist() == [1, 2, None]


def test_a_frame_with_a_column_twice_or_without_one_is_refused() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(SchemaError, match=r"columns\.age: is in the frame twice"):
        Dataset(twice, name="x", columns=AGE)
    for frame in (
        pd.DataFrame({"x": [1]}),
        pl.DataFrame({"x": [1]}),
        pl.LazyFrame({"x": [1]}),
        pa.table({"x": [1]}),
    ):
        with pytest.raises(SchemaError, match=r"columns\.age: is not in the frame"):
            Dataset(frame, name="x", columns=AGE)
    with pytest.raises(SchemaError, match=r"is not in the frame\. Did you mean Age\?"):
        Dataset(pd.DataFrame({"Age": [1]}), name="x", columns=AGE)


def test_a_lazy_frame_that_fails_is_refused_without_its_values() -> None:
    frame = pl.LazyFrame({"age": ["Lovelace"]}).select(pl.col("age").cast(pl.Int64))
    with pytest.raises(SchemaError) as refused:
        Dataset(frame, name="x", columns=AGE)
    assert "Lovelace" not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__context__ is None


def _sum(dataset: Dataset, answers: Any) -> None:
    answers.put(collect(dataset.table.age.sum())[0][0].as_py())


@pytest.mark.parametrize(
    "place",
    ["csv", "parquet", "duckdb file", "duckdb url", "pandas", "polars", "arrow", "ibis", "postgresql"],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_use_what_its_parent_used(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # Enough rows for the engine to have started its threads before the fork.
    many = arrow([(None, age % 100, None, None, None, None, None, None, None) for age in range(50_000)])
    if place == "postgresql":
        url = request.getfixturevalue("postgres")
        fill_postgres(url, arrow())
        dataset = declare({"source": url, "table": "records"})
    else:
        dataset = declare(PLACES[place](many, tmp_path))
    before = collect(dataset.table.age.sum())[0][0].as_py()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_sum, args=(dataset, answers))
    child.start()
    child.join(60)
    stuck = child.is_alive()
    child.kill()
    assert not stuck
    assert child.exitcode == 0
    assert answers.get() == before == collect(dataset.table.age.sum())[0][0].as_py()


def test_types_and_some_texts_are_read_for_an_owner_about_to_declare_them(tmp_path: Path) -> None:
    options = PLACES["duckdb file"](arrow(), tmp_path)
    types, texts = read_sample(str(options["source"]), options["table"], 2)
    assert list(types) == arrow().column_names
    assert str(types["consent"]) == "boolean"
    assert set(texts) == {name for name, kind in types.items() if kind.is_string()}
    assert all(len(found) <= 2 for found in texts.values())


@pytest.mark.parametrize(
    ("rows", "more", "domain", "where"),
    [
        ([1], 2.5, Categories(["1", "2"]), "c == '1'"),
        ([True], "z", Categories(["True", "False"]), "c == 'True'"),
        ([Decimal("1.1")], Decimal("2.25"), Categories(["1.1", "2"]), "c == '1.1'"),
        ([1], 2.5, Flag(), "c"),
        ([b"A"], 5, Categories(["A"]), "c == 'A'"),
        ([datetime(2020, 1, 1)], "z", Categories(["2020-01-01 00:00:00"]), "c == '2020-01-01 00:00:00'"),
        ([1.0], "z", Interval(0, 9), "c == 1"),
        ([None, 1], {}, Interval(0, 9), "c == 1"),
    ],
)
def test_one_object_more_in_a_frame_changes_no_other_row(
    rows: list[Any], more: Any, domain: Any, where: str
) -> None:
    def matching(values: list[Any]) -> int:
        frame = pd.DataFrame({"c": pd.Series(values, dtype=object)})
        table = Dataset(frame, name="objects", columns={"c": domain}).table
        return int(table.filter(matches(parse(where, {"c": domain}), table)).count().execute())

    before = matching(rows * 100)
    assert before == 100
    assert matching(rows * 100 + [more]) - before in (0, 1)


def test_a_missing_value_changes_no_other_whole_number() -> None:
    def matching(values: list[Any]) -> int:
        table = Dataset(pd.DataFrame({"c": values}), name="whole", columns={"c": Interval(0, 2**60)}).table
        return int(table.filter(table.c == 2.0**53).count().execute())

    assert matching([2**53 + 1] * 100) == matching([2**53 + 1] * 100 + [None])


def test_sqlite_is_refused_because_its_columns_have_no_types(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    sqlite3.connect(path).execute("create table people (born text)").connection.close()
    sources: list[Any] = [f"sqlite://{path}", ibis.sqlite.connect(path).table("people")]
    for source in sources:
        table = "people" if isinstance(source, str) else None
        with pytest.raises(InputError, match=r"SQLite.*Parquet"):
            Dataset(source, table=table, name="people", columns={"born": Interval(0, 1)})
