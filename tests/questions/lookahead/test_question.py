# SPDX-License-Identifier: Apache-2.0
"""Counts with noise wherever somebody is protected: whom that covers, and what is refused."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.audit.recording import recorded_statements
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.noise import Noise
from anonymaly.promise import Everyone, SensitiveRecords
from anonymaly.questions.lookahead.binding import LookaheadBinding, bind
from anonymaly.questions.lookahead.mechanism import release_counts
from anonymaly.questions.lookahead.value import CountTable

COLUMNS: dict[str, Any] = {
    "ward": am.Categories(["A", "B", "C"]),
    "adult": am.Flag(),
    "age": am.Interval(0, 120),
    "name": am.Opaque(),
}
BASE = Fraction(2)  # e^ε0


def model(beta: int = 3, k: int = 1, columns: Any = ("ward", "adult", "age")) -> am.AnomalyModel:
    return am.AnomalyModel(columns, radius=0, beta=beta, k=k)


def declare(records: dict[str, list[Any]], rule: am.AnomalyModel | None = None, **options: Any) -> am.Dataset:
    kinds = {"ward": pa.string(), "adult": pa.bool_(), "age": pa.float64(), "name": pa.string()}
    length = len(next(iter(records.values())))
    columns = {name: pa.array(records.get(name, [None] * length), kind) for name, kind in kinds.items()}
    rules = {"exact": rule or model(), "near": am.AnomalyModel(["age"], radius=1, beta=2)}
    given = {"name": "patients", "columns": COLUMNS, "rules": rules, "public": True, **options}
    return am.Dataset(pa.table(columns), **given)


def bound_to(beta: int, k: int, **options: Any) -> LookaheadBinding:
    declaration = declare({"ward": []}, model(beta, k), **options).declaration
    return bind(am.Lookahead(columns=["ward"], model="exact", epsilon=1), declaration)


def fall(made: LookaheadBinding, first: tuple[int, ...], second: tuple[int, ...]) -> Fraction | float:
    """The largest factor between the laws of two tables' counts; infinite if one of them is exact."""
    factors: list[Fraction | float] = []
    for one, other in zip(first, second, strict=True):
        noisy = (one >= made.least, other >= made.least)
        if one == other:
            factors.append(Fraction(1) if noisy[0] == noisy[1] else math.inf)
        else:
            factors.append(BASE ** abs(one - other) if all(noisy) else math.inf)
    return math.prod(factors, start=Fraction(1))


@pytest.mark.parametrize("columns", [["ward"], ["ward", "adult"], [am.Bins("age", [0, 2, 120])]], ids=str)
@pytest.mark.parametrize(("beta", "k"), [(1, 1), (2, 1), (3, 1), (3, 2), (2, 3), (4, 2)])
def test_a_protected_record_more_or_less_changes_no_table_by_more_than_promised(
    beta: int, k: int, columns: list[Any]
) -> None:
    kinds = [{"ward": "A", "adult": True, "age": 1}, {"ward": "A", "adult": False, "age": 1}]
    kinds += [{"ward": "B", "adult": True, "age": 5}]
    rule = model(beta, k)
    declaration = declare({"ward": []}, rule).declaration
    query = am.Lookahead(columns=columns, model="exact", epsilon=1)
    made = bind(query, declaration)
    relation = made.relation

    def counts(table: list[dict[str, Any]]) -> tuple[int, ...]:
        found: Counter[tuple[Any, ...]] = Counter(
            tuple(attribute.code(row[attribute.column]) for attribute in made.attributes) for row in table
        )
        places = product(*(range(len(attribute.values)) for attribute in made.attributes))
        return tuple(found[place] for place in places)

    covered, outside = 0, 0
    for numbers in product(range(4), repeat=len(kinds)):
        table = [kind for kind, number in zip(kinds, numbers, strict=True) for _ in range(number)]
        for row in kinds:
            loss = fall(made, counts(table), counts([*table, row]))
            if relation.relates(table, [*table, row], columns=COLUMNS):
                covered += 1
                assert loss <= BASE
            else:
                outside += math.isinf(loss)
    assert covered
    assert bool(outside) == (k < beta), "the check could fail, and nobody is left out where k reaches beta"


def test_one_step_less_ahead_would_leave_a_protected_record_bare() -> None:
    made = bound_to(beta=3, k=1)
    assert made.least == 2
    short = dataclasses.replace(made, least=3)
    assert fall(made, (3, 0, 0), (2, 0, 0)) == BASE
    assert fall(short, (3, 0, 0), (2, 0, 0)) == math.inf


def test_small_counts_are_exact_and_the_others_have_noise() -> None:
    made = bound_to(beta=3, k=1)
    draws = [release_counts(np.array([0, 1, 2]), made, Noise.seeded(seed)).counts for seed in range(200)]
    assert {draw[:2] for draw in draws} == {(0, 1)}
    assert len({draw[2] for draw in draws}) > 3


def test_the_words_promise_exactness_only_of_counts_that_have_no_noise() -> None:
    """Three different patients of a ward: by the rule nobody is protected, and their count has noise."""
    dataset = declare({"ward": ["A"] * 3, "adult": [True, False, None], "age": [1.0, 2.0, 3.0]})
    query = am.Lookahead(columns=["ward"], model="exact", epsilon=1)
    answers = [am.simulate(query, dataset, seed=seed) for seed in range(40)]
    assert len({answer.value.count(ward="A") for answer in answers}) > 1
    rows = [{"ward": "A", "adult": adult, "age": age} for adult, age in ((True, 1), (False, 2), (None, 3))]
    assert not any(
        SensitiveRecords("exact", model()).relates(rows, [row for row in rows if row != one]) for one in rows
    )
    said = "exact only where so few share a value that the rule 'exact' protects none of them"
    assert said in answers[0].asks
    assert "smaller counts are exact" in answers[0].expectation.error


