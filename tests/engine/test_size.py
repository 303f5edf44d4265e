# SPDX-License-Identifier: Apache-2.0
"""What the embedded engine holds while it reads: the same rows and numbers as before, without all rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
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
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins, Categories, Domain, Interval, Opaque
from anonymaly.declare.readings import judged_people, people
from anonymaly.declare.rules import Policy
from anonymaly.engine import duckdb, lookup
from anonymaly.engine.cells import MOST_COMPARED, count_cells
from anonymaly.engine.engine import Engine
from anonymaly.engine.statements import collect
from anonymaly.engine.view import typed

COLUMNS: dict[str, Domain] = {
    "dose": Interval(-10, 10),
    "ward": Categories(["A", "B"]),
    "big": Opaque(),
    "note": Opaque(),
}
DECLARED = Declaration.read(name="t", columns=COLUMNS, person="who", max_rows=2)
POLICY = Policy("dose >= 0 and ward == 'A'")
KINDS = {
    "who": pa.float64(),
    "dose": pa.float64(),
    "ward": pa.string(),
    "big": pa.int64(),
    "note": pa.string(),
}
# Few values, so that persons have many rows and rows are equal; and those that engines treat differently.
HOSTILE = st.fixed_dictionaries(
    {
        "who": st.sampled_from([None, math.nan, math.inf, 0.0, -0.0, 1.0, 2.0**53]),
        "dose": st.sampled_from([None, math.nan, -math.inf, 0.0, -0.0, 5e-324, -1.0, 9.0, 1e300]),
        "ward": st.sampled_from([None, "A", "B", "a", "Ä"]),
        "big": st.sampled_from([None, 2**63 - 1, -(2**63), 2**53 + 1, 0]),
        "note": st.sampled_from([None, "", "z", "Z"]),
    }
)
ROWS = st.lists(HOSTILE, max_size=30)
EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def in_memory(rows: list[dict[str, Any]]) -> ir.Table:
    table = pa.Table.from_pylist(rows, schema=pa.schema(KINDS))
    return ibis.duckdb.connect().create_table("t", table)


def kept(table: ir.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in collect(table).to_pylist())


def both(raw: ir.Table, engine: Engine) -> tuple[list[str], list[str]]:
    """The rows that questions see, without and with a judgement."""
    rows = typed(raw, DECLARED.kinds, engine, person="who")
    return kept(people(rows, DECLARED, engine)), kept(judged_people(rows, DECLARED, POLICY, engine))


@EXAMPLES
@given(ROWS)
def test_persons_keep_the_rows_that_a_window_over_all_of_them_keeps(rows: list[dict[str, Any]]) -> None:
    raw, engine = in_memory(rows), lookup.named("duckdb")
    assert both(raw, engine) == both(raw, replace(engine, is_local=False))


@pytest.fixture
def emptied(postgres: str) -> tuple[ir.Table, psycopg.Connection[Any]]:
    connection = psycopg.connect(postgres, autocommit=True)
    connection.execute("CREATE TABLE t (who float8, dose float8, ward text, big bigint, note text)")
    return ibis.connect(postgres).table("t"), connection


@pytest.mark.slow
@settings(EXAMPLES, max_examples=10)
@given(rows=ROWS)
def test_persons_keep_the_rows_that_postgresql_keeps(
    rows: list[dict[str, Any]], emptied: tuple[ir.Table, psycopg.Connection[Any]]
) -> None:
    table, connection = emptied
    connection.execute("DELETE FROM t")  # an open reader would keep TRUNCATE waiting
    values = [[row[name] for name in KINDS] for row in rows]
    connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s)", values)
    assert both(in_memory(rows), lookup.named("duckdb")) == both(table, lookup.named("postgres"))


def operators(expression: ir.Table) -> Iterator[tuple[str, int]]:
    """Run a statement; yield what it was made of, and how many rows came out of each."""
    sql = f"EXPLAIN (ANALYZE, FORMAT json) {ibis.to_sql(expression)}"
    ((_, text),) = expression.get_backend().con.execute(sql).fetchall()
    waiting = [json.loads(text)]
    while waiting:
        item = waiting.pop()
        yield item.get("operator_name", "").strip(), item.get("operator_cardinality", 0)
        waiting += item.get("children", [])


@pytest.mark.parametrize("judged", [False, True])
def test_only_rows_of_persons_who_are_cut_are_put_in_order(judged: bool) -> None:
    people_of_two = [{"who": float(who % 500), "dose": float(who), "ward": "A"} for who in range(1000)]
    cut = [{"who": 1000.0, "dose": float(dose), "ward": "A"} for dose in range(5)]
    engine = lookup.named("duckdb")
    rows = typed(in_memory(people_of_two + cut), DECLARED.kinds, engine, person="who")
    view = judged_people(rows, DECLARED, POLICY, engine) if judged else people(rows, DECLARED, engine)
    assert collect(view).num_rows == 1002
    found = list(operators(view))
    assert [number for name, number in found if name == "WINDOW"] == [5]
    # What the engine computes once and holds is one person, not the table.
    assert [number for name, number in found if name == "CTE_SCAN"] == [1, 1]


GAPS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 1, 2, 7, 2**36, 2**62]) | st.integers(0, 50)),
    max_size=40,
)


@EXAMPLES
@given(rows=GAPS, most=st.integers(1, 6))
def test_the_smallest_of_each_cell_are_the_first_of_all_in_order(
    rows: list[tuple[int, int]], most: int
) -> None:
    cells, gaps = [cell for cell, _ in rows], [gap for _, gap in rows]
    data = pa.table({"cell": pa.array(cells, pa.int64()), "gap": pa.array(gaps, pa.int64())})
    table = ibis.duckdb.connect().create_table("t", data)
    engine = lookup.named("duckdb")
    found = kept(engine.smallest(table, most, 5))
    expected = [
        repr((cell, gap))
        for cell in set(cells)
        for gap in sorted(other for one, other in rows if one == cell)[:most]
    ]
    assert found == sorted(expected)
    assert found == kept(Engine.smallest(engine, table, most, 5))
    # So many that room for all of them at once would be too much: by a window.
    assert found == kept(engine.smallest(table, most, duckdb.MOST_HELD))


def test_the_smallest_of_each_cell_need_no_order_of_all_rows() -> None:
    data = pa.table({"cell": [number % 7 for number in range(5000)], "gap": list(range(5000))})
    table = ibis.duckdb.connect().create_table("t", data)
    found = list(operators(lookup.named("duckdb").smallest(table, 3, 7)))
    assert "WINDOW" not in [name for name, _ in found]
    assert [number for name, number in found if name.endswith("GROUP_BY")] == [7]


def test_values_of_fine_bins_are_not_held_as_groups() -> None:
    edges = [float(edge) for edge in range(MOST_COMPARED + 5)]
    bins = Bins("age", edges)
    table = ibis.duckdb.connect().create_table("t", pa.table({"age": [place / 9 for place in range(600)]}))
    with recorded_statements(table) as statements:
        counted = count_cells(table, [Attribute("age", bins.labels, bins)])["records"]
    assert not any("GROUP BY" in statement for statement in statements)
    assert counted.tolist() == [9] * 66 + [6, 0, 0]
