# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from anonymaly.declare import rules
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.predicates import Predicate
from anonymaly.declare.rules import KINDS, AnomalyModel, Policy, Rule, SameContexts, read_rule
from anonymaly.declare.sensitivity import is_relaxation, who_is_sensitive
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.errors import ExpressionError, InputError
from anonymaly.promise import SensitiveUnderPolicy
from tests.declare.trees import COLUMNS, records, trees

untimed = settings(deadline=None)

TABLE: dict[str, Domain] = {
    "age": Interval(0, 120),
    "bmi": Interval(10, 70),
    "ward": Categories(["A", "B"]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}
RULES: list[Rule] = [
    Policy("age >= 18 and consent"),
    AnomalyModel(["age", "bmi"], 2.0, 18, 2),
    AnomalyModel(columns=["ward"], radius=0, beta=1, metric="manhattan", scaled=True),
    SameContexts(),
    SameContexts(["age"], ["ward"], ["lof"]),
    SameContexts(bins=[Bins("age", [0, 18, 120]), Bins("age", [0, 65, 120]), Bins("bmi", [10, 30.5])]),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.type)
def test_a_rule_survives_json_and_cannot_be_changed(rule: Rule) -> None:
    assert read_rule(json.loads(rule.to_json()), field="rules.x") == rule
    assert read_rule(rule, field="rules.x") is rule
    assert rule.resolve(TABLE, field="rules.x") == rule
    with pytest.raises(InputError, match="frozen"):
        rule.type = "policy"  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"rules\.x\.colour: is not a field"):
        read_rule({**rule.to_dict(), "colour": 1}, field="rules.x")


@untimed
@given(trees)
def test_a_resolved_policy_is_its_canonical_text_and_resolves_to_itself(tree: Predicate) -> None:
    resolved = Policy(f"( {tree} )").resolve(COLUMNS, field="rules.x")
    assert resolved == Policy(str(tree)) == resolved.resolve(COLUMNS, field="rules.x")
    assert resolved.predicate(COLUMNS) == tree


@untimed
@given(trees, records)
def test_a_record_is_not_sensitive_only_if_known_and_permitted(
    tree: Predicate, record: dict[str, Any]
) -> None:
    known = all(COLUMNS[name].contains(record[name]) for name in tree.columns())
    assert Policy(str(tree)).sensitive(record, COLUMNS) == (not known or tree.evaluate(record) is not True)


GOOD = {"age": 30, "consent": True, "ward": "A", "seen": datetime(2024, 1, 1), "bmi": 20.0}


@pytest.mark.parametrize(
    "policy",
    ["age >= 18", "consent", "ward == 'A'", "seen > '2021-01-01'", "age >= 18 or bmi < 30", "not age < 18"],
)
def test_a_record_that_the_policy_names_is_not_sensitive(policy: str) -> None:
    assert not Policy(policy).sensitive(GOOD, TABLE)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1, 121, "30", True, [30]])
@pytest.mark.parametrize(
    "policy", ["age >= 0", "age != 5", "not age < 0", "age is null", "age >= 0 or consent"]
)
def test_null_nan_and_out_of_domain_are_sensitive_whatever_the_policy_says(policy: str, value: Any) -> None:
    assert Policy(policy).sensitive({**GOOD, "age": value}, TABLE)


@pytest.mark.parametrize(
    ("column", "value", "policy"),
    [
        ("ward", "C", "ward != 'A'"),
        ("ward", None, "ward is null"),
        ("consent", 1, "consent"),
        ("consent", None, "not consent"),
        ("seen", datetime(2031, 1, 1), "seen > '2021-01-01'"),
        ("seen", "2024-01-01", "seen > '2021-01-01'"),
    ],
)
def test_out_of_domain_is_sensitive_for_every_kind_of_column(column: str, value: Any, policy: str) -> None:
    assert Policy(policy).sensitive({**GOOD, column: value}, TABLE)


def test_a_column_that_the_policy_does_not_name_plays_no_part() -> None:
    assert not Policy("consent").sensitive({**GOOD, "age": math.nan, "ward": "elsewhere"}, TABLE)


