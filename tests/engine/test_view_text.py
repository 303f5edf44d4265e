# SPDX-License-Identifier: Apache-2.0
"""Text in the view: told apart byte by byte, and never a failure, whatever a row holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Opaque
from anonymaly.engine import lookup
from anonymaly.engine.statements import collect, collect_batches
from anonymaly.engine.view import read_as
from anonymaly.errors import SchemaError

WARD: dict[str, Domain] = {"c": Categories(["A", "B"])}
OPAQUE: dict[str, Domain] = {"c": Opaque()}


def view(source: Any, columns: dict[str, Domain], **options: Any) -> ibis.Table:
    return Dataset(source, name="x", columns=columns, **options).table


def in_duckdb(folder: Path, *statements: str) -> dict[str, Any]:
    with duckdb.connect(folder / "t.duckdb") as connection:
        for statement in statements:
            connection.execute(statement)
    return {"source": folder / "t.duckdb", "table": "t"}


def in_postgresql(postgres: str, *statements: str) -> dict[str, Any]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    return {"source": postgres, "table": "t"}


def found(table: ibis.Table) -> list[Any]:
    """The values, in the two ways in which questions read them."""
    ordered = table.order_by("c")
    at_once: list[Any] = collect(ordered)["c"].to_pylist()
    assert at_once == [value for batch in collect_batches(ordered, 2) for value in batch["c"].to_pylist()]
    return at_once


def called_a(table: ibis.Table) -> list[list[Any]]:
    kept = [table.filter(table.c == "A"), table.filter(table.c.isin(["A"])), table.select("c").distinct()]
    return [found(item) for item in kept]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_a_collation_of_duckdb_does_not_make_texts_equal(collation: str, tmp_path: Path) -> None:
    place = in_duckdb(
        tmp_path,
        f"CREATE TABLE t (c VARCHAR COLLATE {collation})",
        "INSERT INTO t VALUES ('A'), ('a'), ('Á'), ('A'), (NULL)",
    )
    assert called_a(view(columns=WARD, **place)) == [["A", "A"], ["A", "A"], ["A", "a", "Á", None]]


def test_a_collation_of_postgresql_is_taken_off(postgres: str) -> None:
    # A database's own collation calls no two texts equal; a column's may, in a server built with ICU.
    place = in_postgresql(postgres, 'CREATE TABLE t (c text COLLATE "POSIX")', "INSERT INTO t VALUES ('A')")
    collation_of = ibis.udf.scalar.builtin(lambda text: ..., name="pg_collation_for", signature=((str,), str))
    raw = ibis.connect(postgres).table("t")
    for table, collation in ((raw, '"POSIX"'), (view(columns=WARD, **place), '"default"')):
        assert found(table.select(c=collation_of(table.c))) == [collation]


def test_a_connection_that_ignores_case_is_refused() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 'a' AS c")
    assert found(view(connection.table("t"), WARD)) == ["a"]
    connection.raw_sql("SET default_collation = 'nocase'")
    with pytest.raises(SchemaError, match="compares text by nocase") as refused:
        view(connection.table("t"), WARD)
    assert refused.value.field == "source"


def test_text_of_an_engine_that_nobody_looked_at_is_refused(tmp_path: Path) -> None:
    connection = ibis.sqlite.connect(tmp_path / "t.sqlite")
    connection.raw_sql("CREATE TABLE t (c TEXT)").close()
    with pytest.raises(SchemaError, match="sqlite may compare different texts as equal") as refused:
        read_as(connection.table("t").c, "text", lookup.of(connection.table("t")))
    assert refused.value.field == "source"


def test_text_of_a_frame_that_is_not_utf_8_is_null() -> None:
    broken = pa.array([b"A", b"\xff\xfe", b"B"]).view(pa.string())
    for columns in (WARD, OPAQUE):
        assert found(view(pa.table({"c": broken}), columns)) == ["A", "B", None]


IN_DUCKDB = {
    "HUGEINT": ["1", "-170141183460469231731687303715884105728"],
    "UHUGEINT": ["1", "340282366920938463463374607431768211455"],
    "DECIMAL(38, 2)": ["1.50", "99999999999999999999.01"],
    "DATE": ["2020-01-01", "20000-01-01", "infinity"],
    "TIMESTAMP": ["2020-01-01 00:00:00", "20000-01-01 00:00:00", "infinity"],
    "TIMESTAMP_NS": ["2020-01-01 00:00:00.000000001"],
    "TIMESTAMPTZ": ["infinity"],
    "TIME": ["10:00:00", "24:00:00"],
    "TIMETZ": ["10:00:00+02"],
    "INTERVAL": ["1 day", "1 month"],
    "UUID": ["00000000-0000-0000-0000-000000000001"],
    "BIT": ["101"],
    "ENUM('x', 'y')": ["x"],
    "UNION(number INTEGER, word VARCHAR)": ["word"],
    "INTEGER[]": ["[1, 2]"],
    "STRUCT(a INTEGER)": ["{'a': 1}"],
    "MAP(VARCHAR, INTEGER)": ["{a=1}"],
    "JSON": ["{}"],
}
IN_POSTGRESQL = {
    "numeric": ["1.12345678901234567890", "1" + "0" * 60, "NaN"],
    "date": ["0044-01-01 BC", "2020-01-01", "infinity"],
    "timestamp": ["0044-01-01 00:00:00 BC", "2020-01-01 00:00:00", "infinity"],
    "timestamptz": ["-infinity", "infinity"],
    "time": ["10:00:00", "24:00:00"],
    "interval": ["1 day", "1 mon"],
    "uuid": ["00000000-0000-0000-0000-000000000001"],
    "inet": ["1.2.3.4/32", "::1/128"],
    "int[]": ["{1}", "{{1,2},{3,4}}"],
    "jsonb": ["[1]", "{}"],
    "int4range": ["[1,3)"],
    "moods": ["fine"],
}


def same_for_every_row(place: dict[str, Any], texts: list[str]) -> None:
    table = view(columns=OPAQUE, **place)
    assert table.schema()["c"].is_string()
    assert sorted(found(table.filter(table.c.notnull()))) == sorted(texts)
    # A person's rows are ordered by what they hold.
    cut = view(columns=OPAQUE, person="who", max_rows=1, **place)
    assert collect(cut).num_rows == 1


@pytest.mark.parametrize("kind", IN_DUCKDB)
def test_what_duckdb_holds_in_an_opaque_column_is_its_text(kind: str, tmp_path: Path) -> None:
    place = in_duckdb(
        tmp_path,
        f"CREATE TABLE t (who INTEGER, c {kind})",
        "INSERT INTO t VALUES (1, NULL)",
        *(f"INSERT INTO t VALUES (1, $${text}$$)" for text in IN_DUCKDB[kind]),
    )
    same_for_every_row(place, IN_DUCKDB[kind])


@pytest.mark.parametrize("kind", IN_POSTGRESQL)
def test_what_postgresql_holds_in_an_opaque_column_is_its_text(kind: str, postgres: str) -> None:
    place = in_postgresql(
        postgres,
        "CREATE TYPE moods AS ENUM ('fine')",
        f"CREATE TABLE t (who integer, c {kind})",
        "INSERT INTO t VALUES (1, NULL)",
        *(f"INSERT INTO t VALUES (1, '{text}')" for text in IN_POSTGRESQL[kind]),
    )
    same_for_every_row(place, IN_POSTGRESQL[kind])


def test_a_file_has_no_collation_and_moments_in_it_are_text_too(tmp_path: Path) -> None:
    moments = pa.array([0, 253_402_300_800, None], pa.timestamp("us"))
    pq.write_table(pa.table({"c": ["A", "a", None], "moment": moments}), tmp_path / "t.parquet")
    table = view(tmp_path / "t.parquet", {**WARD, "moment": Opaque()})
    assert called_a(table.select("c")) == [["A"], ["A"], ["A", "a", None]]
    assert table.schema()["moment"].is_string()
    assert "ENCODE" not in ibis.to_sql(table)  # which takes several times as long


def test_numbers_flags_and_bytes_in_an_opaque_column_stay_what_they_are() -> None:
    for values in ([1, 2, None], [0.5, None], [False, True], [b"\0", b"\xff"]):
        assert found(view(pa.table({"c": values}), OPAQUE)) == values
