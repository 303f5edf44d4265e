# SPDX-License-Identifier: Apache-2.0
"""Spark: a session of our own beside the owner's, whose settings and views are left as they were."""

from __future__ import annotations

import importlib
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.dataset import Dataset
from anonymaly.engine import lookup
from anonymaly.engine.statements import EngineFailure, collect, collect_batches
from anonymaly.errors import InputError, SchemaError

COLUMNS = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    return spark.createDataFrame([(30, "A"), (41, "B"), (None, "a")], "age int, ward string")


def declare(source: Any, columns: Any = COLUMNS, **options: Any) -> Dataset:
    return Dataset(source, name="people", columns=columns, **options)


def rows(table: ibis.Table) -> list[tuple[Any, ...]]:
    """The rows, in the two ways in which questions read them; no order is promised."""
    at_once = [tuple(row.values()) for row in collect(table).to_pylist()]
    streamed = [tuple(row.values()) for batch in collect_batches(table, 2) for row in batch.to_pylist()]
    assert sorted(at_once, key=repr) == sorted(streamed, key=repr)
    return sorted(at_once, key=repr)


def views(spark: Any) -> list[str]:
    listed = [row.viewName for row in spark.sql("SHOW VIEWS IN global_temp").collect()]
    return [*listed, *(table.name for table in spark.catalog.listTables() if table.isTemporary)]


def test_a_frame_a_session_an_ibis_table_and_an_address_are_read_alike(spark: Any, people: Any) -> None:
    meant = [(30.0, "A"), (41.0, "B"), (None, "a")]
    people.write.mode("overwrite").saveAsTable("staff")
    try:
        clock = spark.conf.get("spark.sql.session.timeZone")
        connection = ibis.pyspark.connect(spark)  # which sets the clock of the owner's session
        spark.conf.set("spark.sql.session.timeZone", clock)
        table = connection.table("staff")
        for place in (
            {"source": people},
            {"source": spark, "table": "staff"},
            {"source": spark, "table": "spark_catalog.default.staff"},
            {"source": "pyspark://", "table": "staff"},
            {"source": table},
            {"source": table.filter(table.ward != "b")},
        ):
            assert rows(declare(**place).ready()) == meant
    finally:
        spark.sql("DROP TABLE staff")


def test_the_owners_session_is_left_as_it_was(spark: Any, people: Any) -> None:
    def settings() -> dict[str, str]:
        return {row.key: row.value for row in spark.sql("SET").collect()}

    before = settings()
    cached = people.cache()
    table = declare(cached).ready()
    given = ibis.memtable(pa.table({"age": [30.0, 41.0]}))
    assert collect(table.join(given, "age").count().name("n"))["n"].to_pylist() == [2]
    assert len(list(collect_batches(table, 10))) > 0
    assert settings() == before
    assert before["spark.sql.ansi.enabled"] == "false"
    assert views(spark) == []
    assert cached.is_cached
    assert set(views(table.get_backend()._session)) == {"records"}
    cached.unpersist()


def test_a_session_that_compares_text_by_a_collation_changes_nothing(spark: Any) -> None:
    frame = spark.sql(
        "SELECT c COLLATE UTF8_LCASE AS c FROM VALUES ('A'), ('a'), ('Á'), ('A'), (NULL) AS t(c)"
    )
    assert frame.filter("c = 'a'").count() == 3
    table = declare(frame, {"c": am.Categories(["A"])}).table
    assert rows(table.filter(table.c == "A")) == [("A",), ("A",)]
    assert rows(table.select("c").distinct()) == [("A",), ("a",), ("Á",), (None,)]


def test_text_that_is_not_utf_8_is_null(spark: Any) -> None:
    frame = spark.sql("SELECT CAST(c AS STRING) AS c FROM VALUES (X'41'), (X'FF41'), (X'C3') AS t(c)")
    assert rows(declare(frame, {"c": am.Opaque()}).table) == [("A",), (None,), (None,)]


def test_text_in_a_statement_is_text_whatever_it_says(spark: Any) -> None:
    texts = ["it's", 'say "x"', "back\\slash", "\\u0041", "${env:HOME}", "100%", "a\nb", "-- x", "`t`", "😀"]
    frame = spark.createDataFrame([(text,) for text in [*texts, "other"]], "c string")
    table = declare(frame, {"c": am.Categories(texts)}).table
    for text in texts:
        assert rows(table.filter(table.c.isin([text]))) == [(text,)]


