# SPDX-License-Identifier: Apache-2.0
"""Several counts in one question: what they cost, what they say, and that they are counted in one pass."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import psycopg
import pytest

import anonymaly as am
from anonymaly.audit.recording import recorded_statements
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.count.binding import LONGEST_LIST, CountBinding, bind

FRAME = pandas.DataFrame(
    {
        "age": [20, 29.5, 30, 59, 60, 300, None],
        "ward": ["A", "B", "C", None, "A", "A", "B"],
        "name": ["Ada", "Ada", "Bob", "Cem", "Dee", "Eve", "Eve"],
    }
)
COLUMNS: dict[str, Domain] = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}
AGES = ["age < 30", "age >= 30 and age < 60", "age >= 60", "age is null"]
OVERLAPPING = ["age < 60", "ward == 'A'", "age >= 30", "age < 20"]  # up to three of them


def declare(**options: Any) -> Dataset:
    return Dataset(FRAME, name="patients", columns=COLUMNS, **options)


def bound(where: Any, adjacency: Any = "add_remove", epsilon: str = "0.6", **options: Any) -> CountBinding:
    return bind(am.Count(where=where, epsilon=epsilon), declare(**options).with_adjacency(adjacency))


@pytest.fixture
def curator(tmp_path: Path) -> am.Curator:
    return am.Curator(declare(), budget=100, ledger=tmp_path / "patients.ledger")


def test_a_list_of_filters_gives_a_list_of_counts_in_its_order(curator: am.Curator) -> None:
    answer = curator.ask(am.Count(where=AGES, epsilon=50))
    assert answer.value == [2, 2, 2, 1]
    assert curator.ask(am.Count(where=AGES[::-1], epsilon=25)).value == [1, 2, 2, 2]
    assert json.loads(json.dumps(answer.to_dict()))["value"] == [2, 2, 2, 1]
    assert curator.answer(answer.number or 0).value == [2, 2, 2, 1]


def test_one_text_still_gives_one_number_and_its_json_is_what_it_was(curator: am.Curator) -> None:
    query = am.Count(where="age<30", epsilon="0.5")
    assert query.to_json() == '{"epsilon":"0.5","question":"count","where":"age<30"}'
    assert query.bind(declare().declaration).query.to_json() == query.to_json().replace("age<30", "age < 30")
    assert isinstance(curator.ask(query).value, int)


def test_a_list_of_one_filter_is_a_list_and_costs_what_one_count_does() -> None:
    for adjacency in ("add_remove", "replace"):
        assert bound(["age < 30"], adjacency).rate == bound("age < 30", adjacency).rate == Fraction("0.6")
        assert bound(["age < 30"], adjacency).fingerprint() != bound("age < 30", adjacency).fingerprint()


@pytest.mark.parametrize(
    ("where", "adjacency", "options", "divided_by"),
    [
        (AGES, "add_remove", {}, 1),
        (AGES, "replace", {}, 2),  # a record leaves one count and enters another
        (AGES, "add_remove", {"person": "name", "max_rows": 3}, 3),
        (AGES, "replace", {"person": "name", "max_rows": 3}, 6),
        (OVERLAPPING, "add_remove", {}, 3),
        (OVERLAPPING, "replace", {}, 4),  # there are no more than four
        (OVERLAPPING, "replace", {"person": "name", "max_rows": 2}, 8),
        (["age < 30", "age < 60"], "replace", {}, 2),
    ],
)
def test_the_charge_is_divided_by_the_counts_that_one_person_can_change(
    where: list[str], adjacency: str, options: dict[str, Any], divided_by: int
) -> None:
    found = bound(where, adjacency, **options)
    assert found.rate == Fraction("0.6") / divided_by
    assert found.guarantee.relation.type == "everyone"
    assert found.guarantee.nano == 600_000_000


def test_the_preview_says_that_the_counts_cost_epsilon_once(curator: am.Curator) -> None:
    preview = curator.preview(am.Count(where=AGES, epsilon="0.1"))
    assert "no record matches two of the filters, so these 4 counts cost ε once" in str(preview)
    assert "each within ±30 of the true count" in str(preview)
    assert preview.to_dict()["cost"] == "0.1"
    assert preview.expectation.details == {"counts": 4, "together": 1, "changed": 1, "epsilon_each": 0.1}


def test_the_preview_says_by_what_epsilon_is_divided(curator: am.Curator) -> None:
    noise = curator.preview(am.Count(where=OVERLAPPING, epsilon="0.3")).expectation.noise
    assert "a record may match up to 3 of the filters of these 4 counts, so each is answered at ε/3" in noise
    replaced = bound(AGES, "replace").expectation.noise
    assert "a replaced record may change up to 2 of these 4 counts, so each is answered at ε/2" in replaced


def test_an_answer_shows_each_count_beside_its_filter(curator: am.Curator) -> None:
    answer = curator.ask(am.Count(where=["age<60", "ward == 'A'", "age > 1e9"], epsilon=90))
    assert str(answer).splitlines()[:4] == [
        "records where",
        "  4  age < 60",
        "  3  ward == 'A'",
        "  0  age > 1000000000",
    ]
    assert "<br>  4  age &lt; 60<br>" in answer._repr_html_()


def test_a_filter_over_two_lines_is_shown_in_one(tmp_path: Path) -> None:
    columns = {"ward": am.Categories(["two\nlines"])}
    data = Dataset(pandas.DataFrame({"ward": ["two\nlines"]}), name="wards", columns=columns)
    curator = am.Curator(data, budget=100, ledger=tmp_path / "wards.ledger")
    answer = curator.ask(am.Count(where=["ward == 'two\nlines'", "ward is null"], epsilon=90))
    assert answer.value == [1, 0]
    assert answer.shown.splitlines() == ["records where", "  1  ward == 'two lines'", "  0  ward is null"]


def test_all_counts_are_made_in_one_statement_over_the_table() -> None:
    table = declare().table
    one, four = bound("age < 30"), bound(AGES)
    statements = []
    for question in (one, four):
        with recorded_statements(table) as asked:
            question.answer(table, Noise.seeded(1))
        statements.append([name for name in asked if name == "to_pyarrow"])
    assert statements == [["to_pyarrow"], ["to_pyarrow"]]


@pytest.mark.parametrize("constant", [0.9452706955539223, 0.38120423768821243])
def test_filters_a_hair_apart_never_count_one_record_twice(constant: float) -> None:
    # DuckDB reads these decimals as neighbours of the doubles that they name, unless it is told otherwise.
    below, above = math.nextafter(constant, 0), math.nextafter(constant, 1)
    frame = pandas.DataFrame({"x": [below, constant, above]})
    table = Dataset(frame, name="hairs", columns={"x": am.Interval(0, 1)})
    for left, right in ((below, constant), (constant, above)):
        where = [f"x <= {left!r}", f"x >= {right!r}"]
        question = bind(am.Count(where=where, epsilon=1), table.declaration)
        assert question.changed == 1
        (stage,) = question.stages
        assert sum(stage.summarise(table.table, {})) == 3


def test_postgresql_counts_alike(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE patients (age float8, ward text)")
        for age, ward in FRAME[["age", "ward"]].astype(object).where(FRAME.notna(), None).to_numpy().tolist():
            connection.execute("INSERT INTO patients VALUES (%s, %s)", [age, ward])
    dataset = Dataset(postgres, table="patients", name="patients", columns=COLUMNS)
    found = bind(am.Count(where=[*AGES, *OVERLAPPING], epsilon=100), dataset.declaration)
    (stage,) = found.stages
    counts = stage.summarise(dataset.table, {})
    dataset.table.get_backend().disconnect()
    assert counts == [2, 2, 2, 1, 4, 3, 4, 0]


@pytest.mark.parametrize(
    ("where", "field", "reason"),
    [
        ([], "where", "at least 1"),
        (["age < 1"] * 1001, "where", "at most 1000"),
        ({"age < 1"}, "where", "no order"),
        (["age < 1", 3], "where.1", "text"),
        (["age < 1", "height > 2"], "where.1", "height"),
        (["age < 1", ""], "where.1", "empty"),
        (3, "where", "text"),
        ([["age < 1"]], "where.0", "text"),
        ([" or ".join(["age < 100"] * 500)] * 20, "where", f"at most {LONGEST_LIST:,}"),
    ],
)
def test_lists_that_cannot_be_asked_about_are_refused(where: Any, field: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        bound(where)
    assert refused.value.field == field


def test_a_charge_too_small_to_divide_is_refused() -> None:
    with pytest.raises(InputError, match="too little") as refused:
        bound(["age < 30"] * 1000, epsilon="0.000000001", person="name", max_rows=1_000_000)
    assert refused.value.field == "epsilon"


def test_the_cost_of_a_list_does_not_depend_on_what_was_asked_before(curator: am.Curator) -> None:
    for where in AGES:
        curator.ask(am.Count(where=where, epsilon="0.1"))
    assert curator.spent == pytest.approx(0.4)
    curator.ask(am.Count(where=AGES, epsilon="0.1"))
    assert curator.spent == pytest.approx(0.5)
