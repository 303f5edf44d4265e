# SPDX-License-Identifier: Apache-2.0
"""Intersection and composition as laws on values, for relations drawn at random."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.value import digest
from anonymaly.declare.domain import Bins, Interval
from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.errors import InputError
from anonymaly.promise import (
    Adjacency,
    ContextQuestion,
    Everyone,
    Guarantee,
    Intersection,
    Relation,
    SameValidContexts,
    SensitiveRecords,
    SensitiveUnderPolicy,
    ValuesWithin,
    compose,
    intersect,
    read_relation,
)
from tests.promise.naive import ROWS


def made(kind: Callable[..., Any], *fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(*fields).map(lambda drawn: kind(*drawn))


RULES = st.sampled_from([None, "rare", "adults"])
MODELS = made(
    AnomalyModel,
    st.sampled_from([("v",), ("v", "w")]),
    st.sampled_from([0, 1, 0.5]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["euclidean", "manhattan"]),
)
POLICIES = st.sampled_from([Policy("v >= 2"), Policy("v < 2"), Policy("v in [1, 2]")])
QUESTIONS = made(
    ContextQuestion,
    st.just("v"),
    st.permutations(["id", "ward", Bins("age", [0, 18, 65])]),
    st.sampled_from(["lof", "grubbs"]),
    st.dictionaries(
        st.sampled_from("abc"), st.one_of(st.booleans(), st.integers(), st.floats(0, 1), st.text())
    ),
    st.just(digest({"v": 1})),
)
RANGES = st.dictionaries(
    st.sampled_from("vwx"), st.sampled_from([Interval(0, 1), Interval(0, 10)]), min_size=1
)
KINDS: list[tuple[Adjacency, int | None]] = [(a, m) for a in ("add_remove", "replace") for m in (None, 1, 2)]


def atoms(adjacency: Adjacency, rows: int | None) -> st.SearchStrategy[Relation]:
    form = (st.just(adjacency), st.just(rows))
    kinds: list[st.SearchStrategy[Relation]] = [
        made(Everyone, *form),
        made(SensitiveRecords, RULES, MODELS, *form),
        made(SensitiveUnderPolicy, RULES, POLICIES, *form),
        made(SameValidContexts, QUESTIONS, *form),
    ]
    if adjacency == "replace":
        kinds.append(made(ValuesWithin, RANGES, *form))
    return st.one_of(kinds)


def relations(adjacency: Adjacency, rows: int | None) -> st.SearchStrategy[Relation]:
    some = st.lists(atoms(adjacency, rows), min_size=1, max_size=4)
    return some.map(lambda parts: intersect(*parts))


def of_one_form(number: int) -> st.SearchStrategy[tuple[Relation, ...]]:
    return st.sampled_from(KINDS).flatmap(lambda form: st.tuples(*[relations(*form)] * number))


LAW = settings(max_examples=60, deadline=None)
NANOS = st.integers(1, 10**12)


def promise(relation: Relation, nano: int) -> Guarantee:
    return Guarantee(relation, f"{nano // 10**9}.{nano % 10**9:09d}")


@LAW
@given(of_one_form(3))
def test_intersection_is_commutative_associative_and_idempotent(drawn: tuple[Relation, ...]) -> None:
    first, second, third = drawn
    assert intersect(first, second) == intersect(second, first)
    assert intersect(intersect(first, second), third) == intersect(first, intersect(second, third))
    assert intersect(first, second, third) == intersect(intersect(first, second), third)
    assert intersect(first, first) == intersect(first) == first


@LAW
@given(of_one_form(1))
def test_everyone_is_the_identity_of_intersection(drawn: tuple[Relation]) -> None:
    (relation,) = drawn
    everyone = Everyone(relation.adjacency, relation.rows)
    assert intersect(relation, everyone) == relation
    assert everyone not in intersect(relation, everyone).atoms() or relation == everyone


@LAW
@given(of_one_form(2))
def test_an_intersection_is_absorbed_by_nothing_wider(drawn: tuple[Relation, ...]) -> None:
    first, second = drawn
    both = intersect(first, second)
    assert intersect(both, first) == both
    assert list(both.atoms()) == sorted(both.atoms(), key=lambda part: part.to_json())
    assert not any(isinstance(part, Intersection) for part in both.atoms())
    assert (len(both.atoms()) > 1) == isinstance(both, Intersection)


@LAW
@given(of_one_form(3), st.tuples(NANOS, NANOS, NANOS))
def test_composition_is_commutative_and_associative_and_adds_exactly(
    drawn: tuple[Relation, ...], nanos: tuple[int, ...]
) -> None:
    first, second, third = (promise(relation, nano) for relation, nano in zip(drawn, nanos, strict=True))
    assert compose(first, second) == compose(second, first)
    assert compose(compose(first, second), third) == compose(first, compose(second, third))
    assert compose(first, second, third).nano == sum(nanos)
    assert compose(first) == first


@LAW
@given(of_one_form(2), NANOS)
def test_every_relation_and_guarantee_survives_json(drawn: tuple[Relation, ...], nano: int) -> None:
    for relation in (*drawn, intersect(*drawn)):
        again = read_relation(json.loads(relation.to_json()))
        assert again == relation
        assert hash(again) == hash(relation)
        assert again.to_json() == relation.to_json()
        total = compose(*[promise(relation, nano)] * 3)
        assert Guarantee.read(json.loads(total.to_json())) == total
        assert json.loads(total.to_json())["epsilon"] == total.epsilon
        assert (relation.protects(), relation.does_not_protect()) == (
            again.protects(),
            again.does_not_protect(),
        )


@LAW
@given(st.sampled_from(KINDS).flatmap(lambda form: st.tuples(st.just(form), MODELS, st.integers(1, 4))))
def test_models_that_differ_in_k_alone_meet_at_the_smaller_one(
    drawn: tuple[tuple[Adjacency, int], AnomalyModel, int],
) -> None:
    form, model, k = drawn
    other = AnomalyModel.read({**model.to_dict(), "k": k})
    smaller = model if model.k <= k else other
    together = intersect(SensitiveRecords("rare", model, *form), SensitiveRecords("rare", other, *form))
    assert together == SensitiveRecords("rare", smaller, *form)


SMALL = st.one_of(
    st.just(Everyone()),
    made(SensitiveRecords, st.none(), made(AnomalyModel, st.just(("v",)), st.just(1), st.integers(1, 3))),
    made(SensitiveUnderPolicy, st.none(), POLICIES),
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=3))
def test_the_normal_form_means_the_same_pairs_as_its_parts(parts: list[Relation]) -> None:
    expected = frozenset.intersection(*(ROWS.pairs(part) for part in parts))
    assert ROWS.pairs(intersect(*parts)) == expected


@LAW
@given(of_one_form(2))
def test_conversion_and_intersection_can_be_done_in_either_order(drawn: tuple[Relation, ...]) -> None:
    first, second = (promise(relation, 10**9) for relation in drawn)
    try:
        together = compose(first, second).to_adjacency("replace")
    except InputError:
        assert any(isinstance(part, SameValidContexts) for relation in drawn for part in relation.atoms())
        return
    assert together == compose(first.to_adjacency("replace"), second.to_adjacency("replace"))


@LAW
@given(of_one_form(2))
def test_normalising_twice_changes_nothing(drawn: tuple[Relation, ...]) -> None:
    both = intersect(*drawn)
    if isinstance(both, Intersection):
        assert Intersection(both.parts) == both == Intersection([both, *reversed(both.parts)])


@pytest.mark.parametrize(
    ("first", "second", "advice"),
    [
        (Everyone(), Everyone("replace"), "to_adjacency"),
        (Everyone(), Everyone(rows=2), "to_rows"),
        (SensitiveUnderPolicy(None, Policy("v < 2")), ValuesWithin({"v": Interval(0, 1)}), "to_adjacency"),
    ],
)
def test_mixed_adjacency_or_rows_is_refused_with_the_advice_to_convert(
    first: Relation, second: Relation, advice: str
) -> None:
    with pytest.raises(InputError, match=rf"Convert the guarantees first.*{advice}"):
        compose(Guarantee(first, 1), Guarantee(second, 1))
    with pytest.raises(InputError, match="Convert"):
        Intersection([first, second])


def test_a_relation_is_inside_everyone_of_its_own_form_only() -> None:
    relation = SensitiveUnderPolicy(None, Policy("v < 2"), "replace", 2)
    assert relation.is_inside(Everyone("replace", 2))
    for other in (Everyone(), Everyone("replace"), Everyone(rows=2), relation):
        assert not relation.is_inside(other)


def test_nothing_is_neither_intersected_nor_composed() -> None:
    with pytest.raises(InputError, match="at least one"):
        intersect()
    with pytest.raises(InputError, match="at least one"):
        compose()
    with pytest.raises(InputError, match="intersect"):
        Intersection([Everyone(), Everyone()])
