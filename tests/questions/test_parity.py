# SPDX-License-Identifier: Apache-2.0
"""Every question's summaries are the same on DuckDB, PostgreSQL and Spark, for a table that is hostile."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonymaly as am
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.ask.query import Query
from anonymaly.engine.statements import collect
from anonymaly.noise import Noise
from anonymaly.questions.share_sample.summary import BEGINS
from tests.questions import hostile

RULES: dict[str, Any] = {
    "harmless": am.Policy("age >= 18 and (ward == 'A' or consent) and seen >= '2020-06-01'"),
    "groups": am.SameContexts(),
    "rare": am.AnomalyModel(["age", "dose"], radius=9, beta=6, k=1),
    "flat": am.AnomalyModel(["age", "dose"], radius=9, beta=6, k=1, metric="chebyshev"),
    "same": am.AnomalyModel(["ward", "consent"], radius=0, beta=5, k=1),
    "nearly all": am.Policy("age >= 1"),
}
GROUPS = ["ward", "consent", am.Bins("age", [0, 30, 60, 120])]
MANY = {"age": [float(age) for age in range(20, 110, 3)], "dose": [400.0 + 3 * age for age in range(30)]}
FINE = am.Bins("dose", [float(edge) for edge in range(0, 1001, 5)])


def explained(detector: str, **parameters: Any) -> am.Explain:
    return am.Explain(
        record=hostile.RECORD, metric="dose", attributes=GROUPS, detector=detector, parameters=parameters,
        rule="groups", epsilon=1,
    )  # fmt: skip


def _without(column: str) -> dict[str, Any]:
    return {name: value for name, value in hostile.RECORD.items() if name != column}


QUERIES: dict[str, Query] = {
    "count of all": am.Count(epsilon=1),
    "count of numbers and text": am.Count(
        where="not (age < 18 or dose >= 400.25) and ward in ['A', 'é', \"it's\"] and job == 'Other'",
        epsilon=1,
    ),
    "count of moments": am.Count(
        where="seen > '2021-03-04 05:06' and called < '2024-01-01' and said is not null and born is not null",
        epsilon=1,
    ),
    "count of what is read": am.Count(
        where="pay >= 100.1 and huge < 0.3 and fee > 1.5 and big != 2 and note is not null", epsilon=1
    ),
    "count of several": am.Count(where=["age < 18", "code == 2", "ward == 'back\\\\slash'"], epsilon=1),
    "explain lof": explained("lof", k=3),
    "explain grubbs": explained("grubbs"),
    "explain histogram": explained("histogram", fraction=0.2),
    "explain mad": explained("mad"),
    "explain simple": am.Explain(
        record={**_without("consent"), "seen": "2021-01-05"},
        metric="dose",
        attributes=["ward", am.Bins("age", [0, 30, 60, 120]), am.Dates("seen", "quarter")],
        steps=64,
        epsilon=1,
    ),
    "explain subsets": am.Explain(
        record=_without("age"),
        metric="dose",
        attributes=["consent", "ward"],
        among="subsets",
        steps=64,
        epsilon=1,
    ),
    "identify one": am.Identify(record={"age": 45, "dose": 400.5}, model="rare", epsilon=1),
    "identify many": am.Identify(records=MANY, model="rare", epsilon=1),
    "identify many by chebyshev": am.Identify(records=MANY, model="flat", epsilon=1),
    "identify of text": am.Identify(record={"ward": "é", "consent": True}, model="same", epsilon=1),
    "lookahead": am.Lookahead(columns=["ward", "consent"], model="same", epsilon=1),
    "score": am.Score(columns=["age", "dose"], contamination="0.1", epsilon=1),
    "score of unknown bounds": am.Score(columns=["mass", "dose"], epsilon=1),
    "score of all kinds": am.Score(columns=["dose", "ward", "consent", "seen", "pay"], epsilon=1),
    "score by grid": am.Score(
        columns=["age", "dose"], method="grid", cells=9, contamination="0.1", epsilon=1
    ),
    "share histogram": am.ShareHistogram(by=GROUPS, policy="harmless", epsilon=1),
    "share fine histogram": am.ShareHistogram(by=[FINE, "consent"], policy="harmless", epsilon=1),
    "share sample": am.ShareSample(policy="harmless", columns=list(hostile.COLUMNS), epsilon=1),
    "share sample of nearly all": am.ShareSample(policy="nearly all", columns=["note", "mass"], epsilon=1),
}
OF_PERSONS: dict[str, Query] = {
    "share ngrams of everyone": am.ShareNgrams(
        place=["ward"], order="seen", length=3, per_person=4, epsilon=1
    ),
    "share ngrams of a policy": am.ShareNgrams(
        place=["job", am.Bins("age", range(0, 121, 5))],
        order="mass",
        shortest=2,
        policy="nearly all",
        epsilon=1,
    ),
    "share ngrams beyond 31 bits": am.ShareNgrams(
        place=[FINE, "ward"], order="called", shortest=4, length=4, per_person=2, epsilon=1
    ),
}
EVERY = {**QUERIES, **OF_PERSONS}
PROTECTED: dict[str, dict[str, Any]] = {"rows": {}, "persons": {"person": "id", "max_rows": 2}}
CASES = [("rows", name) for name in QUERIES] + [("persons", name) for name in EVERY]


@pytest.fixture(scope="module")
def places(spark: Any, server: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, dict[str, Any]]:
    items = hostile.rows()
    return {
        "duckdb": hostile.in_duckdb(items, tmp_path_factory.mktemp("duckdb")),
        "postgres": hostile.in_postgresql(items, _database(server)),
        "pyspark": hostile.in_spark(items, spark, tmp_path_factory.mktemp("spark")),
    }


def _database(server: str) -> str:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE parity")
    return server.replace("/postgres?", "/parity?")


@pytest.fixture(scope="module", params=PROTECTED)
def datasets(request: pytest.FixtureRequest, places: Mapping[str, dict[str, Any]]) -> dict[str, am.Dataset]:
    return {
        engine: am.Dataset(
            **place, name="h", columns=hostile.COLUMNS, rules=RULES, **PROTECTED[request.param]
        )
        for engine, place in places.items()
    }


def plain(item: Any) -> Any:
    """What a summary holds, without an order where none is promised; floats by all their bits."""
    if isinstance(item, pa.RecordBatchReader | pa.Table):
        table = item if isinstance(item, pa.Table) else item.read_all()
        return sorted(_in_turn(table) if BEGINS in table.column_names else map(_row, table.to_pylist()))
    if isinstance(item, np.ndarray):
        return item.tolist()
    if dataclasses.is_dataclass(item):
        return {field.name: plain(getattr(item, field.name)) for field in dataclasses.fields(item)}
    if isinstance(item, list | tuple):
        return [plain(part) for part in item]
    return item if item is None or isinstance(item, bool | str) else repr(_number(item))


def _in_turn(table: pa.Table) -> list[str]:
    """Persons, whose rows follow one another in an order that is promised; that of persons is not."""
    persons: list[list[str]] = []
    for row in table.to_pylist():
        if row[BEGINS]:
            persons.append([])
        persons[-1].append(_row(row))
    return ["\n".join(rows) for rows in persons]


def _row(row: dict[str, Any]) -> str:
    return repr([_number(value) for value in row.values()])


def _number(value: Any) -> Any:
    # Sums are decimals on some engines; 3 and Decimal(3) are one number.
    return int(value) if not isinstance(value, bool | float | str) and hasattr(value, "__int__") else value


def test_every_question_is_here() -> None:
    assert {query.question for query in EVERY.values()} == set(QUESTIONS)


def test_every_row_is_read_alike(datasets: dict[str, am.Dataset]) -> None:
    found = {engine: plain(collect(dataset.table)) for engine, dataset in datasets.items()}
    assert len(found["duckdb"]) > 100
    assert found["postgres"] == found["duckdb"]
    assert found["pyspark"] == found["duckdb"]


@pytest.mark.slow
def test_a_table_of_no_row_fails_nowhere(spark: Any, postgres: str, tmp_path: Path) -> None:
    pq.write_table(hostile.arrow([]), tmp_path / "t.parquet")
    sources: dict[str, dict[str, Any]] = {
        "duckdb": {"source": tmp_path / "t.parquet"},
        "postgres": hostile.in_postgresql([], postgres),
        "pyspark": {"source": spark.read.parquet(str(tmp_path / "t.parquet"))},
    }
    for protected, queries in (("rows", QUERIES), ("persons", OF_PERSONS)):
        datasets = {
            engine: am.Dataset(
                **place, name="h", columns=hostile.COLUMNS, rules=RULES, **PROTECTED[protected]
            )
            for engine, place in sources.items()
        }
        for name, query in queries.items():
            same_summaries(name, query, datasets)


@pytest.mark.parametrize(("datasets", "name"), CASES, indirect=["datasets"])
def test_a_question_has_the_same_summaries_on_every_engine(
    datasets: dict[str, am.Dataset], name: str
) -> None:
    same_summaries(name, EVERY[name], datasets)


def same_summaries(name: str, query: Query, datasets: dict[str, am.Dataset]) -> None:
    """Compare every stage; what one releases, with the noise of a seed, is what the next one goes by."""
    bound = query.bind(datasets["duckdb"].declaration)
    tables = {engine: dataset.view(bound.policy) for engine, dataset in datasets.items()}
    released: dict[str, Any] = {}
    for stage in bound.stages:
        found = {engine: plain(stage.summarise(table, dict(released))) for engine, table in tables.items()}
        for engine in tables:
            assert found[engine] == found["duckdb"], f"{name}, {stage.name}: {engine}"
        again = stage.summarise(tables["duckdb"], dict(released))
        released[stage.name] = stage.release(again, dict(released), Noise.seeded(1))


def test_whole_persons_are_many_and_have_several_rows(datasets: dict[str, am.Dataset]) -> None:
    # Otherwise that they are the same would say little.
    dataset = datasets["duckdb"]
    bound = EVERY["share sample of nearly all"].bind(dataset.declaration)
    persons = plain(bound.stages[0].summarise(dataset.view(bound.policy), {}))
    lengths = [person.count("\n") + 1 for person in persons]
    assert len(lengths) > 30
    assert (max(lengths) > 3) == (dataset.declaration.person is not None)
