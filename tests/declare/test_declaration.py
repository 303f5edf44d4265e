# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, Flag, Interval
from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.errors import ExpressionError, InputError

FRAME = pd.DataFrame({"age": [30, 40], "id": [1, 2]})
AGE: dict[str, Domain] = {"age": Interval(0, 120)}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "../patients"}, "name"),
        ({"name": ".hidden"}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"name": "pat ients"}, "name"),
        ({"name": "patients\n"}, "name"),
        ({"name": None}, "name"),
        ({"name": 5}, "name"),
        ({"columns": {}}, "columns"),
        ({"columns": None}, "columns"),
        ({"columns": ["age"]}, "columns"),
        ({"columns": {"age": None}}, "columns.age"),
        ({"columns": {"age": "interval"}}, "columns.age"),
        ({"columns": {"age": {"type": "interval", "low": 0}}}, "columns.age.high"),
        ({"columns": {5: Flag()}}, "columns"),
        ({"columns": {"": Flag()}}, "columns"),
        ({"columns": {"a`b": Flag()}}, "columns"),
        ({"columns": {"a\0b": Flag()}}, "columns"),
        ({"columns": {"\ud800": Flag()}}, "columns"),
        ({"columns": {"age": Flag(), "Age": Flag()}}, "columns"),
        ({"columns": {"__person__": Flag()}}, "columns"),
        ({"columns": {"__PLACE__": Flag()}}, "columns"),
        ({"version": None}, "version"),
        ({"version": ""}, "version"),
        ({"version": "\ud800"}, "version"),
        ({"key": ""}, "key"),
        ({"key": 5}, "key"),
        ({"person": "", "max_rows": 1}, "person"),
        ({"person": 5, "max_rows": 1}, "person"),
        ({"person": "id"}, "max_rows"),
        ({"max_rows": 3}, "max_rows"),
        ({"person": "id", "max_rows": 0}, "max_rows"),
        ({"person": "id", "max_rows": True}, "max_rows"),
        ({"person": "id", "max_rows": 1.0}, "max_rows"),
        ({"public": "no"}, "public"),
        ({"public": 1}, "public"),
        ({"public": None}, "public"),
        ({"rules": None}, "rules"),
        ({"rules": "all"}, "rules"),
        ({"rules": ["adults"]}, "rules"),
        ({"rules": {5: Policy("age > 5")}}, "rules"),
        ({"rules": {"": Policy("age > 5")}}, "rules"),
        ({"rules": {"adults": "age > 5"}}, "rules.adults"),
        ({"rules": {"adults": Policy("weight > 5")}}, "rules.adults"),
        ({"rules": {"rare": AnomalyModel(["weight"], 1, 1)}}, "rules.rare.columns"),
        ({"rules": {"rare": {"type": "anomaly_model", "columns": ["age"], "radius": 1}}}, "rules.rare.beta"),
    ],
    ids=lambda value: ascii(value)[:50],
)
def test_a_declaration_that_cannot_be_used_is_refused_by_field(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        Dataset(FRAME, **{"name": "patients", "columns": AGE, **options})
    assert refused.value.field == field
    assert refused.value.next_step


def test_a_declaration_is_read_from_plain_data_like_from_values() -> None:
    plain = Dataset(
        FRAME,
        name="patients",
        columns={"age": {"type": "interval", "low": 0.0, "high": 120}},  # type: ignore[dict-item]
        rules={"adults": {"type": "policy", "text": "18<=age"}},  # type: ignore[dict-item]
    )
    values = Dataset(FRAME, name="patients", columns=AGE, rules={"adults": Policy("age >= 18")})
    assert plain.declaration == values.declaration
    assert plain.declaration.digest() == values.declaration.digest()


def test_a_declaration_cannot_be_changed_afterwards() -> None:
    columns = dict(AGE)
    dataset = Dataset(FRAME, name="patients", columns=columns)
    columns["weight"] = Interval(0, 1)
    assert list(dataset.declaration.columns) == ["age"]
    with pytest.raises(TypeError):
        dataset.declaration.columns["weight"] = Interval(0, 1)  # type: ignore[index]
    with pytest.raises(TypeError):
        dataset.declaration.rules["all"] = Policy("age >= 0")  # type: ignore[index]
    with pytest.raises(AttributeError):
        dataset.declaration.public = True  # type: ignore[misc]


def test_rules_are_kept_in_their_canonical_text_and_any_is_recorded() -> None:
    dataset = Dataset(FRAME, name="patients", columns=AGE, rules={"adults": Policy("(18 <= age)")})
    assert dataset.declaration.rules["adults"] == Policy("age >= 18")
    assert not dataset.declaration.any_rule
    assert Dataset(FRAME, name="patients", columns=AGE, rules="any").declaration.any_rule
    with pytest.raises(ExpressionError):
        Dataset(FRAME, name="patients", columns=AGE, rules={"adults": Policy("age >=")})


def test_a_fingerprint_changes_with_name_version_domain_and_unit_but_not_with_rules() -> None:
    base: dict[str, Any] = {"source": FRAME, "name": "patients", "columns": AGE}
    changed = [
        {},
        {"name": "others"},
        {"version": "2"},
        {"columns": {"age": Interval(0, 121)}},
        {"person": "id", "max_rows": 1},
        {"person": "id", "max_rows": 2},
        {"key": "id"},
        {"public": True},
    ]
    digests = [Dataset(**{**base, **change}).declaration.digest() for change in changed]
    assert len(set(digests)) == len(digests)
    assert Dataset(**base, rules="any").declaration.digest() == digests[0]
    dataset = Dataset(**base)
    assert (
        dataset.with_adjacency("replace").digest()
        != dataset.with_adjacency("add_remove").digest()
        == digests[0]
    )


@pytest.mark.parametrize("adjacency", ["both", None, ""])
def test_an_unknown_adjacency_is_refused(adjacency: Any) -> None:
    with pytest.raises(InputError, match="add_remove or replace"):
        Dataset(FRAME, name="patients", columns=AGE).with_adjacency(adjacency)


def test_a_declaration_needs_no_table() -> None:
    rules = {"adults": Policy("18 <= age")}
    declared = Declaration.read(name="patients", columns=AGE, rules=rules, person="id", max_rows=3)
    dataset = Dataset(FRAME, name="patients", columns=AGE, rules=rules, person="id", max_rows=3)
    assert declared == dataset.declaration
    assert declared.with_adjacency("replace") == dataset.with_adjacency("replace")
    assert declared.kinds == {"age": "number"}
