# SPDX-License-Identifier: Apache-2.0
"""Guarantees as values: their numbers, their words, and what an owner's rules permit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from anonymaly.core.value import digest
from anonymaly.declare.domain import Bins, Domain, Flag, Interval
from anonymaly.declare.rules import AnomalyModel, Policy, Rule, SameContexts
from anonymaly.errors import InputError
from anonymaly.promise import (
    ContextQuestion,
    Everyone,
    Guarantee,
    Relation,
    SameValidContexts,
    SensitiveRecords,
    SensitiveUnderPolicy,
    ValuesWithin,
    compose,
    intersect,
    read_relation,
)
from anonymaly.promise.policies import protects_nobody

MODEL = AnomalyModel(["age", "bmi"], 2.0, beta=18, k=2)
POLICY = Policy("age >= 18 and consent")
QUESTION = ContextQuestion("salary", ["job", Bins("age", [0, 18])], "lof", {"k": 20}, digest({"job": "CEO"}))
RARE = SensitiveRecords("rare", MODEL)
ADULTS = SensitiveUnderPolicy("adults", POLICY)
CONTEXTS = SameValidContexts(QUESTION)
RULES: dict[str, Rule] = {"rare": MODEL, "adults": POLICY}


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.10"), " 0.100 "])
def test_epsilon_is_kept_exactly_however_it_is_written(value: Any) -> None:
    promise = Guarantee(Everyone(), value)
    assert (promise.nano, promise.epsilon) == (100_000_000, "0.1")
    assert promise == Guarantee(Everyone(), 0.1)
    assert promise.to_dict()["epsilon"] == "0.1"


def test_ten_tenths_are_one() -> None:
    assert compose(*[Guarantee(Everyone(), 0.1)] * 10) == Guarantee(Everyone(), 1)


@pytest.mark.parametrize("value", [0, -1, "a", True, None, float("nan"), float("inf"), "0.1234567891", 1e-10])
def test_an_epsilon_that_is_no_exact_positive_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="epsilon"):
        Guarantee(Everyone(), value)


def test_a_total_may_pass_the_largest_epsilon_of_a_single_question() -> None:
    total = compose(*[Guarantee(Everyone(), "1000")] * 10**3, Guarantee(Everyone(), "0.000000001"))
    assert total.epsilon == "1000000.000000001"
    assert Guarantee.read(total.to_dict()) == total
    assert "10^434295" in total.describe()
    assert Guarantee(Everyone(), 1500.5).nano == 1_500_500_000_000
    with pytest.raises(InputError, match="nine decimals"):
        Guarantee(Everyone(), "1500.0000000001")


def test_a_guarantee_and_its_relation_are_frozen() -> None:
    promise = Guarantee(Everyone(), 1)
    with pytest.raises(InputError, match="is frozen"):
        promise.epsilon = "2"
    with pytest.raises(InputError, match="is frozen"):
        promise.relation.rows = 2
    assert {promise: 1}[Guarantee(Everyone(), 1.0)] == 1


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [
        ("0.000000001", "1.0000000011"),
        ("0.01", "1.011"),
        ("0.1", "1.11"),
        ("1", "2.72"),
        ("5", "149"),
        ("20", "10^9"),
    ],
)
def test_the_factor_is_told_rounded_up(epsilon: str, factor: str) -> None:
    assert f"a factor of at most {factor} " in Guarantee(Everyone(), epsilon).describe()


def test_the_words_name_the_rule_its_text_and_who_is_left_out() -> None:
    words = Guarantee(ADULTS, 0.1).describe()
    assert "rule 'adults'" in words
    assert "`age >= 18 and consent` is not true, or a column that it names holds no declared value" in words
    assert "Not protected: records that are not sensitive" in words
    words = Guarantee(RARE, 0.1).describe()
    assert "at least 17 records within euclidean distance 2 in age, bmi" in words
    assert "rule 'rare': beta=18, k=2" in words
    assert "fewer than 17 records" in words
    words = Guarantee(CONTEXTS, 0.1).describe()
    assert "not differential privacy" in words
    assert "the record asked about" in words
    words = Guarantee(ValuesWithin({"celsius": Interval(0, 30)}), 0.1).describe()
    assert "celsius 0 to 30" in words


def test_the_words_of_a_one_sided_replacement_promise_one_direction_only() -> None:
    words = Guarantee(ADULTS, 0.1).to_adjacency("replace").describe()
    assert "falls by a factor of at most 1.23 when one protected record is replaced by any other" in words
    assert "changes by a factor" not in words


def test_the_words_of_persons_say_how_many_rows() -> None:
    words = Guarantee(Everyone(), 0.1).to_rows(3).describe()
    assert "every person, however many rows they have: whether they are in the data" in words
    assert "protected one row at a time" in Guarantee(Everyone(), 0.1).describe()
    words = Guarantee(SensitiveRecords("rare", MODEL, rows=2), 1).describe()
    assert "every person with up to 2 rows, each with at least 17 rows within" in words
    assert "persons with more than 2 rows, or with any row that has fewer" in words
    assert words.count("counting only rows of persons with at most 2 rows") == 2


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_nobody_is_called_unprotected_for_having_many_rows_where_they_are_protected(
    adjacency: Any, rows: int
) -> None:
    for relation in (
        Everyone(adjacency, rows),
        SensitiveUnderPolicy("adults", POLICY, adjacency, rows),
        SameValidContexts(QUESTION, adjacency, rows),
    ):
        assert "however many rows they have" in relation.protects()
        assert "rows" not in relation.does_not_protect().replace("with rows without one", "").replace(
            "for all of their rows", ""
        )


def test_that_a_record_is_absent_is_hidden_up_to_the_factor_and_not_for_certain() -> None:
    words = ADULTS.does_not_protect()
    assert "that one is absent only up to the factor e^ε" in words
    assert "never" not in words


def test_absence_is_called_hidden_only_if_no_other_answer_may_show_it() -> None:
    """One more adult is a pair of the policy's relation, and of nothing that counts who is near."""
    hidden, shown = (
        "that one is absent only up to",
        "and, through the other questions, that one of them is absent",
    )
    alone, added = [{"age": 30, "bmi": 20, "consent": True}], {"age": 90, "bmi": 40, "consent": True}
    columns: dict[str, Domain] = {"age": Interval(0, 120), "bmi": Interval(0, 99), "consent": Flag()}
    for others in (
        [RARE],
        [CONTEXTS],
        [RARE, CONTEXTS],
        [RARE, SensitiveUnderPolicy("all", Policy("bmi > 9"))],
    ):
        together = intersect(ADULTS, *others)
        related = {
            relation: relation.relates(
                alone, [*alone, added], columns=columns, valid_contexts=lambda question, data: [len(data)]
            )
            for relation in (ADULTS, together)
        }
        assert related == {ADULTS: True, together: False}
        for words in (together.does_not_protect(), Guarantee(together, 1.5).describe()):
            assert shown in words
            assert hidden not in words
    for other in (Everyone(), SensitiveUnderPolicy("fit", Policy("bmi < 25"))):
        together = intersect(ADULTS, other)
        assert together.relates(alone, [*alone, added], columns=columns)
        assert hidden in together.does_not_protect()
        assert shown not in together.does_not_protect()


