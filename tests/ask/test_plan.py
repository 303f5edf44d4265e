# SPDX-License-Identifier: Apache-2.0
"""A plan is the inverse of a preview: the least ε, from public facts alone."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.binding import Expectation, Measure
from anonymaly.ask.odds import BudgetInWords, Odds
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.errors import InputError, Refused, RuleNotDeclared
from anonymaly.noise import laws

COLUMNS = {
    "age": am.Interval(0, 120),
    "bmi": am.Interval(10, 70),
    "ward": am.Categories(["A", "B"]),
}
RULES = {
    "rare": am.AnomalyModel(["age", "bmi"], radius=2, beta=40, k=1),
    "adults": am.Policy("age >= 18"),
    "groups": am.SameContexts(),
}


def open_curator(folder: Path, **options: Any) -> am.Curator:
    frame = pandas.DataFrame({"age": [30, 40], "bmi": [20, 21], "ward": ["A", "B"], "id": ["x", "y"]})
    declared = {"columns": COLUMNS, "rules": RULES, **options.pop("declared", {})}
    dataset = am.Dataset(frame, name="patients", **declared)
    return am.Curator(dataset, budget=2, ledger=folder / "patients.ledger", **options)


def planned_error(curator: am.Curator, query: am.Query, nano: int) -> float:
    preview = curator.preview(query.model_copy(update={"epsilon": Decimal(to_text(nano))}))
    assert preview.expectation.measure is not None
    return preview.expectation.measure.number


QUESTIONS = [
    (am.Count(epsilon=1), 20),
    (am.Count(where=["age < 50", "bmi < 30", "ward == 'A'"], epsilon=1), 7),
    (am.Identify(record={"age": 97, "bmi": 50}, model="rare", epsilon=1), 0.01),
    (
        am.Identify(
            record={"age": 97, "bmi": 50}, columns=["age", "bmi"], radius=2, beta=40,
            guarantee="differential", epsilon=1,
        ),
        0.01,
    ),
    (am.ShareSample(policy="adults", columns=["age"], epsilon=1), 0.25),
    (am.ShareHistogram(by=["ward"], policy="adults", epsilon=1), 3),
    (am.ShareHistogram(by=["ward"], method="geometric", epsilon=1), 3),
    (am.ShareHistogram(by=["ward"], method="dawa", epsilon=1), 3),
    (am.ShareHistogram(by=["ward"], method="sample", policy="adults", epsilon=1), 0.5),
    (am.ShareHistogram(by=["ward"], method="one_sided_l1", policy="adults", epsilon=1), 4),
    (am.Score(columns=["age", "bmi"], bins=10, pair_bins=0, epsilon=1), 50),
    (am.Score(columns=["age", "bmi"], method="grid", cells=4, epsilon=1), 50),
    (
        am.Explain(record={"age": 97, "ward": "A"}, metric="age", attributes=["ward"], epsilon=1),
        25,
    ),
    (
        am.Explain(
            record={"age": 97, "ward": "A"}, metric="age", attributes=["ward"], rule="groups", epsilon=1
        ),
        25,
    ),
]  # fmt: skip


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(("query", "wanted"), QUESTIONS, ids=lambda item: str(item)[:60])
def test_the_planned_epsilon_gives_the_error_and_one_billionth_less_does_not(
    query: am.Query, wanted: float, adjacency: Any, tmp_path: Path
) -> None:
    curator = open_curator(tmp_path, adjacency=adjacency)
    plan = curator.plan(query, for_error=wanted)
    nano = to_nano(plan.epsilon)
    assert planned_error(curator, query, nano) == plan.measure.number <= wanted
    assert planned_error(curator, query, nano - 1) > wanted
    assert plan.questions == to_nano("2") // nano
    errors = [line.error for line in plan.lines if line.error is not None]
    assert errors == sorted(errors, reverse=True)
    assert curator.spent == 0
    assert curator.statement().questions == 0


def test_the_epsilon_of_the_question_plays_no_part_where_one_is_looked_for(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    found = {
        curator.plan(am.Count(epsilon=epsilon), for_error=20).epsilon for epsilon in ("1e-9", "0.3", "1000")
    }
    assert len(found) == 1
    # The closed form of the noise's law, by itself: P(|X| > 20) = 2e^(-21r)/(1+e^-r) is just below 5 %.
    (epsilon,) = found
    exceeds = [
        2 * math.exp(-21 * rate) / (1 + math.exp(-rate)) for rate in (float(epsilon), float(epsilon) - 1e-8)
    ]
    assert exceeds[0] <= 0.05 < exceeds[1]


def test_without_an_error_the_plan_is_about_the_epsilon_of_the_question(tmp_path: Path) -> None:
    plan = open_curator(tmp_path).plan(am.Count(epsilon="0.1"))
    assert (plan.epsilon, plan.questions, plan.wanted) == (Decimal("0.1"), 20, None)
    assert plan.measure.number == laws.two_sided_geometric_half_width(Fraction(1, 10), Fraction(95, 100))


def test_a_plan_for_identify_needs_no_record_and_invents_none_for_the_question(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    without = curator.plan(am.Identify(model="rare", epsilon=1), for_error=0.01)
    about = curator.plan(am.Identify(model="rare", record={"age": 97, "bmi": 50}, epsilon=1), for_error=0.01)
    assert without.epsilon == about.epsilon
    assert without.query.record is None  # type: ignore[attr-defined]


def test_identify_is_planned_over_beta_k_and_epsilon_at_once(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    plan = curator.plan(am.Identify(model="rare", epsilon=1), for_error=0.01)
    assert plan.choices is not None
    table = {(line[0], line[1]): line[2:] for line in plan.choices.lines}
    place = plan.choices.head.index(f"ε {plan.epsilon}") - 2
    assert table[40, 1][place] == plan.measure.number
    # What the paper's formula gives for one record: e^(-ε(β-k)) / (1+e^ε).
    epsilon = float(plan.epsilon)
    for (beta, k), errors in table.items():
        expected = math.exp(-epsilon * (beta - k)) / (1 + math.exp(epsilon))
        assert errors[place] == pytest.approx(expected)
    assert any("beta from" in note and f"40 at ε {plan.epsilon}" in note for note in plan.choices.notes)


def test_a_vast_beta_is_previewed_and_planned(tmp_path: Path) -> None:
    rules = {"rare": am.AnomalyModel(["age"], radius=2, beta=2**53)}
    curator = open_curator(tmp_path, declared={"rules": rules})
    query = am.Identify(model="rare", record={"age": 30}, epsilon=1)
    measure = curator.preview(query).expectation.measure
    assert measure is not None
    assert measure.number == 0
    assert curator.plan(query, for_error=0.01).epsilon < 1


def test_persons_with_several_rows_need_more(tmp_path: Path) -> None:
    alone = open_curator(tmp_path).plan(am.Count(epsilon=1), for_error=20)
    (tmp_path / "several").mkdir()
    several = open_curator(tmp_path / "several", declared={"person": "id", "max_rows": 3})
    assert several.plan(am.Count(epsilon=1), for_error=20).epsilon == pytest.approx(
        3 * alone.epsilon, rel=Decimal("1e-8")
    )


def test_where_there_is_no_number_the_refusal_says_what_can_be_had(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    score = am.Score(columns=["age", "bmi"], epsilon=1)
    with pytest.raises(Refused, match="bins and pair_bins given it is a number"):
        curator.plan(score, for_error=20)
    searched = am.Explain(
        record={"age": 97, "ward": "A"},
        metric="age",
        attributes=["ward"],
        search="uniform",
        rule="groups",
        epsilon=1,
    )
    with pytest.raises(Refused, match="exact, which looks at all of them, has a number"):
        curator.plan(searched, for_error=20)


def test_an_error_that_more_epsilon_may_raise_is_tabled_but_not_searched(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    by_rule = am.Score(columns=["age", "bmi"], rows=1000, epsilon=1)
    assert curator.plan(by_rule).measure.falls is False
    with pytest.raises(Refused, match="there is no least ε"):
        curator.plan(by_rule, for_error=20)
    # Why: where a rule brings in pairs, columns get less.
    errors = [planned_error(curator, by_rule, 10**7 * step) for step in range(1, 400)]
    assert errors != sorted(errors, reverse=True)


@pytest.mark.parametrize("wanted", ["many", -1, math.nan, math.inf, True, None.__class__])
def test_what_is_no_error_is_refused_with_the_field(wanted: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        open_curator(tmp_path).plan(am.Count(epsilon=1), for_error=wanted)
    assert refusal.value.field == "for_error"


@pytest.mark.parametrize("wanted", [0, 1, 20])
def test_a_probability_is_planned_between_0_and_1(wanted: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not between 0 and 1"):
        open_curator(tmp_path).plan(am.Identify(model="rare", epsilon=1), for_error=wanted)


def test_an_error_out_of_reach_is_refused_with_the_least_there_is(tmp_path: Path) -> None:
    curator = open_curator(tmp_path, declared={"person": "id", "max_rows": 1_000})
    with pytest.raises(InputError, match=r"even ε = 1000.*gives an error of 3\. Give at least 3"):
        curator.plan(am.Count(epsilon=1), for_error=1)


def test_a_rule_that_is_not_declared_is_refused_as_in_a_preview(tmp_path: Path) -> None:
    with pytest.raises(RuleNotDeclared):
        open_curator(tmp_path).plan(am.Identify(model="odd", epsilon=1), for_error=0.01)


def test_a_plan_prints_itself_as_text_json_html_and_svg(tmp_path: Path) -> None:
    plan = open_curator(tmp_path).plan(am.Identify(model="rare", epsilon=1), for_error=0.01)
    text = str(plan)
    assert "the least that gives an error of at most 0.01" in text
    assert "enough for 20 such questions" in text
    assert "█" in text
    assert json.loads(json.dumps(plan.to_dict()))["epsilon"] == str(plan.epsilon)
    page = plan._repr_html_()
    assert "<svg" in page
    assert page.count("<circle") == len(plan.lines)


def test_odds_are_those_of_bayes_and_never_rounded_down() -> None:
    for epsilon in ("0.001", "0.1", "0.5", "1", "2.5", "6"):
        odds, exact = Odds(to_nano(epsilon)), float(epsilon)
        assert math.exp(exact) <= odds.factor <= 1.01 * math.exp(exact)
        assert 1 / (1 + math.exp(-exact)) <= odds.best_guess <= min(1, 1.01 / (1 + math.exp(-exact)))


def test_odds_are_said_only_of_promises_to_everyone(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    sample = curator.plan(am.ShareSample(policy="adults", columns=["age"], epsilon=1))
    assert sample.odds is None
    assert "Anna" not in str(sample)
    count = curator.plan(am.Count(epsilon=1))
    assert count.odds is not None
    assert [item.nano for item in count.odds] == [to_nano(1), to_nano(2)]


def test_the_words_follow_the_accounts_unit_and_adjacency(tmp_path: Path) -> None:
    rows = open_curator(tmp_path).accountant.in_words()
    assert "Anna's one row is in the table" in str(rows)
    assert "one row at a time" in str(rows)
    (tmp_path / "persons").mkdir()
    declared = {"person": "id", "max_rows": 3}
    persons = open_curator(tmp_path / "persons", declared=declared, adjacency="replace").accountant.in_words()
    assert "two things that Anna's rows may say" in str(persons)
    assert "is not hidden in this account" in str(persons)
    assert "next to nothing" in str(BudgetInWords(to_nano(50)))


def test_what_is_spent_is_said_in_odds_too(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    curator.ask(am.Count(epsilon=1))
    words = curator.accountant.in_words()
    assert {name: odds.factor for name, odds in words.parts.items()} == {"budget": 7.39, "spent": 2.72}
    assert json.dumps(words.to_dict())


def test_an_expectation_of_an_earlier_version_has_no_measure() -> None:
    old = {"noise": "some", "error": "small", "half_width_95": 3}
    assert Expectation.read(old).measure is None
    assert Expectation.read(old).to_dict() == old
    new = Expectation("some", "small", measure=Measure(3, "records", "off"))
    assert Expectation.read(new.to_dict()) == new
