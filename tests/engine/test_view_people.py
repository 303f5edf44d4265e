# SPDX-License-Identifier: Apache-2.0
"""Persons in the view: told apart byte by byte, and cut to the same rows on every engine."""

from __future__ import annotations

import itertools
import math
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.engine import lookup
from anonymaly.engine.statements import collect
from tests.engine.test_view_text import in_duckdb, in_postgresql

COLUMNS: dict[str, Domain] = {
    "flag": Flag(),
    "moment": Timestamps("2020-01-01", "2030-01-01"),
    "number": Interval(-10, 10),
    "word": Categories(["a"]),
    "code": Categories([1]),
    "real": Opaque(),
    "whole": Opaque(),
    "raw": Opaque(),
    "note": Opaque(),
}
FIELDS = {"flag": "boolean", "moment": "timestamp", "number": "double precision", "word": "text"}
FIELDS |= {"code": "integer", "real": "double precision", "whole": "bigint", "raw": "bytea", "note": "text"}
# Each list in the order of the view; what comes first is kept.
VALUES: dict[str, list[Any]] = {
    "flag": [None, False, True],
    "moment": [None, datetime(2019, 1, 1), datetime(2020, 1, 31, 9, 5), datetime(2020, 2, 1)],
    "number": [None, -1e300, -5.0, -0.0, 1e-300, 9.5, 10.0, 1e20],
    "word": [None, "", "-1", "10", "9", "B", "Zebra", "a", "zebra", "Ämter", "été", "été", "日本", "😀"],
    "code": [None, -5, 2, 10],
    "real": [None, -1e20, -2.5, 0.0, 1e-7, 2.0, 10.0, 1e16, 123456789012345680.0],
    "whole": [None, -10, -9, 10, 9, 2**53 + 1],  # as text
    "raw": [None, b"", b"\0", b"A", b"\\x", b"a", b"\xff"],
    "note": [None, "", " a", "A", "a", "b", "Ä"],
}
ROWS: list[dict[str, Any]] = [
    {"id": f"{name}{place}", **dict.fromkeys(COLUMNS), name: value}
    for name, values in VALUES.items()
    for place, (first, second) in enumerate(itertools.pairwise(values))
    for value in (second, first)
]
EXPECTED = sorted(
    repr(
        tuple(
            0.0 if value == 0 and name == "number" else value for name, value in row.items() if name != "id"
        )
    )
    for row in ROWS[1::2]
)


def arrow() -> pa.Table:
    kinds = {
        "text": pa.string(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us"),
        "bytea": pa.binary(),
    }
    kinds |= {"double precision": pa.float64(), "integer": pa.int32(), "bigint": pa.int64()}
    fields = {"id": pa.string(), **{name: kinds[kind] for name, kind in FIELDS.items()}}
    return pa.Table.from_pylist(ROWS, schema=pa.schema(fields))


def with_nulls(place: str) -> ibis.Table:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"SET default_null_order = 'nulls_{place}'")
    return connection.create_table("records", arrow())


def kept(**place: Any) -> list[str]:
    table = collect(Dataset(name="x", columns=COLUMNS, person="id", max_rows=1, **place).table)
    assert all(not math.copysign(1, value) < 0 for value in table["number"].to_pylist() if value == 0)
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


def test_a_cut_person_keeps_the_same_rows_in_every_place(tmp_path: Path) -> None:
    pq.write_table(arrow(), tmp_path / "t.parquet")
    assert kept(source=arrow()) == EXPECTED
    assert kept(source=tmp_path / "t.parquet") == EXPECTED
    assert kept(source=with_nulls("first")) == EXPECTED
    assert kept(source=with_nulls("last")) == EXPECTED


def test_a_cut_person_keeps_the_same_rows_on_postgresql(postgres: str) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in FIELDS.items())
    with psycopg.connect(postgres) as connection:
        connection.execute(f"CREATE TABLE t (id text, {columns})")
        for row in ROWS:
            connection.execute(f"INSERT INTO t VALUES ({', '.join(['%s'] * len(row))})", list(row.values()))
    assert kept(source=postgres, table="t") == EXPECTED