def test_a_policy_that_names_an_unknown_column_is_not_called_true() -> None:
    """Its text is true of an adult whose consent is not known, who is sensitive all the same."""
    either = SensitiveUnderPolicy("either", Policy("age >= 18 or consent"))
    columns: dict[str, Domain] = {"age": Interval(0, 120), "consent": Flag()}
    assert either.relates([{"age": 30, "consent": None}], [], columns=columns)
    assert "is not true, or a column that it names holds no declared value" in either.protects()
    assert "is true, and all columns that it names hold declared values" in either.does_not_protect()


def replaced(*, rows: int | None = None) -> list[Relation]:
    return [
        Everyone("replace", rows),
        SensitiveRecords("rare", MODEL, "replace", rows),
        SensitiveUnderPolicy("adults", POLICY, "replace", rows),
        SameValidContexts(QUESTION, "replace", rows),
    ]


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_every_promise_about_rows_says_what_it_is_to_people_with_several(adjacency: Any) -> None:
    def relations(rows: int | None) -> list[Relation]:
        return [
            SensitiveRecords("rare", MODEL, adjacency, rows),
            SensitiveUnderPolicy("adults", POLICY, adjacency, rows),
            SameValidContexts(QUESTION, adjacency, rows),
        ]

    for relation in (*relations(None), intersect(*relations(None), Everyone(adjacency))):
        words = relation.does_not_protect()
        assert words.count("; people with more than one row are protected one row at a time") == 1
    assert Everyone(adjacency).does_not_protect().count("protected one row at a time") == 1
    for relation in (*relations(2), intersect(*relations(2))):
        assert "one row at a time" not in relation.does_not_protect()