def test_sums_of_whole_numbers_are_exact_beyond_64_bits(spark: Any) -> None:
    frame = spark.sql("SELECT CAST(9223372036854775807 AS BIGINT) AS c FROM range(3)")
    table = declare(frame, {"c": am.Categories([1])}).table
    total = table.c.sum().cast("decimal(38, 0)").name("total")
    assert [int(value) for value in collect(total)["total"].to_pylist()] == [3 * (2**63 - 1)]


def test_no_rows_are_counted_as_none(people: Any) -> None:
    table = declare(people.limit(0)).table
    counts = table.aggregate(met=table.count(where=table.age > 3), every=table.count())
    assert collect(counts).to_pylist() == [{"met": 0, "every": 0}]


def test_a_moment_of_the_whole_world_is_told_from_one_of_a_wall_clock(spark: Any) -> None:
    frame = spark.sql(
        "SELECT timestamp_micros(1577836800000000) AS world, TIMESTAMP_NTZ'2020-01-01 00:00:00.5' AS wall"
    )
    ends = ("2019-01-01", "2021-01-01")
    columns = {"world": am.Timestamps(*ends), "wall": am.Timestamps(*ends)}
    first, second = declare(frame, columns).check()
    assert "UTC" in (first.problem or "")
    assert second.problem is None
    columns["world"] = am.Timestamps(*ends, read=am.Reading(zone="Asia/Kathmandu"))
    assert rows(declare(frame, columns).table) == [
        (datetime(2020, 1, 1, 5, 45), datetime(2020, 1, 1, 0, 0, 0, 500_000))
    ]


def test_moments_beyond_the_calendar_are_null_and_never_a_failure(spark: Any) -> None:
    frame = spark.sql(
        "SELECT date_from_unix_date(d) AS day, timestamp_micros(m) AS world, "
        "CAST(timestamp_micros(m) AS TIMESTAMP_NTZ) AS wall FROM VALUES (0, 0L), (2147483647, "
        "9223000000000000000L), (-2147483648, -9223000000000000000L) AS t(d, m)"
    )
    always = ("1900-01-01", "2100-01-01")
    plain, zoned = am.Timestamps(*always), am.Timestamps(*always, read=am.Reading(zone="Europe/Berlin"))
    start = datetime(1970, 1, 1)
    found = rows(declare(frame, {"day": plain, "world": zoned, "wall": plain}).table)
    assert sorted(found, key=lambda row: row[0] is not None) == [
        (None, None, None),
        (None, None, None),
        # The frame is the owner's, by whose clock it was 7 in the evening.
        (start, datetime(1970, 1, 1, 1), datetime(1969, 12, 31, 19)),
    ]


def test_a_column_of_a_type_that_ibis_does_not_know_closes_no_table(spark: Any) -> None:
    frame = spark.sql("SELECT 1 AS age, parse_json('{\"a\": 1}') AS v, INTERVAL '1' MONTH AS i")
    assert rows(declare(frame, {"age": am.Interval(0, 9), "v": am.Opaque()}).table) == [(1.0, '{"a":1}')]


def test_names_that_differ_in_capital_letters_alone_are_two_columns(spark: Any) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = spark.sql("SELECT 1 AS age, 2 AS Age, 3 AS `order by`, 4 AS `a.b`")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    columns = {name: am.Interval(0, 9) for name in ("Age", "order by", "a.b")}
    assert rows(declare(frame, columns).table) == [(2.0, 3.0, 4.0)]


def scan(table: ibis.Table) -> str:
    """What the plan of a statement reads of its files."""
    backend = table.get_backend()
    plan = backend._session.sql(backend.compile(table))._jdf.queryExecution().executedPlan().toString()
    (found,) = [line for line in plan.splitlines() if "FileScan" in line]
    return str(found)


