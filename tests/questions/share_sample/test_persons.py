# SPDX-License-Identifier: Apache-2.0
"""Samples by person: whole persons, labels of their own, and answers of the version before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.questions.share_sample import summary
from anonymaly.questions.share_sample.binding import ShareSampleBinding
from tests.places import Put
from tests.questions.patients import declare, frame, row

Open = Callable[..., am.Curator]
COLUMNS = {"place": am.Interval(0, 100_000), "consent": am.Flag()}
RULES = {"agreed": am.Policy("consent")}


@pytest.fixture
def open_curator(tmp_path: Path) -> Open:
    def open_curator(dataset: am.Dataset, **options: Any) -> am.Curator:
        return am.Curator(dataset, budget=100, ledger=tmp_path / "account.ledger", **options)

    return open_curator


def ask(**fields: Any) -> am.ShareSample:
    return am.ShareSample(**{"policy": "agreed", "columns": ["place"], "epsilon": 1, **fields})


def trajectories(persons: int, rows: int, **options: Any) -> am.Dataset:
    """Return persons with as many places each, all places other ones; every fifth person does not agree.

    The table's rows are in no order, and ten of them are nobody's, which are harmless.
    """
    place = np.arange(persons * rows + 10)
    person = np.append(np.repeat(np.arange(persons), rows), [1] * 10)
    names = [f"p{number:04}" for number in person[:-10]] + [None] * 10
    table = pa.table({"id": names, "place": place.astype(float), "consent": person % 5 > 0})
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    fields: dict[str, Any] = {
        "name": "walks",
        "columns": COLUMNS,
        "rules": RULES,
        "person": "id",
        "max_rows": 2,
    }
    return am.Dataset(mixed, **{**fields, **options})


def places(value: am.Table) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for record in value.to_arrow().to_pylist():
        found[record["person"]].add(int(record["place"]))
    return found


def test_a_person_with_fifty_rows_is_kept_as_often_as_one_with_one_and_with_all_of_them() -> None:
    answer = am.simulate(ask(), trajectories(400, 50, max_rows=50, public=True), seed=1)
    # 320 of 400 persons agreed: 202 are kept on average, give or take 9; a coin for each row kept 308 rows.
    assert 150 * 50 < len(answer.value) < 250 * 50
    sizes = {len(found) for found in places(answer.value).values()}
    assert sizes == {50, 1}, "a row that is nobody's counts as a person of its own"


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_a_person_whose_rows_are_in_several_batches_has_one_coin(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(summary, "ROWS", rows)
    dataset = trajectories(60, 10, public=True)
    for seed in range(3):
        found = places(am.simulate(ask(), dataset, seed=seed).value)
        assert sorted(found) == list(range(1, len(found) + 1))
        whole = [kept for kept in found.values() if len(kept) > 1]
        assert 15 < len(whole) < 45
        for kept in whole:
            (person,) = {place // 10 for place in kept}
            assert len(kept) == 10
            assert person % 5 > 0


def test_labels_are_in_no_order_of_the_table() -> None:
    found = places(am.simulate(ask(epsilon=50), trajectories(2_000, 5, public=True), seed=1).value)
    persons = [min(found[label]) for label in sorted(found)]
    assert len(persons) == 1_610
    # A uniform order of so many has a correlation of 0.025 with any given one.
    assert abs(np.corrcoef(persons, np.arange(len(persons)))[0, 1]) < 0.15


def test_the_preview_says_that_rows_stay_together_and_no_rows_are_counted_in_the_promise(
    open_curator: Open,
) -> None:
    preview = open_curator(declare(person="name", max_rows=4)).preview(
        ask(policy="adults", columns=["ward"], epsilon=2)
    )
    said = preview.expectation.error.splitlines()
    assert said[0] == f"{-100 * np.expm1(-2):.3g} of 100 persons who are not sensitive are kept on average"
    assert said[1].startswith(
        "all rows of a person stay together, however many they are; in the column person"
    )
    assert preview.expectation.noise.startswith("a coin for each person")
    protects = preview.guarantee.relation.protects()
    assert "however many rows they have: for at least one of all their rows" in protects
    assert "read" not in protects, "all rows are read, and not only max_rows"


def test_without_a_person_there_is_a_coin_for_each_row_and_no_label(open_curator: Open) -> None:
    curator = open_curator(trajectories(20, 5, person=None, max_rows=None))
    assert "of 100 records that are not sensitive" in curator.preview(ask()).expectation.error
    value = curator.ask(ask(epsilon=50)).value
    assert value.columns == ["place"]
    assert len(value) == 80 + 10


def test_a_question_that_was_charged_by_the_row_is_not_charged_again(open_curator: Open) -> None:
    curator = open_curator(trajectories(20, 5))
    accountant = curator.accountant
    bound = accountant.accept(ask())
    assert isinstance(bound, ShareSampleBinding)
    before = bound.earlier
    assert before is not None
    assert before.fingerprint() == bound.fingerprint(), "the ledger says by which law it was charged"
    assert (before.schema_version, bound.schema_version) == (1, 2)
    # Charged by the version before, which was stopped before it drew: it is drawn as the ledger says.
    accountant.reserve(before, analyst="owner", repeat=0)
    assert curator.preview(ask()).charged_before is not None
    assert "records that are not sensitive" in curator.preview(ask()).expectation.error
    answer = curator.ask(ask())
    assert (answer.value.columns, curator.spent) == (["place"], 1)
    again = curator.ask(ask())
    assert (again.charged, again.value.columns, curator.spent) == (0, ["place"], 1)
    # Another draw, and one with weights, which that version did not know, are by person.
    assert curator.ask(ask(), repeat=1).value.columns == ["person", "place"]
    assert curator.ask(ask(weights=True)).value.columns == ["person", "place", "weight"]
    assert curator.spent == 3


def test_weights_are_asked_for_and_say_what_a_record_stands_for(open_curator: Open) -> None:
    assert "weights" not in ask().to_dict(), "questions that exist keep their text"
    assert am.Query.from_json(ask(weights=True).to_json()) == ask(weights=True)
    dataset = trajectories(400, 50, person=None, max_rows=None, public=True)
    value = am.simulate(ask(weights=True), dataset, seed=1).value
    assert value.columns == ["place", "weight"]
    weights = value.to_arrow().column("weight").to_numpy()
    assert set(weights) == {1 / -np.expm1(-1.0)}
    # 16,010 records agreed; the sum of weights is off by 97 in a standard deviation.
    assert abs(weights.sum() - 16_010) < 500
    curator = open_curator(trajectories(20, 5))
    assert (
        "stands for 1.582 records of persons who are not sensitive"
        in curator.preview(ask(weights=True)).expectation.error
    )
    nothing = am.simulate(ask(weights=True), trajectories(0, 1, public=True), seed=1).value
    assert nothing.columns == ["person", "place", "weight"]


def test_labels_and_weights_never_take_the_name_of_a_published_column() -> None:
    table = pa.table({"id": ["a", "a", "b"], "Person": [1.0, 2.0, 3.0], "weight": [60.0, 61.0, 62.0]})
    columns = {"Person": am.Interval(0, 9), "weight": am.Interval(0, 99)}
    dataset = am.Dataset(
        table, name="names", columns=columns, rules={"agreed": am.Policy("weight > 50")}, person="id",
        max_rows=1, public=True,
    )  # fmt: skip
    value = am.simulate(ask(columns=["Person", "weight"], weights=True, epsilon=50), dataset, seed=1).value
    assert value.columns == ["person_2", "Person", "weight", "weight_2"]
    by_label = {item["Person"]: item["person_2"] for item in value.to_arrow().to_pylist()}
    assert by_label[1.0] == by_label[2.0] != by_label[3.0]


@pytest.mark.parametrize(
    ("kind", "same", "other"),
    [
        (pa.string(), ["é", "é"], "E"),
        (pa.string(), ["a", "a"], "A"),
        (pa.decimal128(30, 4), [Decimal("1.0"), Decimal("1.0000")], Decimal("2")),
        (pa.float64(), [0.0, -0.0], 1.0),
    ],
    ids=["accents", "capitals", "decimals", "zeros"],
)
def test_who_is_the_same_person_is_alike_on_all_engines(
    put: Put, kind: Any, same: list[Any], other: Any
) -> None:
    names = pa.array([same[0], other, None, same[1], other, None, same[0]], kind)
    table = pa.table({"id": names, "place": np.arange(7.0), "consent": [True] * 7})
    dataset = am.Dataset(
        **put(table), name="walks", columns=COLUMNS, rules=RULES, person="id", max_rows=1, public=True
    )
    found = places(am.simulate(ask(epsilon=50), dataset, seed=1).value)
    assert sorted(map(sorted, found.values())) == [[0, 3, 6], [1, 4], [2], [5]]


def test_a_sensitive_row_of_a_person_keeps_all_of_their_rows_back_on_all_engines(put: Put) -> None:
    ann = [row(20.0 + place, "A", name="Ann") for place in range(4)]
    records = [
        *ann,
        row(99.0, "Z", name="Ann"),
        row(30.0, "B", name="Bob"),
        row(31.0, "B", name="Bob"),
        row(40.0, "C"),
    ]
    place = put(frame(records))
    dataset = declare(place.pop("source"), person="name", max_rows=2, public=True, **place)
    query = am.ShareSample(policy="adults", columns=["ward"], epsilon=50)
    shown = am.simulate(query, dataset, seed=1).value.to_arrow().column("ward").to_pylist()
    assert sorted(shown) == ["B", "B", "C"], "a ward that nobody declared makes all of Ann sensitive"


def test_rows_of_a_person_follow_one_another_though_spark_sends_several_partitions(spark: Any) -> None:
    frame = spark.range(0, 3000, numPartitions=5).selectExpr(
        "CAST(id % 500 AS STRING) AS id", "CAST(id AS DOUBLE) AS place", "true AS consent"
    )
    dataset = am.Dataset(frame, name="walks", columns=COLUMNS, rules=RULES, person="id", max_rows=1)
    bound: Any = ask().bind(dataset.declaration)
    view = dataset.view(bound.policy)
    own = view.get_backend()._session
    # Otherwise so small a table is put together again.
    own.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    own.conf.set("spark.sql.shuffle.partitions", "4")
    batches = list(summary.non_sensitive_persons(view, ["place"]))
    assert len([batch for batch in batches if len(batch) > 0]) == 4
    rows = pa.Table.from_batches(batches)
    begins = np.flatnonzero(rows.column(summary.BEGINS).to_numpy(zero_copy_only=False))
    persons = np.split(rows.column("place").to_numpy(), begins[1:])
    assert len(persons) == 500
    assert all((person % 500 == person[0] % 500).all() and len(person) == 6 for person in persons)