@pytest.mark.parametrize(("rows", "noun"), [(None, "record"), (2, "person")])
def test_under_replace_every_promise_says_what_is_protected_and_that_the_number_is_not(
    rows: int | None, noun: str
) -> None:
    size = f"; the number of {noun}s is not hidden"
    for relation in (*replaced(rows=rows), intersect(*replaced(rows=rows))):
        assert relation.does_not_protect().count(size) == 1
        assert relation.does_not_protect().endswith(size)
        assert "what the data say of" in relation.protects()
    for relation in (RARE, ADULTS, CONTEXTS):
        assert "not hidden" not in relation.does_not_protect()


def test_the_words_of_equal_contexts_say_whose_they_are_and_all_that_they_depend_on() -> None:
    whose = f"the valid contexts of the record asked about (digest {QUESTION.record[:8]}…)"
    asked = "for the lof detector with k=20 on salary in groups by age (edges 0, 18), job"
    assert CONTEXTS.protects() == f"every record whose presence leaves {whose} as they are, {asked}"
    assert SameValidContexts(QUESTION, "replace").protects() == (
        "what the data say of every record, up to any replacement by another that leaves "
        f"{whose} as they are, {asked}"
    )
    assert f"is added or removed and {whose} stay the same" in Guarantee(CONTEXTS, 1).describe()
    plain = ContextQuestion("salary", ["job"], "grubbs", {}, QUESTION.record)
    assert "for the grubbs detector on salary in groups by job" in SameValidContexts(plain).protects()


def test_every_promise_says_that_it_rests_on_the_key_stream() -> None:
    for relation in (Everyone(), ADULTS, RARE, CONTEXTS, intersect(RARE, ADULTS)):
        words = Guarantee(relation, 0.1).describe().splitlines()
        assert [line for line in words if "ChaCha20" in line] == [words[-1]]
        assert words[-1].startswith("Rests on: nobody being able to tell ChaCha20's key stream")


def test_policies_that_together_leave_nobody_sensitive_protect_nobody() -> None:
    minors = SensitiveUnderPolicy("minors", Policy("age < 18"))
    adults = SensitiveUnderPolicy("adults", Policy("age >= 18"))
    both = Guarantee(intersect(adults, minors), 10)
    columns = {"age": Interval(0, 120)}
    assert "Protected: nobody with a declared age: no such record is sensitive" in both.describe(columns)
    assert "Protected: whoever all of these protect" in both.describe()
    seniors = SensitiveUnderPolicy("seniors", Policy("age >= 65"))
    assert not protects_nobody(intersect(adults, seniors), columns)
    # A person with a row of each kind is sensitive under both, by one row under each.
    persons = intersect(*(SensitiveUnderPolicy(item.rule, item.policy, rows=2) for item in (adults, minors)))
    assert not protects_nobody(persons, columns)
    child, adult = {"id": 1, "age": 8}, {"id": 1, "age": 30}
    assert persons.relates([child, adult], [], columns=columns, person="id")
    assert protects_nobody(SensitiveUnderPolicy(None, Policy("age >= 0"), rows=2), columns)


def test_a_composition_over_several_relations_says_where_its_bound_ends() -> None:
    words = compose(Guarantee(RARE, 0.1), Guarantee(ADULTS, 0.2), Guarantee(CONTEXTS, 0.3)).describe()
    assert "ε = 0.6" in words
    assert "there is no bound, except the number of steps × ε" in words
    assert "per transcript" in words
    assert "per transcript" not in Guarantee(RARE, 0.1).describe()


def test_an_undeclared_rule_is_called_that() -> None:
    assert "an undeclared model" in SensitiveRecords(None, MODEL).protects()
    assert "an undeclared policy" in SensitiveUnderPolicy(None, POLICY).protects()
    assert "nobody is left out" in SensitiveRecords(None, AnomalyModel(["v"], 1, 2, 2)).does_not_protect()


def test_differential_privacy_and_a_sensors_ranges_need_no_rule() -> None:
    assert Everyone().permitted({})
    assert ValuesWithin({"v": Interval(0, 1)}).permitted({})


def test_a_relaxed_relation_is_permitted_by_the_rule_of_its_name_with_exactly_its_value() -> None:
    assert RARE.permitted(RULES)
    assert ADULTS.permitted(RULES)
    assert not RARE.permitted({})
    assert not SensitiveRecords(None, MODEL).permitted(RULES)
    assert not SensitiveRecords("adults", MODEL).permitted(RULES)
    assert not SensitiveRecords("rare", AnomalyModel(["age", "bmi"], 2, beta=1000, k=2)).permitted(RULES)
    assert not SensitiveRecords("rare", AnomalyModel(["age", "bmi"], 2, beta=18, k=1)).permitted(RULES)
    assert not SensitiveUnderPolicy("adults", Policy("age >= 0")).permitted(RULES)
    assert not SensitiveUnderPolicy("rare", POLICY).permitted(RULES)


