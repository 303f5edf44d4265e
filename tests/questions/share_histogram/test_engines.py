# SPDX-License-Identifier: Apache-2.0
"""What engines call equal or cannot hand over must not decide whether an answer comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pytest

import anonymaly as am
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.domain import Domain
from anonymaly.questions.share_histogram.binding import bind
from anonymaly.questions.share_histogram.summary import count_judged_cells
from tests.places import Put
from tests.questions.patients import HARMLESS, SENSITIVE, declare, frame, row

WARDS = am.Categories(["A", "B"])
POLICIES = {"adults": am.Policy("age >= 18"), "in A": am.Policy("ward == 'A'")}
NEARLY_ALL = 30  # ε at which a record is left out, or a count is off, about once in e^30 times


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


def answers(folder: Path, place: dict[str, Any]) -> tuple[list[int], list[str]]:
    """How many records each ward has, and the wards of the records that are harmless in A."""
    columns: dict[str, Domain] = {"ward": WARDS, "age": am.Interval(0, 120)}
    dataset = am.Dataset(**place, name="patients", columns=columns, rules=POLICIES)
    curator = am.Curator(dataset, budget=1000, ledger=folder / "patients.ledger")
    cells = curator.ask(am.ShareHistogram(by=["ward"], method="geometric", epsilon=NEARLY_ALL)).value
    sample = curator.ask(am.ShareSample(policy="in A", columns=["ward"], epsilon=NEARLY_ALL)).value
    return cells.estimates.tolist(), sample.to_arrow()["ward"].to_pylist()


@pytest.mark.parametrize(
    ("options", "harmless"), [({}, 5), ({"person": "name", "max_rows": 1}, 4)], ids=["rows", "persons"]
)
def test_every_engine_counts_the_same_cells(put: Put, options: Any, harmless: int) -> None:
    rows = [*HARMLESS, *SENSITIVE, row(25, "A", name="Ann"), row(8, "A", name="Ann")]
    cuts = [am.Bins("age", [0, 18, 44, 120]), am.Bins("age", [age / 10 for age in range(1201)])]
    found = []
    place = put(frame(rows))
    for dataset in (declare(rows, **options), declare(place.pop("source"), **place, **options)):
        for cut in cuts:
            query = am.ShareHistogram(by=[cut, "ward", "consent"], policy="adults", epsilon=1)
            bound = bind(query, dataset.declaration)
            cells = count_judged_cells(dataset.view(bound.policy), bound.by)
            found.append((cells.every.tolist(), cells.non_sensitive.tolist()))
    assert found[:2] == found[2:]
    # Of the six that are harmless, two have no declared ward; one of Ann's rows is harmless by itself.
    assert [sum(part) for _, part in found] == [harmless] * 4


def test_a_value_that_only_a_collation_calls_declared_is_in_no_cell_and_in_no_sample(tmp_path: Path) -> None:
    place = in_duckdb(
        tmp_path,
        "CREATE TABLE t (ward VARCHAR COLLATE NOCASE, age DOUBLE)",
        "INSERT INTO t VALUES ('A', 30), ('B', 30), ('B', 30), ('a', 30)",
    )
    assert answers(tmp_path, place) == ([1, 2], ["A"])


def test_a_value_without_a_number_is_counted_in_no_cell() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t (consent BOOLEAN, ward VARCHAR COLLATE NOCASE)")
    connection.raw_sql("INSERT INTO t VALUES (false, 'B'), (true, 'a')")
    by = [Attribute("consent", (False, True)), Attribute("ward", ("A", "B"))]
    assert count_judged_cells(connection.table("t"), by).every.tolist() == [0, 1, 0, 0]


ENUMERATION = (
    "CREATE TYPE wards AS ENUM ('A', 'B', 'C')",
    "CREATE TABLE t (ward wards, age DOUBLE PRECISION)",
    "INSERT INTO t VALUES ('A', 30), ('B', 30), ('B', 30), ('C', 30), (NULL, 30)",
)


def test_an_enumeration_of_duckdb_is_shared_like_text(tmp_path: Path) -> None:
    statements = [item.replace("DOUBLE PRECISION", "DOUBLE") for item in ENUMERATION]
    assert answers(tmp_path, in_duckdb(tmp_path, *statements)) == ([1, 2], ["A"])


def test_an_enumeration_of_postgresql_is_shared_like_text(postgres: str, tmp_path: Path) -> None:
    assert answers(tmp_path, in_postgresql(postgres, *ENUMERATION)) == ([1, 2], ["A"])