def test_where_k_reaches_beta_every_declared_count_has_noise() -> None:
    query = am.Lookahead(columns=["ward"], model="exact", epsilon=1)
    dataset = declare({"ward": ["A"]}, model(2, 2))
    assert query.bind(dataset.declaration).relation == Everyone()
    values = [am.simulate(query, dataset, seed=seed).value.counts for seed in range(60)]
    for place in range(3):
        assert len({counts[place] for counts in values}) > 3
    assert "every count" in am.simulate(query, dataset, seed=0).expectation.noise


def test_persons_with_several_rows_are_looked_ahead_for() -> None:
    one, three = bound_to(5, 1), bound_to(5, 1, person="name", max_rows=3)
    assert (one.least, three.least) == (4, 2)
    assert three.rate == one.rate / 3
    query = am.Lookahead(columns=["ward"], model="exact", epsilon=1)
    declaration = declare({"ward": []}, model(5, 1), person="name", max_rows=3).with_adjacency("replace")
    assert query.bind(declaration).relation == SensitiveRecords("exact", model(5, 1), "replace", 3)
    assert bind(query, declaration).rate == one.rate / 6


def test_counts_are_those_of_the_rows_with_values_of_all_columns() -> None:
    records = {
        "ward": ["A", "A", "B", None, "Z", "A", "A"],
        "adult": [True, True, False, True, True, None, True],
        "age": [3, 17.5, 18, 4, 5, 6, None],
    }
    query = am.Lookahead(columns=["ward", am.Bins("age", [0, 18, 120])], model="exact", epsilon=50)
    value = am.simulate(query, declare(records, model(100, 1)), seed=0).value
    assert value.count(ward="A", age="[0, 18)") == 3
    assert value.count(ward="B", age="[18, 120]") == 1
    assert sum(value.counts) == 4
    frame = value.to_pandas()
    assert list(frame.columns) == ["ward", "age", "records"]
    assert len(frame) == 6
    assert CountTable.read(value.to_dict()) == value
    with pytest.raises(InputError, match="no combination"):
        value.count(ward="A")


def test_a_long_table_is_printed_in_part() -> None:
    wide = am.Lookahead(columns=[am.Bins("age", list(range(0, 61)))], model="exact", epsilon=1)
    answer = am.simulate(wide, declare({"age": [1]}), seed=0)
    assert "… and 40 more" in str(answer)


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"model": "near", "columns": [am.Bins("age", [0, 120])]}, "model", "radius 1"),
        ({"columns": ["age"]}, "columns", "a list of values is needed"),
        ({"columns": ["ward", "ward"]}, "columns", "twice"),
        ({"columns": ["height"]}, "columns", "no declared column"),
        ({"columns": []}, "columns", "at least 1"),
        (
            {"columns": [am.Bins("age", list(range(121))), "ward"], "model": "wide"},
            "columns",
            "by which the model",
        ),
        (
            {"columns": [am.Bins("age", list(np.linspace(0, 120, 600_000))), "adult"]},
            "columns",
            "at most 1,048,576",
        ),
    ],
    ids=lambda item: str(item)[:60],
)
def test_what_does_not_fit_is_refused(fields: dict[str, Any], field: str, reason: str) -> None:
    rules = {"exact": model(), "near": am.AnomalyModel(["age"], 1, 2), "wide": model(columns=["age"])}
    declaration = declare({"ward": []}, rules=rules).declaration
    with pytest.raises(InputError) as refused:
        am.Lookahead(**{"columns": ["ward"], "model": "exact", "epsilon": 1, **fields}).bind(declaration)
    assert refused.value.field == field
    assert reason in str(refused.value)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(RuleNotDeclared):
        am.Lookahead(columns=["ward"], model="none", epsilon=1).bind(declare({"ward": []}).declaration)


def test_a_frame_of_pandas_is_read_as_well() -> None:
    frame = pandas.DataFrame({"ward": ["A"] * 3 + ["B"]})
    dataset = am.Dataset(
        frame,
        name="wards",
        columns={"ward": COLUMNS["ward"]},
        rules={"exact": model(9, 1, ["ward"])},
        public=True,
    )
    value = am.simulate(am.Lookahead(columns=["ward"], model="exact", epsilon=1), dataset, seed=0).value
    assert value.counts == (3, 1, 0)


def test_thousands_of_bins_make_no_statement_of_thousands_of_comparisons() -> None:
    dataset = declare({"age": [0.0, 17.5, 59.99, 60.0, None]})
    query = am.Lookahead(
        columns=[am.Bins("age", [place / 100 for place in range(6_001)])], model="exact", epsilon=1
    )
    (stage,) = query.bind(dataset.declaration).stages
    with recorded_statements(dataset.table) as statements:
        counts = stage.summarise(dataset.table, {})
    assert counts.sum() == 4
    assert (counts[0], counts[1750], counts[5999]) == (1, 1, 2)
    assert statements
    assert max(map(len, statements)) < 2_000