def test_a_cut_person_keeps_the_same_rows_on_spark(spark: Any, tmp_path: Path) -> None:
    pq.write_table(arrow(), tmp_path / "t.parquet")
    assert kept(source=spark.read.parquet(str(tmp_path / "t.parquet"))) == EXPECTED


def test_a_collation_of_spark_does_not_make_two_persons_one(spark: Any) -> None:
    rows = "('a', 1), ('A', 1), ('a ', 1), ('á', 1), ('a', 2), (NULL, 1), (NULL, 1)"
    for collation in ("UTF8_LCASE", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM"):
        frame = spark.sql(f"SELECT who COLLATE {collation} AS who, c FROM VALUES {rows} AS t(who, c)")
        assert ids({"source": frame}) == 6


def test_text_is_ordered_by_its_bytes_where_a_database_has_an_order_of_its_own(postgres: str) -> None:
    # No server here has an order in which é comes before f; that bytes are compared shows in their type.
    view = Dataset(
        name="x", columns={"c": Opaque()}, **in_postgresql(postgres, "CREATE TABLE t (c text)")
    ).table
    assert lookup.named("postgres").in_byte_order(view.c).type().is_binary()
    statement = ibis.to_sql(
        Dataset(postgres, table="t", name="x", columns={"c": Opaque()}, person="c", max_rows=1).table
    )
    assert "ORDER BY CONVERT_TO" in " ".join(statement.split())


def ids(place: dict[str, Any]) -> int:
    return collect(
        Dataset(name="x", columns={"c": Opaque()}, person="who", max_rows=1, **place).table
    ).num_rows


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_a_collation_of_duckdb_does_not_make_two_persons_one(collation: str, tmp_path: Path) -> None:
    place = in_duckdb(
        tmp_path,
        f"CREATE TABLE t (who VARCHAR COLLATE {collation}, c INTEGER)",
        "INSERT INTO t VALUES ('a', 1), ('A', 1), ('á', 1), ('a', 2), (NULL, 1), (NULL, 1)",
    )
    assert ids(place) == 5


def test_persons_of_postgresql_are_told_apart_by_their_bytes(postgres: str) -> None:
    place = in_postgresql(
        postgres,
        # Blanks at the end of a char(3) are no part of it; a text's are.
        "CREATE TABLE t (who text, c integer)",
        "INSERT INTO t VALUES ('a', 1), ('A', 1), ('a ', 1), ('á', 1), ('a', 2), (NULL, 1), (NULL, 1)",
    )
    assert ids(place) == 6


@pytest.mark.parametrize(
    ("kind", "values", "persons"),
    [
        ("numeric", ["1.0", "1.00", "1", "1.01", "NaN", "NaN"], 4),
        ("double precision", ["0", "-0", "NaN", "NaN", "Infinity", "Infinity"], 5),
        ("bigint", ["9007199254740992", "9007199254740993", "9007199254740993"], 2),
        ("numeric(4,2)", ["1.5", "1.50", "NaN", "NaN"], 3),
        ("uuid", ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000A"], 1),
        ("timestamp", ["infinity", "infinity", "2020-01-01"], 2),
    ],
)
def test_persons_that_are_numbered_are_told_apart_by_size(
    kind: str, values: list[str], persons: int, postgres: str
) -> None:
    # What is no number names nobody, and each such row is a person of its own.
    place = in_postgresql(
        postgres,
        f"CREATE TABLE t (who {kind}, c integer)",
        *(f"INSERT INTO t VALUES ('{value}', 1)" for value in values),
    )
    assert ids(place) == persons


def test_zeros_and_objects_name_one_person_in_a_frame() -> None:
    for who in ([0.0, -0.0, 1.0], pd.Series([1, 1.0, "1", "a"], dtype=object).tolist()):
        frame = pd.DataFrame({"who": pd.Series(who, dtype=object), "c": [1] * len(who)})
        assert ids({"source": frame}) == 2
    assert ids({"source": pa.table({"who": [0.0, -0.0, 1.0], "c": [1, 1, 1]})}) == 2
