# SPDX-License-Identifier: Apache-2.0
"""What the plans of statements read: the columns that a question names, filtered where they are read.

Spark's are in test_spark.
"""

from __future__ import annotations

from pathlib import Path

import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

import anonymaly as am

COLUMNS = {
    "age": am.Interval(0, 120),
    "ward": am.Categories(["A", "B"]),
    "consent": am.Flag(),
    "note": am.Opaque(),
}


def wanted(table: ibis.Table) -> ibis.Table:
    kept = table.filter((table.age >= 18) & table.consent & (table.ward == "A"))
    return kept.count().name("n").as_table()


def test_duckdb_reads_the_columns_of_a_filter_and_filters_while_it_reads(tmp_path: Path) -> None:
    ages = pa.array([30, 41, 17], pa.int32())
    table = pa.table({"age": ages, "ward": list("ABA"), "consent": [True, False, None], "note": list("xyz")})
    pq.write_table(table, tmp_path / "t.parquet")
    view = am.Dataset(tmp_path / "t.parquet", name="p", columns=COLUMNS).table
    connection = view.get_backend().con

    def plan(expression: ibis.Table) -> str:
        (found,) = connection.execute(f"EXPLAIN {ibis.to_sql(expression)}").fetchall()
        return " ".join(str(found[1]).replace("│", " ").split())

    scan = plan(wanted(view)).partition("READ_PARQUET")[2]
    filters = scan.partition("Filters:")[2]
    assert all(name in filters for name in ("age", "ward='A'", "consent"))
    assert "note" not in scan
    assert "note" in plan(view.filter(view.note == "x").select("age"))
    # Without a filter the file's own count is enough.
    assert "READ_PARQUET" not in plan(view.count().name("n").as_table())


def test_postgresql_filters_where_it_reads_and_hands_on_no_other_column(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (age int, ward text, consent boolean, note text)")
        view = am.Dataset(postgres, table="t", name="p", columns=COLUMNS).table
        statements = [
            ibis.to_sql(item) for item in (wanted(view), view.filter(view.note == "x").select("age"))
        ]
        first, second = (
            "\n".join(row[0] for row in connection.execute(f"EXPLAIN (VERBOSE) {statement}".encode()))
            for statement in statements
        )
    (scan,) = [part for part in first.split("->") if "Seq Scan" in part]
    output, filtered = (
        next(line for line in scan.splitlines() if word in line) for word in ("Output:", "Filter:")
    )
    assert all(name in filtered for name in ("age", "ward", "consent"))
    assert "Aggregate" in first.partition("->")[0]
    assert "note" not in filtered
    assert "note" in next(line for line in second.splitlines() if "Filter:" in line)
    assert output
