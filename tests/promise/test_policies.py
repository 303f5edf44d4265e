# SPDX-License-Identifier: Apache-2.0
"""Policies: whom they call sensitive by their text alone, how they weaken, and what they have in common."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.rules import Policy
from anonymaly.declare.sensitivity import is_relaxation, who_is_sensitive
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.errors import InputError
from anonymaly.promise import (
    Everyone,
    Guarantee,
    SameValidContexts,
    SensitiveUnderPolicy,
    all_sensitive,
    compose,
    minimum_relaxation,
    relax,
)
from anonymaly.promise.contexts import ContextQuestion
from tests.questions.patients import HARMLESS, SENSITIVE, declare

COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 9, step=1),
    "ward": Categories(["A", "B"]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2020-01-02"),
    "note": Opaque(),
}
untimed = settings(deadline=None, max_examples=80)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("age >= 5", "some"),
        ("age >= 0", "nobody"),
        ("age > 9", "everyone"),
        ("age < 0 or age > 9", "everyone"),
        ("age <= 4 or age > 4", "nobody"),
        ("age <= 4 and age > 4", "everyone"),
        ("age < 5 or age > 5", "some"),
        ("age != 100", "nobody"),
        ("age in [0, 9]", "some"),
        ("age is null", "everyone"),
        ("age is not null", "nobody"),
        ("ward in ['A', 'B']", "nobody"),
        ("ward == 'A'", "some"),
        ("not ward == 'A' and not ward == 'B'", "everyone"),
        ("consent or not consent", "nobody"),
        ("consent and not consent", "everyone"),
        ("consent == true", "some"),
        ("seen >= '2020-01-01' and seen <= '2020-01-02'", "nobody"),
        ("seen > '2020-01-02'", "everyone"),
        ("seen > '2020-01-01 12:00'", "some"),
        ("note is not null", "nobody"),
        ("age >= 3 or consent", "some"),
        ("age >= 0 or consent", "nobody"),
    ],
)
def test_a_policy_for_everyone_or_no_one_is_told_by_its_text(text: str, who: str) -> None:
    assert who_is_sensitive(Policy(text), COLUMNS) == who


def test_neighbouring_numbers_are_told_apart() -> None:
    high = math.nextafter(0.1, 1)
    both = Policy(f"x == 0.1 or x == {high!r}")
    assert who_is_sensitive(both, {"x": Interval(0.1, 0.5)}) == "some"
    assert who_is_sensitive(both, {"x": Interval(0.1, high)}) == "nobody", "there is no number in between"


def test_where_there_is_too_much_to_compare_nothing_is_said() -> None:
    columns: dict[str, Domain] = {f"x{place}": Interval(0, 1) for place in range(9)}
    text = " and ".join(f"{name} >= 0 and {name} != 0.25" for name in columns)
    assert who_is_sensitive(Policy(text), columns) is None
    assert is_relaxation(Policy(text), Policy(text), columns) is None
    with pytest.raises(InputError, match="not known to be true"):
        relax(SensitiveUnderPolicy(None, Policy(text)), None, Policy(text), columns=columns)


conditions = st.one_of(
    st.builds(
        "age {} {}".format,
        st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
        st.sampled_from([-1, 0, 2.5, 4, 5, 9, 20]),
    ),
    st.sampled_from(["ward == 'A'", "ward != 'A'", "ward in ['A', 'B']", "consent", "ward is null"]),
)
texts = st.recursive(
    conditions,
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
    ),
    max_leaves=5,
)
policies = texts.map(Policy)
values: dict[str, st.SearchStrategy[Any]] = {
    "age": st.floats(0, 9) | st.sampled_from([0, 2.5, 4, 5, 9]),
    "ward": st.sampled_from(["A", "B"]),
    "consent": st.booleans(),
}
declared = st.fixed_dictionaries(values)
any_records = st.fixed_dictionaries(
    {
        "age": values["age"] | st.sampled_from([None, -1, 300, float("nan")]),
        "ward": values["ward"] | st.sampled_from([None, "Z"]),
        "consent": values["consent"] | st.none(),
    }
)


@untimed
@given(policies, st.lists(declared, min_size=1, max_size=20))
def test_a_verdict_is_never_contradicted_by_a_record(policy: Policy, records: list[dict[str, Any]]) -> None:
    verdicts = {policy.sensitive(record, COLUMNS) for record in records}
    who = who_is_sensitive(policy, COLUMNS)
    assert who == "some" or verdicts == {who == "everyone"}


@untimed
@given(policies, policies, st.lists(any_records, max_size=20))
def test_what_follows_under_a_relaxed_policy_is_sensitive_under_the_strict_one(
    relaxed: Policy, strict: Policy, records: list[dict[str, Any]]
) -> None:
    if is_relaxation(relaxed, strict, COLUMNS):
        for record in records:
            assert strict.sensitive(record, COLUMNS) or not relaxed.sensitive(record, COLUMNS)
    assert is_relaxation(strict, strict, COLUMNS)


@untimed
@given(policies, policies, any_records, st.sampled_from(["add_remove", "replace"]))
def test_relaxing_keeps_no_pair_that_was_not_there(
    one: Policy, other: Policy, record: dict[str, Any], adjacency: Any
) -> None:
    strict = SensitiveUnderPolicy("one", one, adjacency)
    for relation in (strict, all_sensitive(adjacency)):
        try:
            weaker = relax(relation, "other", other, columns=COLUMNS)
        except InputError:
            assert not is_relaxation(other, one, COLUMNS)
            continue
        added = {"age": 1, "ward": "B", "consent": True}
        second = [] if adjacency == "add_remove" else [added]
        if weaker.relates([record], second, columns=COLUMNS):
            assert relation.relates([record], second, columns=COLUMNS)


@untimed
@given(st.lists(policies, min_size=2, max_size=3), any_records)
def test_the_minimum_relaxation_calls_sensitive_who_is_so_under_all(
    several: list[Policy], record: dict[str, Any]
) -> None:
    relations = [SensitiveUnderPolicy(None, policy) for policy in several]
    together = minimum_relaxation(*relations)
    sensitive = all(policy.sensitive(record, COLUMNS) for policy in several)
    assert together.relates([record], [], columns=COLUMNS) == sensitive
    assert together.relates([], [record], columns=COLUMNS)
    promises = [Guarantee(relation, "0.5") for relation in relations]
    assert compose(*promises) == Guarantee(together, 0.5 * len(several))


def test_a_text_that_joins_two_policies_would_promise_too_much() -> None:
    adults, agreed, either = Policy("age >= 5"), Policy("consent"), Policy("age >= 5 or consent")
    record = {"age": None, "consent": True}
    assert not agreed.sensitive(record, COLUMNS)
    assert either.sensitive(record, COLUMNS)
    assert not is_relaxation(either, agreed, COLUMNS)
    assert not is_relaxation(either, adults, COLUMNS)


@untimed
@given(any_records, st.sampled_from(["add_remove", "replace"]))
def test_when_everyone_is_sensitive_the_promise_is_differential_privacy(
    record: dict[str, Any], adjacency: Any
) -> None:
    nobody_open = SensitiveUnderPolicy(None, Policy("age is null"), adjacency)
    other = {"age": 3, "ward": "A", "consent": False}
    for first, second in (([record], []), ([], [record]), ([record], [other]), ([other], [record])):
        both = [
            relation.relates(first, second, columns=COLUMNS)
            for relation in (nobody_open, all_sensitive(adjacency))
        ]
        assert both[0] == both[1]
    assert all_sensitive(adjacency) == Everyone(adjacency)


def test_a_promise_without_a_policy_cannot_be_relaxed() -> None:
    question = ContextQuestion(
        metric="age", attributes=["ward"], detector="lof", parameters={}, record="0" * 64
    )
    with pytest.raises(InputError, match="no policy to relax"):
        relax(SameValidContexts(question), None, Policy("consent"), columns=COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "age >= 18 and consent",
        "age != 5 or not consent",
        "ward in ['A', 'B']",
        "note is not null",
        "ward is null",
    ],
)
def test_the_engine_judges_as_the_definition_does(text: str) -> None:
    records = [*HARMLESS, *SENSITIVE]
    dataset = declare(records)
    policy = Policy(text)
    judged = dataset.judged(policy).to_pyarrow().column(NON_SENSITIVE).to_pylist()
    expected = [not policy.sensitive(record, dataset.declaration.columns) for record in records]
    assert judged == expected


def test_moments_are_judged_to_the_microsecond() -> None:
    columns: dict[str, Domain] = {"seen": Timestamps(datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1))}
    assert who_is_sensitive(Policy("seen == '2020-01-01'"), columns) == "some"
    both = Policy("seen in ['2020-01-01', '2020-01-01 00:00:00.000001']")
    assert who_is_sensitive(both, columns) == "nobody"
