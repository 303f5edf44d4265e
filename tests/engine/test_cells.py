# SPDX-License-Identifier: Apache-2.0
"""One count of cells for all questions, against a naive one, on every engine."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import ibis
import ibis.expr.types as ir
import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymaly.audit.recording import recorded_statements
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.domain import Bins
from anonymaly.engine import lookup
from anonymaly.engine.cells import MOST_COMPARED, count_cells

WARDS = Attribute("ward", ("A", "B", "ä"))
CONSENT = Attribute("consent", (False, True))


def ages(*edges: float) -> Attribute:
    bins = Bins("age", edges)
    return Attribute("age", bins.labels, bins)


FEW, MANY = ages(0, 18, 65, 120), ages(*[place / 2 for place in range(241)])
AXES = st.sampled_from(
    [[WARDS], [FEW], [MANY], [CONSENT, WARDS], [WARDS, MANY], [FEW, CONSENT], [MANY, WARDS]]
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "ä", "a", "Z", "", None]),
        st.none() | st.sampled_from([-1, 0, 17.75, 18, 64.5, 65, 119.9, 120, 121]) | st.floats(-10, 130),
        st.sampled_from([False, True, None]),
        st.sampled_from([False, True, None]),
    ),
    max_size=12,
)
Row = tuple[Any, ...]
EXAMPLES = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def naive(rows: list[Row], by: list[Attribute]) -> tuple[list[int], list[int]]:
    """Count in plain Python, cell by cell."""
    every: Counter[tuple[int, ...]] = Counter()
    met: Counter[tuple[int, ...]] = Counter()
    for ward, age, consent, judged in rows:
        record = {"ward": ward, "age": age, "consent": consent}
        codes = [axis.code(record[axis.column]) for axis in by]
        if None not in codes:
            cell = tuple(code for code in codes if code is not None)
            every[cell] += 1
            met[cell] += judged is True
    cells = list(product(*(range(len(axis.values)) for axis in by)))
    return [every[cell] for cell in cells], [met[cell] for cell in cells]


def counted(table: ir.Table, by: list[Attribute]) -> tuple[list[int], list[int]]:
    found = count_cells(table, by, {"met": table.judged})
    assert set(found) == {"records", "met"}
    return found["records"].tolist(), found["met"].tolist()


@EXAMPLES
@given(ROWS, AXES)
def test_duckdb_counts_what_plain_python_counts(rows: list[Row], by: list[Attribute]) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    kinds = {"ward": pa.string(), "age": pa.float64(), "consent": pa.bool_(), "judged": pa.bool_()}
    data = {name: pa.array(part, kind) for (name, kind), part in zip(kinds.items(), columns, strict=True)}
    table = ibis.duckdb.connect().create_table("t", pa.table(data))
    assert counted(table, by) == naive(rows, by)


@pytest.fixture
def emptied(postgres: str) -> tuple[ir.Table, psycopg.Connection[Any]]:
    connection = psycopg.connect(postgres, autocommit=True)
    connection.execute("CREATE TABLE t (ward TEXT, age DOUBLE PRECISION, consent BOOLEAN, judged BOOLEAN)")
    return ibis.connect(postgres).table("t"), connection


@EXAMPLES
@given(rows=ROWS, by=AXES)
def test_postgresql_counts_what_plain_python_counts(
    emptied: tuple[ir.Table, psycopg.Connection[Any]], rows: list[Row], by: list[Attribute]
) -> None:
    table, connection = emptied
    connection.execute("TRUNCATE t")
    connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", rows)
    assert counted(table, by) == naive(rows, by)


def test_spark_counts_what_plain_python_counts(spark: Any) -> None:
    ages_found = [None, -1.0, 0.0, -0.0, 17.75, 18.0, 64.5, 65.0, 119.9, 120.0, 121.0, 5e-324, 1.7e308]
    wards, flags = ["A", "B", "ä", "a", "Z", "", None], [False, True, None]
    rows: list[Row] = list(product(wards, ages_found, flags, flags))
    frame = spark.createDataFrame(rows, "ward string, age double, consent boolean, judged boolean")
    for data, axes in (
        (rows, [[WARDS, MANY], [FEW, CONSENT]]),
        ([], [[FEW, CONSENT]]),
    ):
        table = lookup.named("pyspark").open_source(frame if data else frame.limit(0), None)
        for by in axes:
            assert counted(table, by) == naive(data, by)


def test_a_statement_does_not_grow_with_the_number_of_bins() -> None:
    table = ibis.duckdb.connect().create_table("t", pa.table({"age": [0.0, 59.5, 60.0]}))

    def longest(bins: int) -> int:
        with recorded_statements(table) as statements:
            cells = count_cells(table, [ages(*range(bins + 1))])["records"]
        assert int(cells.sum()) == 3
        return max(map(len, statements))

    assert longest(6_000) < longest(MOST_COMPARED + 1) + 10
    assert longest(6_000) < longest(MOST_COMPARED - 1)
