# SPDX-License-Identifier: Apache-2.0
"""Text in the view: told apart byte by byte, and never a failure, whatever a row holds."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonymaly as am
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Opaque
from anonymaly.engine import lookup, unchecked_text
from anonymaly.engine.statements import EngineFailure, collect, collect_batches
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


LEAST, MOST = -(2**63), 2**63 - 1
ODD_TIMES = [
    (pa.timestamp("us"), LEAST),
    (pa.timestamp("ns"), LEAST),
    (pa.timestamp("us", "UTC"), LEAST),
    (pa.time64("us"), 2**62),  # DuckDB writes beyond its memory, and the process is gone
    (pa.time64("us"), -1),
    (pa.time64("ns"), MOST),
    (pa.duration("s"), MOST),
    (pa.duration("ms"), LEAST),
    (pa.duration("us"), LEAST),
    (pa.list_(pa.timestamp("us")), [LEAST]),
    (pa.list_(pa.timestamp("s")), [MOST]),
]


@pytest.mark.parametrize(("kind", "value"), ODD_TIMES, ids=str)
@pytest.mark.parametrize("in_a_file", [False, True], ids=["frame", "file"])
def test_no_moment_time_or_duration_in_an_opaque_column_is_a_failure(
    kind: pa.DataType, value: Any, in_a_file: bool, tmp_path: Path
) -> None:
    if in_a_file and "timestamp[s]" in str(kind):
        pytest.skip("files have no seconds; as milliseconds they are refused")
    plain = pa.list_(pa.int64()) if pa.types.is_list(kind) else pa.int64()
    numbers = pa.array([value, [0] if isinstance(value, list) else 0], plain)
    table = pa.table({"c": numbers.cast(kind) if pa.types.is_list(kind) else numbers.view(kind)})
    if in_a_file:
        pq.write_table(table, tmp_path / "t.parquet")
    held = found(view(tmp_path / "t.parquet" if in_a_file else table, OPAQUE))
    assert len(held) == 2
    assert held != [None, None]
    assert not any("\0" in str(text) for text in held)  # what the engine found beyond its table of digits


def test_a_list_of_moments_in_milliseconds_is_refused_by_its_type(tmp_path: Path) -> None:
    held = pa.array([[2**62]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("ms")))
    pq.write_table(pa.table({"c": held}), tmp_path / "t.parquet")
    with pytest.raises(SchemaError, match="milliseconds"):
        view(tmp_path / "t.parquet", OPAQUE)


@pytest.mark.parametrize(
    "kind", ["TIME[]", "TIME_NS[]", "STRUCT(a TIMETZ)", "MAP(VARCHAR, TIME)", "UNION(n INTEGER, t TIME_NS)"]
)
def test_times_of_day_inside_of_other_values_are_refused_by_their_type(kind: str, tmp_path: Path) -> None:
    place = in_duckdb(tmp_path, f"CREATE TABLE t (c {kind})")
    with pytest.raises(SchemaError, match="times of day inside"):
        view(columns=OPAQUE, **place)


def with_bytes(*texts: bytes) -> pa.Array:
    """A column of text that no writer checked."""
    ends = pa.array(np.cumsum([0, *map(len, texts)]), pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), len(texts), [None, ends, pa.py_buffer(b"".join(texts))])


@pytest.mark.parametrize("way", ["collected", "streamed"])
@pytest.mark.parametrize("layout", ["one file", "two files", "folders"])
def test_text_of_parquet_files_that_is_not_utf_8_is_null(way: str, layout: str, tmp_path: Path) -> None:
    good, bad = with_bytes(b"A", b"B"), with_bytes(b"A", b"\xff\xfe")
    parts = {"one file": [bad], "two files": [good, bad], "folders": [good, bad]}[layout]
    for place, part in enumerate(parts):
        folder = tmp_path / (f"day={place}" if layout == "folders" else "")
        folder.mkdir(exist_ok=True)
        pq.write_table(
            pa.table({"c": part, "n": [1, 2], "d": [date(2026, 1, 1), None]}), folder / f"{place}.parquet"
        )
    columns = {"c": am.Categories(["A", "B"]), "n": am.Interval(0, 9)}
    columns |= {"day": am.Categories(["0", "1"])} if layout == "folders" else {}
    dataset = am.Dataset(tmp_path, name="t", columns=columns)
    wanted = [text for part in parts for text in (["A", "B"] if part is good else ["A", None])]
    for _ in range(2):  # the second statement knows
        table = dataset.ready().select("c", "n")
        batches = collect_batches(table, 1) if way == "streamed" else collect(table).to_batches()
        seen = [row for batch in batches for row in batch.to_pylist()]
        assert sorted([str(row["c"]) for row in seen]) == sorted(map(str, wanted))
        assert sorted(row["n"] for row in seen) == sorted([1, 2] * len(parts))


def test_a_question_about_text_that_is_not_utf_8_is_answered(tmp_path: Path) -> None:
    pq.write_table(pa.table({"c": with_bytes(b"A", b"\xff\xfe"), "n": [1, 2]}), tmp_path / "t.parquet")
    columns = {"c": am.Categories(["A", "B"]), "n": am.Interval(0, 9)}
    dataset = am.Dataset(tmp_path / "t.parquet", name="t", columns=columns, rules={"all": am.Policy("n < 9")})
    curator = am.Curator(dataset, budget=200, ledger=tmp_path / "t.ledger")
    assert curator.ask(am.Count(where="c == 'A'", epsilon=50)).value == 1
    assert len(curator.ask(am.ShareSample(policy="all", columns=["n"], epsilon=50)).value) in (1, 2)


@pytest.mark.parametrize("way", ["collected", "streamed"])
def test_files_that_cannot_be_read_otherwise_quote_no_row(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> bool:
        raise RuntimeError("row of Ann")

    monkeypatch.setattr(unchecked_text, "_read_by_arrow", fail)
    pq.write_table(pa.table({"c": with_bytes(b"A", b"Ann\xff")}), tmp_path / "t.parquet")
    table = view(tmp_path / "t.parquet", WARD)
    with pytest.raises(EngineFailure) as failed:
        list(collect_batches(table, 1)) if way == "streamed" else collect(table)
    assert "Ann" not in str(failed.value) + failed.value.template


@pytest.mark.xfail(strict=True, reason="deltalake's reader stops at such a text")
def test_text_of_a_delta_table_that_is_not_utf_8_is_null(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "t"), pa.table({"c": with_bytes(b"A", b"\xff\xfe")}))
    assert found(view(tmp_path / "t", WARD)) == ["A", None]


def test_numbers_flags_and_bytes_in_an_opaque_column_stay_what_they_are() -> None:
    for values in ([1, 2, None], [0.5, None], [False, True], [b"\0", b"\xff"]):
        assert found(view(pa.table({"c": values}), OPAQUE)) == values