def test_a_missing_field_is_sensitive() -> None:
    assert Policy("age >= 0").sensitive({}, TABLE)


@pytest.mark.parametrize("text", ["", "weight > 5", "age >", "note == 'x'", "age > 1; DROP TABLE x"])
def test_a_policy_that_does_not_fit_is_refused_under_its_name(text: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        Policy(text).resolve(TABLE, field="rules.adults")
    assert refused.value.field == "rules.adults"


@pytest.mark.parametrize("text", [None, 5, ["age > 5"], True])
def test_a_policy_is_text(text: Any) -> None:
    with pytest.raises(InputError, match="text"):
        Policy(text)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"columns": []}, "columns"),
        ({"columns": ["age", "age"]}, "columns"),
        ({"columns": "age"}, "columns"),
        ({"columns": {"age", "bmi"}}, "columns"),
        ({"columns": [5]}, "columns.0"),
        ({"radius": -1}, "radius"),
        ({"radius": math.nan}, "radius"),
        ({"radius": math.inf}, "radius"),
        ({"radius": "2"}, "radius"),
        ({"beta": 0}, "beta"),
        ({"beta": 1.0}, "beta"),
        ({"beta": True}, "beta"),
        ({"k": 0}, "k"),
        ({"k": "1"}, "k"),
        ({"metric": "cosine"}, "metric"),
        ({"scaled": "yes"}, "scaled"),
    ],
)
def test_a_model_that_defines_no_anomaly_is_refused_by_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        AnomalyModel(**{"columns": ["age"], "radius": 1, "beta": 1, **fields})
    assert refused.value.field == field


@pytest.mark.parametrize("column", ["ward", "consent", "seen", "note"])
def test_a_distance_needs_numbers(column: str) -> None:
    with pytest.raises(InputError, match=f"{column} is .* a distance needs a numeric column") as refused:
        AnomalyModel(["age", column], 1, 5).resolve(TABLE, field="rules.rare")
    assert refused.value.field == "rules.rare.columns"


@pytest.mark.parametrize(
    ("column", "fits"), [("ward", True), ("consent", True), ("seen", False), ("note", False)]
)
def test_exact_matches_need_values_that_can_be_equal(column: str, fits: bool) -> None:
    model = AnomalyModel([column], 0, 5)
    if fits:
        assert model.resolve(TABLE, field="rules.rare") == model
    else:
        with pytest.raises(InputError):
            model.resolve(TABLE, field="rules.rare")


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (AnomalyModel(["weight"], 1, 5), "rules.x.columns"),
        (SameContexts(metrics=["weight"]), "rules.x.metrics"),
        (SameContexts(attributes=["weight"]), "rules.x.attributes"),
        (SameContexts(bins=[Bins("weight", [0, 1])]), "rules.x.bins"),
    ],
)
def test_an_undeclared_column_is_refused_with_the_declared_ones(rule: Rule, field: str) -> None:
    with pytest.raises(
        InputError, match=r"no declared column 'weight'.*Declared columns: age, bmi"
    ) as refused:
        rule.resolve(TABLE, field="rules.x")
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("limits", "permitted"),
    [
        ({}, True),
        ({"metrics": ["age"]}, True),
        ({"metrics": ["bmi"]}, False),
        ({"attributes": ["ward", "consent", "bmi"]}, True),
        ({"attributes": ["ward"]}, False),
        ({"detectors": ["lof", "grubbs"]}, True),
        ({"detectors": ["grubbs"]}, False),
        ({"metrics": ["age"], "attributes": ["ward", "consent"], "detectors": ["grubbs"]}, False),
    ],
)
def test_same_contexts_permit_what_lies_within_every_limit(limits: dict[str, Any], permitted: bool) -> None:
    rule = SameContexts(**limits)
    assert rule.permits(metric="age", attributes=["consent", "ward"], detector="lof") is permitted


