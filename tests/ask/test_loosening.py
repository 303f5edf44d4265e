# SPDX-License-Identifier: Apache-2.0
"""What an amendment says of rules: whom it leaves unprotected from now on."""

from __future__ import annotations

from typing import Any

import pytest

import anonymaly as am
from anonymaly.ask.loosening import effects
from anonymaly.declare.declaration import Declaration

COLUMNS = {"age": am.Interval(0, 110), "bmi": am.Interval(10, 70), "consent": am.Flag()}


def declare(rules: Any, **columns: Any) -> Declaration:
    return Declaration.read(name="patients", columns={**COLUMNS, **columns}, rules=rules)


def said(before: Declaration, now: Declaration) -> list[str]:
    return list(effects(before.to_dict(), before.rules_to_dict(), now))


def one(old: Any, new: Any, **columns: Any) -> str:
    (text,) = said(declare({"rule": old}), declare({"rule": new}, **columns))
    return text


def test_rules_that_stay_are_not_mentioned() -> None:
    rules = {"adults": am.Policy("age >= 18"), "rare": am.AnomalyModel(["age"], radius=1, beta=10)}
    assert said(declare(rules), declare(rules, bmi=am.Interval(10, 60))) == []


def test_a_loosened_policy_names_whom_it_no_longer_protects() -> None:
    text = one(am.Policy("age >= 18 and consent"), am.Policy("age >= 18"))
    assert text == (
        "rule rule loosened: from now on answers that cite it leave unprotected: whoever `age >= 18` is true "
        "of, also those of whom `age >= 18 and consent` was not true or not known"
    )


def test_a_narrowed_policy_leaves_nobody_out() -> None:
    text = one(am.Policy("age >= 18"), am.Policy("age >= 21"))
    assert text == "rule rule narrowed: whoever it protected it protects still"


def test_a_policy_that_protects_others_than_before_is_not_called_narrower() -> None:
    assert one(am.Policy("age >= 18"), am.Policy("age < 18")).startswith("rule rule changed: from now on")


def test_a_policy_means_something_else_when_its_columns_do() -> None:
    policy = am.Policy("age >= 18")
    column, text = said(declare({"rule": policy}), declare({"rule": policy}, age=am.Interval(0, 130)))
    assert column.startswith("column age changed")
    assert text.startswith("rule rule changed with age: from now on answers that cite it leave unprotected")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"beta": 40}, "loosened"),  # more records are needed near by
        ({"beta": 5}, "narrowed"),
        ({"k": 3}, "narrowed"),
        ({"radius": 2}, "narrowed"),
        ({"radius": 0.5}, "loosened"),
        ({"radius": 2, "beta": 40}, "changed"),
        ({"metric": "manhattan"}, "changed"),
        ({"columns": ["age", "bmi"]}, "changed"),
    ],
)
def test_a_changed_model_says_whether_it_protects_all_whom_it_protected(
    change: dict[str, Any], word: str
) -> None:
    given = {"columns": ["age"], "radius": 1, "beta": 10, "k": 2}
    text = one(am.AnomalyModel(**given), am.AnomalyModel(**{**given, **change}))
    assert text.startswith(f"rule rule {word}")
    assert ("records with fewer than" in text) == (word != "narrowed")


def test_a_permission_for_contexts_is_looser_if_it_permits_more() -> None:
    few, many = am.SameContexts(metrics=["age"]), am.SameContexts(metrics=["age", "bmi"])
    assert one(many, few) == "rule rule narrowed: whoever it protected it protects still"
    text = one(few, many)
    assert text.startswith("rule rule loosened")
    assert (
        "(metrics age, bmi; any attributes, no cuts; any detector; 20 questions of at least ε = 0.01; "
        "no start)" in text
    )
    assert text.endswith("an asker under this rule can test guesses about any record; ε does not limit that")
    assert "(any metric; any attributes" in one(many, am.SameContexts())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"questions": 30}, "loosened"),
        ({"questions": 5}, "narrowed"),
        ({"least_epsilon": "0.001"}, "loosened"),
        ({"least_epsilon": 1}, "narrowed"),
        ({"start": True}, "loosened"),
        ({"questions": 30, "least_epsilon": 1}, "changed"),
        ({"detectors": {"lof": {"k": [20]}}}, "narrowed"),  # its default
        ({"detectors": {"lof": {"k": [10]}}}, "changed"),
        ({"detectors": {"lof": {"k": [10, 20]}}}, "changed"),
        ({"detectors": {"lof": {"k": [10, 20]}, "grubbs": {}, "mad": {}, "histogram": {}}}, "loosened"),
        ({"detectors": ["lof"]}, "narrowed"),
        ({"bins": [am.Bins("age", [0, 18, 120])]}, "loosened"),
    ],
    ids=str,
)
def test_a_permission_is_looser_if_its_parameters_epsilon_questions_start_or_cuts_are(
    change: dict[str, Any], word: str
) -> None:
    text = one(am.SameContexts(), am.SameContexts(**change))
    assert text.startswith(f"rule rule {word}")
    assert ("any record that an asker can guess" in text) == (word != "narrowed")


def test_fewer_values_of_a_parameter_are_narrower() -> None:
    many, few = (am.SameContexts(detectors={"grubbs": {"alpha": alphas}}) for alphas in ([0.01, 0.1], [0.1]))
    assert one(many, few) == "rule rule narrowed: whoever it protected it protects still"
    assert one(few, many).startswith("rule rule loosened")


def test_new_and_removed_rules_are_said_too() -> None:
    texts = said(declare({"adults": am.Policy("age >= 18")}), declare({"agreed": am.Policy("consent")}))
    assert texts[0] == "rule adults removed: no answer leaves anybody unprotected by it from now on"
    assert texts[1].startswith("rule agreed new: from now on answers that cite it leave unprotected: records")
    assert one(am.Policy("consent"), am.SameContexts()).startswith("rule rule changed")


def test_rules_of_any_kind_are_said_to_protect_nobody_from_whoever_asks() -> None:
    named = {"adults": am.Policy("age >= 18")}
    (loosened,) = said(declare(named), declare("any"))
    assert loosened == 'rules loosened to "any": from now on whoever asks chooses whom an answer protects'
    (narrowed,) = said(declare("any"), declare(named))
    assert narrowed.startswith("rules narrowed from any")
    assert said(declare("any"), declare("any", bmi=am.Interval(10, 80))) == []


WARDS = am.Categories(["A", "B"])


@pytest.mark.parametrize(
    ("old", "new", "is_said"),
    [
        (WARDS, am.Categories(["A", "B", "Z"]), True),
        (WARDS, am.Categories(["A"]), False),
        (WARDS, am.Categories(["A", "B"], read=am.Reading(same={"A": ["a1"]})), True),
        (WARDS, am.Opaque(), True),
        (am.Interval(0, 10), am.Interval(1, 9), False),
        (am.Interval(0, 10), am.Interval(0, 11), True),
        (am.Timestamps("2020-01-01", "2021-01-01"), am.Timestamps("2020-01-01", "2022-01-01"), True),
    ],
)
def test_a_column_that_holds_more_is_named_where_a_policy_may_publish_it(
    old: Any, new: Any, is_said: bool
) -> None:
    adults = {"adults": am.Policy("age >= 18")}
    texts = said(declare(adults, ward=old), declare(adults, ward=new))
    assert [
        text.startswith("column ward changed: from now on records may be published") for text in texts
    ] == ([True] if is_said else [])
    rare = {"rare": am.AnomalyModel(["age"], radius=1, beta=10)}
    assert said(declare(rare, ward=old), declare(rare, ward=new)) == []