def test_a_statement_reads_the_columns_it_names_and_the_files_it_needs(spark: Any, tmp_path: Path) -> None:
    rows = [(30, "A", True, "x"), (41, "B", False, "y")]
    frame = spark.createDataFrame(rows, "age int, ward string, consent boolean, note string")
    frame.write.partitionBy("ward").parquet(str(tmp_path / "t"))
    columns = {**COLUMNS, "consent": am.Flag(), "note": am.Opaque()}
    table = declare(spark.read.parquet(str(tmp_path / "t")), columns).table
    wanted = table.filter((table.age >= 18) & table.consent & (table.ward == "A"))
    found = scan(wanted.count().name("n").as_table())
    assert "ReadSchema: struct<age:int,consent:boolean>" in found
    assert "GreaterThanOrEqual(age,18)" in found
    assert "EqualTo(consent,true)" in found
    assert "PartitionFilters: []" not in found
    assert "ReadSchema: struct<>" in scan(table.count().name("n").as_table())


def test_what_fails_says_its_class_and_nothing_is_printed(
    spark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = spark.sql("SELECT CAST(1 AS STRING) AS c").selectExpr(
        "raise_error(concat('row of Ann ', c)) AS c"
    )
    table = declare(frame, {"c": am.Opaque()}).table
    spark.sparkContext.setLogLevel("OFF")  # what the JVM prints is for the owner to set
    try:
        for read in (lambda: collect(table), lambda: list(collect_batches(table, 5))):
            with pytest.raises(EngineFailure) as failed:
                read()
            assert "Ann" not in str(failed.value) + failed.value.template
    finally:
        spark.sparkContext.setLogLevel("WARN")
    assert "Ann" not in "".join(capfd.readouterr())
    assert not logging.getLogger("SQLQueryContextLogger").filters


def test_views_that_cannot_be_dropped_quote_no_row(
    spark: Any, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("row of Ann")

    table = declare(people).table
    asked = ibis.memtable({"age": [30]}, schema={"age": "int64"})
    monkeypatch.setattr(type(spark.catalog), "dropTempView", fail)
    assert collect(table.cross_join(asked)).num_rows == 3  # it is gone with the session
    failing = spark.sql("SELECT raise_error('row of Ann') AS c")
    with pytest.raises(EngineFailure) as failed:
        collect(declare(failing, {"c": am.Opaque()}).table.cross_join(asked))
    assert "Ann" not in str(failed.value) + failed.value.template
    monkeypatch.setattr(type(spark.catalog), "dropGlobalTempView", fail)
    with pytest.raises(SchemaError, match="RuntimeError") as refused:
        declare(people).check()
    assert "Ann" not in str(refused.value)
    monkeypatch.undo()
    for view in views(spark):
        spark.catalog.dropGlobalTempView(view)
    assert not views(spark)


def test_a_stream_of_rows_has_no_table_and_is_refused(spark: Any) -> None:
    with pytest.raises(SchemaError, match="has no end") as refused:
        declare(spark.readStream.format("rate").load(), {"value": am.Interval(0, 9)}).check()
    assert refused.value.field == "source"


def test_a_forked_child_is_told_to_open_a_session_of_its_own(people: Any) -> None:
    dataset = declare(people)
    dataset.ready()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        try:
            dataset.table  # noqa: B018
            os.write(theirs, b"it was read")
        except SchemaError as refused:
            os.write(theirs, f"{refused.field}: {refused}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    said = os.read(ours, 1000).decode()
    assert said.startswith("source: ")
    assert "forked child" in said
    assert "spawn" in said
    assert rows(dataset.table) == [(30.0, "A"), (41.0, "B"), (None, "a")]


def test_what_packs_rows_needs_nothing_of_this_package(spark: Any, tmp_path: Path) -> None:
    from pyspark import cloudpickle

    from anonymaly.engine.spark_rows import packer

    (tmp_path / "pack").write_bytes(cloudpickle.dumps(packer()))
    load = (
        "import sys, pickle; sys.modules['anonymaly'] = None; print(pickle.load(open('pack', 'rb')).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", load], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "pack\n"


def test_a_table_that_is_gone_is_reported_before_anything_is_charged(spark: Any, people: Any) -> None:
    people.write.mode("overwrite").saveAsTable("gone")
    dataset = declare(spark, table="gone")
    spark.sql("DROP TABLE gone")
    with pytest.raises(SchemaError, match="could not be opened") as refused:
        dataset.ready()
    assert refused.value.field == "source"


@pytest.mark.parametrize("url", ["spark://host:7077", "sqlite://t.db"])
def test_an_address_that_cannot_be_used_says_what_to_give(url: str) -> None:
    with pytest.raises(InputError) as refused:
        declare(url, table="t")
    assert refused.value.field == "source"
    assert refused.value.next_step


def test_a_session_needs_a_table(spark: Any) -> None:
    with pytest.raises(InputError, match="several tables") as refused:
        declare(spark)
    assert refused.value.field == "table"


def test_without_java_the_error_says_what_to_install(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from anonymaly.engine.spark_opening import refuse_without_java

    refuse_without_java()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SchemaError, match="apt-get install openjdk-17") as refused:
        refuse_without_java()
    assert refused.value.field == "source"


@pytest.fixture(scope="module")
def connect(spark: Any, people: Any) -> Iterator[str]:
    """The address of Spark Connect, served by the JVM of all tests, with a table."""
    pytest.importorskip("grpc", reason="needs grpcio; install: pip install 'anonymaly[spark]'")
    if not hasattr(importlib.import_module("pyspark.sql.connect.session").SparkSession, "newSession"):
        pytest.skip("before 4.3 Spark Connect has no second session")
    spark._jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(spark._jsc.sc())
    people.write.mode("overwrite").saveAsTable("remote_staff")
    yield f"sc://127.0.0.1:{spark.conf.get('spark.connect.grpc.binding.port')}"
    spark.sql("DROP TABLE remote_staff")


def remote(address: str) -> Any:
    return (
        importlib.import_module("pyspark.sql.connect.session").SparkSession.builder.remote(address).create()
    )


def test_a_table_of_spark_connect_is_read_by_its_address_and_by_a_frame(connect: str) -> None:
    session = remote(connect)
    table = session.table("remote_staff")
    for place in ({"source": connect, "table": "remote_staff"}, {"source": table.filter("true")}):
        read = declare(**place).ready()
        assert rows(read) == [(30.0, "A"), (41.0, "B"), (None, "a")]
        given = ibis.memtable(pa.table({"age": [30.0]}))
        assert collect(read.join(given, "age").count().name("n"))["n"].to_pylist() == [1]
    assert views(session) == []
    session.stop()


def test_a_session_that_is_lost_fails_a_statement_and_is_opened_again_where_it_can_be(connect: str) -> None:
    by_address = declare(connect, table="remote_staff")
    table = by_address.ready()
    table.get_backend()._session.stop()
    with pytest.raises(EngineFailure):
        collect(table)
    assert len(rows(by_address.ready())) == 3
    session = remote(connect)
    by_frame = declare(session.table("remote_staff"))
    by_frame.ready().get_backend()._session.stop()
    session.stop()
    with pytest.raises(SchemaError) as refused:
        by_frame.ready()
    assert refused.value.field == "source"


CLIENT = """
import sys
import anonymaly as am

columns = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}
staff = am.Dataset(sys.argv[1], table="remote_staff", name="staff", columns=columns, public=True,
                   rules={"adults": am.Policy("age >= 18")})
print(am.simulate(am.Count(where="ward == 'A'", epsilon=50), staff, seed=1).value)
sample = am.ShareSample(policy="adults", columns=["ward"], epsilon=50)
print(len(am.simulate(sample, staff, seed=1).value))
"""


def test_a_client_of_spark_connect_needs_no_java_and_prints_nothing_but_answers(connect: str) -> None:
    without_java = {**os.environ, "PATH": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    without_java.pop("JAVA_HOME", None)
    run = [sys.executable, "-c", CLIENT, connect]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=without_java)
    assert (done.stdout, done.stderr) == ("1\n2\n", "")


def test_a_jvm_that_is_started_here_does_not_print_what_is_in_a_row(
    spark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from anonymaly.engine.spark_opening import silence

    table = declare(
        spark.sql("SELECT CAST(raise_error('row of Ann') AS STRING) AS c"), {"c": am.Opaque()}
    ).table
    silence(spark)
    try:
        with pytest.raises(EngineFailure):
            collect(table)
    finally:
        spark.sparkContext.setLogLevel("WARN")
    assert "".join(capfd.readouterr()) == ""


def test_an_address_where_nobody_listens_is_refused_at_once(spark: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(SchemaError, match="nothing answers") as refused:
        declare(f"sc://127.0.0.1:{port}/;token=secret", table="t").ready()
    assert "secret" not in str(refused.value)


def test_spark_is_found_by_its_addresses() -> None:
    assert lookup.of_address("sc://host:15002") is lookup.named("pyspark")
    assert lookup.of_address("pyspark://") is lookup.named("pyspark")