def test_same_contexts_permit_the_columns_of_listed_cuts_besides_those_of_attributes() -> None:
    cut = Bins("age", [0, 18, 120])
    rule = SameContexts(attributes=["ward"], bins=[cut])
    assert rule.permits(metric="bmi", attributes=["ward", "age"], detector="lof")
    assert not SameContexts(["ward"]).permits(metric="bmi", attributes=["ward", "age"], detector="lof")
    assert "attributes ward, age cut at 0, 18, 120;" in rule.describe()
    assert "bins" not in SameContexts().to_dict()  # what accounts hold stays as it is
    with pytest.raises(InputError, match="bins") as refused:
        SameContexts(bins=[Bins("ward", [0, 1])]).resolve(TABLE, field="rules.x")
    assert refused.value.field == "rules.x.bins"


@pytest.mark.parametrize(
    "data", [None, "age > 5", {}, {"type": "everything"}, {"type": ["policy"]}, ["policy"]]
)
def test_what_is_no_rule_is_refused_with_the_kinds_there_are(data: Any) -> None:
    with pytest.raises(InputError, match="is not a rule") as refused:
        read_rule(data, field="rules.x")
    assert refused.value.field == "rules.x"
    assert all(kind in str(refused.value) for kind in KINDS)


def test_what_is_wrong_inside_a_rule_is_named_under_it() -> None:
    with pytest.raises(InputError) as refused:
        read_rule({"type": "anomaly_model", "columns": ["age"], "radius": 1}, field="rules.rare")
    assert refused.value.field == "rules.rare.beta"
    with pytest.raises(InputError) as refused:
        read_rule({"type": "policy", "text": "age > 1", 5: 5}, field="rules.x")
    assert refused.value.field == "rules.x.5"


def test_a_policy_is_parsed_once_for_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pa.table({"age": [8, 30], "consent": [True, True]})
    columns: dict[str, Domain] = {"age": Interval(0, 120), "consent": Flag()}
    declared = {"adults": Policy("18 <= age and consent"), "all": Policy("age >= 0")}
    dataset = Dataset(frame, name="x", columns=columns, rules=declared)
    texts: list[str] = []
    monkeypatch.setattr(rules, "parse", lambda text, *_, **__: texts.append(text))
    adults, everyone = (dataset.declaration.rules[name] for name in ("adults", "all"))
    assert isinstance(adults, Policy)
    assert isinstance(everyone, Policy)
    for declaration in (dataset.declaration, dataset.with_adjacency("replace")):
        assert adults.sensitive({"age": 8, "consent": True}, declaration.columns)
        assert who_is_sensitive(adults, declaration.columns) == "some"
        assert is_relaxation(everyone, adults, declaration.columns)
        assert Declaration.read(name="y", columns=columns, rules=declaration.rules).rules == declaration.rules
    assert dataset.judged(adults)[NON_SENSITIVE].sum().to_pyarrow().as_py() == 1
    assert texts == []


def test_a_policy_means_what_the_columns_at_hand_say() -> None:
    policy = Policy("ward == 'A'").resolve({"ward": Categories(["A", "B"])}, field="policy")
    assert not policy.sensitive({"ward": "A"}, {"ward": Categories(["A"]), "age": Interval(0, 1)})
    with pytest.raises(ExpressionError, match="cannot be compared"):
        policy.sensitive({"ward": "A"}, {"ward": Categories(["B"])})
    with pytest.raises(ExpressionError, match="no declared column 'ward'"):
        policy.predicate({"age": Interval(0, 1)})


def test_what_a_policy_was_parsed_into_is_no_part_of_its_value() -> None:
    columns: dict[str, Domain] = {"age": Interval(0, 120)}
    fresh, parsed = Policy("age >= 18"), Policy("age >= 18").resolve(columns, field="policy")
    assert (parsed, hash(parsed), parsed.to_json()) == (fresh, hash(fresh), fresh.to_json())
    assert SensitiveUnderPolicy("adults", parsed) == SensitiveUnderPolicy("adults", fresh)
    other = parsed.model_copy(update={"text": "age >= 65"})
    assert other.sensitive({"age": 40}, columns)
    assert not parsed.sensitive({"age": 40}, columns)