def test_persons_are_permitted_by_the_declared_k_that_the_mechanism_exceeds() -> None:
    """Two rows per person: the mechanism runs at k+1, the promise to persons is at the declared k."""
    run = SensitiveRecords("rare", AnomalyModel(["age", "bmi"], 2, beta=18, k=3))
    assert not run.permitted(RULES)
    assert Guarantee(run, 0.1).to_rows(2).permitted(RULES)


def test_equal_contexts_are_permitted_by_any_rule_that_covers_the_question() -> None:
    assert CONTEXTS.permitted({"any": SameContexts()})
    wide = SameContexts(metrics=["salary"], attributes=["job", "age", "city"], detectors=["lof"])
    assert CONTEXTS.permitted({"other": SameContexts(metrics=["bmi"]), "wide": wide})
    for narrow in (
        SameContexts(metrics=["bmi"]),
        SameContexts(attributes=["job"]),
        SameContexts(detectors=["grubbs"]),
    ):
        assert not CONTEXTS.permitted({"narrow": narrow, **RULES})


def test_an_intersection_is_permitted_when_all_of_it_is() -> None:
    both = Guarantee(intersect(RARE, ADULTS), 1)
    assert both.permitted(RULES)
    assert not both.permitted({"rare": MODEL})
    assert not both.permitted({"adults": POLICY})


def test_converting_to_the_same_form_changes_nothing() -> None:
    promise = Guarantee(intersect(RARE, ADULTS), 1)
    assert promise.to_adjacency("add_remove") == promise
    persons = Guarantee(Everyone(rows=2), 1)
    assert persons.to_rows(2) == persons
    replaced = Guarantee(ValuesWithin({"v": Interval(0, 1)}), 1)
    assert replaced.to_adjacency("replace") == replaced


def test_a_promise_about_persons_does_not_become_one_about_rows_or_other_persons() -> None:
    for rows in (1, 2, 4):
        with pytest.raises(InputError, match="single rows"):
            Guarantee(Everyone(rows=3), 1).to_rows(rows)


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, "2"])
def test_a_number_of_rows_is_a_whole_number_from_one_on(rows: Any) -> None:
    with pytest.raises(InputError, match="rows"):
        Guarantee(Everyone(), 1).to_rows(rows)
    with pytest.raises(InputError, match="rows"):
        Everyone(rows=rows)


def test_an_unknown_adjacency_is_refused() -> None:
    with pytest.raises(InputError, match="adjacency"):
        Guarantee(Everyone(), 1).to_adjacency("swap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="adjacency"):
        ValuesWithin({"v": Interval(0, 1)}, "add_remove")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        {"type": "nobody"},
        {"type": ["everyone"]},
        {},
        "everyone",
        {"type": "everyone", "extra": 1},
        {"type": "intersection", "parts": []},
        {"type": "intersection", "parts": "ab"},
        {"type": "sensitive_records", "rule": "", "model": MODEL.to_dict()},
        {"type": "values_within", "ranges": {}},
        {"type": "values_within", "ranges": [["b", {"low": 0, "high": 1}], ["a", {"low": 0, "high": 1}]]},
        {"type": "same_valid_contexts", "question": {**QUESTION.to_dict(), "record": "the record itself"}},
        {"type": "same_valid_contexts", "question": {**QUESTION.to_dict(), "attributes": ["a", "a"]}},
    ],
)
def test_data_that_are_no_relation_are_refused(data: Any) -> None:
    with pytest.raises(InputError):
        read_relation(data)


def test_questions_that_differ_in_anything_that_moves_contexts_are_different() -> None:
    other_edges = ContextQuestion("salary", ["job", Bins("age", [0, 65])], "lof", {"k": 20}, QUESTION.record)
    other_k = ContextQuestion("salary", ["job", Bins("age", [0, 18])], "lof", {"k": 10}, QUESTION.record)
    same = ContextQuestion("salary", [Bins("age", [0, 18]), "job"], "lof", {"k": 20.0}, QUESTION.record)
    assert len({QUESTION, other_edges, other_k, same}) == 3
    assert same.to_json() == QUESTION.to_json()
