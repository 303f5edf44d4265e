# SPDX-License-Identifier: Apache-2.0
"""What a `SameContexts` allows: the attacks on `explain` at a tiny ε, and how questions are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import anonymaly as am
from anonymaly.detectors import DETECTORS
from anonymaly.errors import Refused, RuleNotDeclared
from anonymaly.ledger import Ledger
from anonymaly.questions.explain.under_rule import permit_under_rules

WARNING = "an asker under this rule can test guesses about any record; ε does not limit that"
TINY = "0.000000001"
COLUMNS = {
    "job": am.Categories(["Nurse", "Doctor"]),
    "city": am.Categories(["Ottawa", "Toronto"]),
    "pay": am.Interval(0, 200, step=1),
}
Open = Callable[..., am.Curator]


def staff(seed: int = 5) -> pandas.DataFrame:
    draw = np.random.default_rng(seed)
    cities = draw.choice(["Ottawa", "Toronto"], 12)
    return pandas.DataFrame(
        {"job": draw.choice(["Nurse", "Doctor"], 12), "city": cities, "pay": draw.integers(40, 140, 12)}
    )


@pytest.fixture
def open_account(tmp_path: Path) -> Iterator[Open]:
    opened: list[am.Curator] = []

    def make(
        rule: am.SameContexts | None = None, frame: pandas.DataFrame | None = None, **options: Any
    ) -> Any:
        declared = {"name": "staff", "columns": COLUMNS, "rules": {"groups": rule or am.SameContexts()}}
        dataset = am.Dataset(staff() if frame is None else frame, **{**declared, **options})
        folder = tmp_path / str(len(opened))  # with a secret of its own
        folder.mkdir()
        opened.append(am.Curator(dataset, budget=10, ledger=folder / "staff.ledger"))
        return opened[-1]

    yield make
    for curator in opened:
        curator.close()


def guess(pay: int = 60, **fields: Any) -> am.Explain:
    given = {
        "record": {"job": "Nurse", "city": "Ottawa", "pay": pay},
        "metric": "pay",
        "attributes": ["job", "city"],
        "detector": "mad",
        "rule": "groups",
        "epsilon": "0.1",
    }
    return am.Explain(**{**given, **fields})


def refusals(curator: am.Curator, questions: list[am.Explain]) -> set[tuple[str | None, str]]:
    found = set()
    for question in questions:
        with pytest.raises(Refused) as refused:
            curator.ask(question)
        found.add((refused.value.field, str(refused.value)))
    with pytest.raises(Refused):
        curator.preview(questions[0])
    assert curator.spent == 0
    return found


def test_a_list_of_guesses_at_a_threshold_of_nothing_is_refused_before_the_charge(open_account: Open) -> None:
    """Two hundred of these once returned the eight salaries of a city, for ε = 2e-7 in all."""
    attack = [guess(pay, parameters={"threshold": 1e-9}, epsilon=TINY) for pay in range(40, 140)]
    found = refusals(open_account(), attack)
    assert found == {
        (
            "parameters",
            "parameters: the rule 'groups' allows mad with threshold = 3.5, not 1e-09. Give threshold as it "
            "is allowed, or ask the owner to list it, as in detectors={'mad': {'threshold': [1e-09]}}.",
        )
    }
    assert refusals(open_account(frame=staff(seed=6)), attack[:5]) == found  # whatever the rows are


def test_halving_the_level_of_grubbs_is_refused_before_the_charge(open_account: Open) -> None:
    """Thirty-eight of these once gave Grubbs's statistic of a group, and 152 another person's pay."""
    curator = open_account(am.SameContexts(detectors=["grubbs"]))
    low, high = 1e-12, 0.5
    for _ in range(38):
        middle = math.sqrt(low * high)
        attack = guess(
            140,
            detector="grubbs",
            parameters={"alpha": middle},
            search="random_walk",
            samples=1,
            start={"job": ["Nurse"], "city": ["Ottawa"]},
            epsilon=TINY,
        )
        ((field, _text),) = refusals(curator, [attack])
        assert field == "parameters"
        low = middle


def wealthy(edges: list[int], **fields: Any) -> am.Explain:
    return guess(
        record={"wealth": 10_000, "pay": 110},
        attributes=[am.Bins("wealth", edges)],
        detector="grubbs",
        **fields,
    )


def wealth() -> dict[str, Any]:
    """Return a table in which the asker's own pay stands out unless the boss is in the group, too."""
    draw = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {"wealth": draw.integers(0, 1_000_000, 60).astype(float), "pay": draw.normal(60, 3, 60).round()}
    )
    frame.loc[0] = [10_000.0, 110.0]
    frame.loc[1] = [613_407.0, 199.0]  # whose wealth the asker wants, and did not name
    columns = {"wealth": am.Interval(0, 1_000_000), "pay": COLUMNS["pay"]}
    return {"frame": frame, "columns": columns}


def test_halving_the_edges_of_a_cut_is_refused_before_the_charge(open_account: Open) -> None:
    """Twenty of these once gave the exact wealth of somebody who was never named, for ε = 0.2 in all."""
    attack = [wealthy([0, edge, 1_000_000]) for edge in (550_000, 775_000, 662_500, 606_250, 634_375)]
    found = refusals(open_account(**wealth()), attack)
    assert found == {
        (
            "attributes",
            "attributes: the rule 'groups' allows no cuts of wealth, and 3 other edges are given. Leave it "
            "out, or ask the owner to list the cut with its edges, as in bins=[am.Bins('wealth', …)].",
        )
    }


def test_a_cut_that_the_owner_lists_is_allowed_with_those_edges_and_no_others(open_account: Open) -> None:
    rule = am.SameContexts(attributes=["pay"], bins=[am.Bins("wealth", [0, 500_000, 1_000_000])])
    curator = open_account(rule, **wealth())
    ((field, text),) = refusals(curator, [wealthy([0, 500_001, 1_000_000])])
    assert field == "attributes"
    assert "allows wealth cut at 0, 500000, 1000000, and 3 other edges are given. Cut it so" in text
    assert curator.ask(wealthy([0, 500_000, 1_000_000])).charged


def test_an_owner_who_allows_any_rule_sets_no_limits_to_cuts(open_account: Open) -> None:
    assert open_account(rules="any", **wealth()).ask(wealthy([0, 500_001, 1_000_000])).charged


@pytest.mark.parametrize(
    ("fields", "field", "numbers"),
    [
        ({"search": "random_walk", "start": {"job": ["Nurse"]}}, "start", "allows no start"),
        ({"epsilon": "0.009999999"}, "epsilon", "0.009999999 is less than 0.01"),
        ({"detector": "lof", "parameters": {"k": 19}}, "parameters", "k = 20, not 19"),
        ({"detector": "lof", "parameters": {"threshold": 1.6}}, "parameters", "threshold = 1.5, not 1.6"),
        ({"detector": "histogram", "parameters": {"fraction": 0.5}}, "parameters", "fraction = 0.0025"),
    ],
    ids=str,
)
def test_a_plain_rule_is_narrow(open_account: Open, fields: dict[str, Any], field: str, numbers: str) -> None:
    ((named, text),) = refusals(open_account(), [guess(**fields)])
    assert named == field
    assert numbers in text


def test_what_a_plain_rule_allows_is_answered_twenty_times(open_account: Open) -> None:
    curator = open_account()
    for pay in range(40, 60):
        assert curator.ask(guess(pay)).charged
    spent = curator.spent
    with pytest.raises(
        Refused, match="'groups' allows 20 questions that differ in anything but ε, and 20 are"
    ):
        curator.ask(guess(60))
    assert "20 are asked: it would be refused" in str(curator.preview(guess(60)))
    assert curator.spent == spent
    assert curator.ask(guess(40)).charged == 0
    assert curator.ask(am.Count(epsilon="0.1")).charged
    assert curator.accountant.verify().ok


def test_the_same_question_at_another_epsilon_or_drawn_again_is_counted_once(open_account: Open) -> None:
    curator = open_account(am.SameContexts(questions=2))
    for epsilon in ("0.1", "0.2", "0.3"):
        assert curator.ask(guess(epsilon=epsilon)).charged
    assert curator.ask(guess(), repeat=1).charged
    use = curator.preview(guess(epsilon=1)).rule
    assert use is not None
    assert use.to_dict() == {"rule": "groups", "questions": 2, "asked": 1, "counted": True}
    assert curator.ask(guess(61)).charged
    with pytest.raises(Refused, match="2 are asked"):
        curator.ask(guess(search="uniform"))  # differs in something else than ε
    assert curator.ask(guess(61, epsilon=1)).charged
    counters = {item.name: item.used for item in curator.accountant.ledger.counters("staff")}
    assert counters.pop("rule:groups") == 2
    assert list(counters.values()) == [1, 1]
    assert curator.accountant.verify().ok


def test_nobody_without_the_secret_can_tell_which_guess_was_counted(open_account: Open) -> None:
    marks = set()
    for _ in range(2):
        curator = open_account()
        curator.ask(guess())
        marks |= {item.name for item in curator.accountant.ledger.counters("staff")}
    assert len(marks) == 3  # the rule's, and one of each owner


def test_two_askers_at_once_do_not_share_what_is_left(open_account: Open) -> None:
    curator = open_account(am.SameContexts(questions=1))
    curator.ask(am.Count(epsilon="0.1"))
    account = curator.accountant
    bound = account.accept(guess())
    other = account.accept(guess(61))
    # Both have passed what is looked at before the charge; the ledger alone can tell them apart.
    assert account.permit(bound) is not None
    account.reserve(bound, analyst="ann", repeat=0)
    permit = account.permit(other)
    assert permit is not None
    with (
        Ledger.open(account.location) as ledger,
        pytest.raises(Refused, match="allows 1 in all, and 1 are used"),
    ):
        ledger.reserve(
            "staff",
            analyst="bob",
            key="another",
            cost=1,
            record={},
            counters={permit.counter: permit.questions},
            once={permit.counter: permit.mark(account.secret.digest)},
        )


def test_a_value_is_allowed_if_it_is_listed_and_then_the_default_must_be_listed_too(
    open_account: Open,
) -> None:
    curator = open_account(am.SameContexts(detectors={"mad": {"threshold": [2, 3]}}))
    assert curator.ask(guess(parameters={"threshold": 2.0})).charged
    with pytest.raises(Refused, match=r"threshold = 2 or 3, not 3\.5"):
        curator.ask(guess())
    with pytest.raises(Refused, match="did not declare"):
        curator.ask(guess(detector="grubbs"))


def test_a_wide_rule_allows_what_its_owner_wants(open_account: Open) -> None:
    rule = am.SameContexts(
        detectors={"mad": {"threshold": [1e-9]}}, least_epsilon=TINY, questions=1000, start=True
    )
    fields = {"search": "random_walk", "samples": 1, "start": {"job": ["Nurse"]}, "epsilon": TINY}
    assert open_account(rule).ask(guess(parameters={"threshold": 1e-9}, **fields)).charged_nano == 1


def test_of_several_rules_the_one_that_is_cited_counts(open_account: Open) -> None:
    rules = {"few": am.SameContexts(questions=1), "low": am.SameContexts(least_epsilon="0.001", questions=3)}
    curator = open_account(rules=rules)
    use = curator.preview(guess(epsilon="0.005", rule="low")).rule
    assert use is not None
    assert use.permit.rule == "low"
    with pytest.raises(Refused, match="least ε that the rule 'few' allows"):
        curator.preview(guess(epsilon="0.005", rule="few"))


def test_an_owner_who_allows_any_rule_sets_no_limits(open_account: Open) -> None:
    curator = open_account(rules="any")
    assert curator.ask(guess(parameters={"threshold": 1e-9}, epsilon=TINY)).charged_nano == 1
    assert curator.accountant.ledger.counters("staff") == []


def test_the_warning_is_the_first_line_of_a_preview(open_account: Open) -> None:
    curator = open_account()
    preview = curator.preview(guess())
    first, second, *lines = str(preview).splitlines()
    assert first == WARNING
    assert second.startswith("Explain: the group, by job, city")
    assert any(
        "'groups' allows 20 questions that differ in anything but ε; 0 are asked" in line for line in lines
    )
    assert preview.to_dict()["warning"] == WARNING
    curator.ask(guess())
    assert str(curator.preview(guess())).startswith(WARNING)
    assert "warning" not in curator.preview(am.Count(epsilon=1)).to_dict()


def test_an_amendment_that_allows_more_questions_is_in_force_at_once(open_account: Open) -> None:
    curator = open_account(am.SameContexts(questions=1))
    curator.ask(guess())
    with pytest.raises(Refused):
        curator.ask(guess(61))
    more = am.SameContexts(questions=2)
    amendment = curator.amend(
        am.Dataset(staff(), name="staff", columns=COLUMNS, rules={"groups": more}), reason="one more"
    )
    assert "rule groups loosened" in str(amendment)
    assert WARNING in str(amendment)
    assert curator.ask(guess(61)).charged
    with pytest.raises(Refused, match="2 are asked"):
        curator.ask(guess(62))
    assert curator.ask(guess(epsilon=1)).charged  # counted before the amendment
    less = am.SameContexts(questions=1)
    curator.amend(am.Dataset(staff(), name="staff", columns=COLUMNS, rules={"groups": less}), reason="enough")
    with pytest.raises(Refused, match="allows 1 question"):
        curator.ask(guess(62))
    assert curator.accountant.verify().ok


@pytest.mark.parametrize("person", ["who", None])
def test_a_column_more_makes_another_question_if_it_decides_which_rows_of_a_person_are_read(
    open_account: Open, person: str | None
) -> None:
    """Who is paid 199 has a row of 41, too; the order of rows by all columns chooses one of them."""
    rows: list[dict[str, Any]] = [
        {"who": f"c{number}", "pay": 40 + number % 5, "job": "Nurse", "aaa": 0} for number in range(12)
    ]
    rows += [{"who": "V", "pay": 90, "job": "Nurse", "aaa": 0}]
    rows += [{"who": "P", "pay": pay, "job": "Nurse", "aaa": aaa} for pay, aaa in ((41, 5), (199, 1))]
    frame = pandas.DataFrame(rows)
    columns = {"pay": COLUMNS["pay"], "job": COLUMNS["job"]}
    unit = {} if person is None else {"person": person, "max_rows": 1}
    rule = am.SameContexts(questions=1)
    curator = open_account(rule, frame, columns=columns, **unit)
    query = guess(record={"pay": 90, "job": "Nurse"}, attributes=["job"], detector="grubbs")
    first = curator.ask(query)
    more = {"aaa": am.Interval(0, 10), **columns}
    curator.amend(
        am.Dataset(frame, name="staff", columns=more, rules={"groups": rule}, **unit), reason="a column more"
    )
    again = query.model_copy(update={"epsilon": query.epsilon * 2})
    if person is None:
        assert curator.ask(again).charged  # the same rows are read
        return
    assert first.value is not None  # with the column more, it would be None
    with pytest.raises(Refused, match="allows 1 question, at any ε, and 1 is asked"):
        curator.ask(again)


def test_a_plan_and_a_rehearsal_keep_to_the_rule(open_account: Open) -> None:
    curator = open_account()
    with pytest.raises(Refused, match=r"is less than 0\.01"):
        curator.plan(guess(), for_error=10_000)
    with pytest.raises(Refused, match="threshold"):
        curator.rehearse(guess(parameters={"threshold": 1}))
    assert curator.plan(guess(), for_error=50).questions > 0


def test_a_rule_that_is_cited_is_the_only_one_that_counts() -> None:
    """Another rule may allow more: it was not cited."""
    rules = {"narrow": am.SameContexts(metrics=["age"]), "wide": am.SameContexts(questions=7)}
    columns = {**COLUMNS, "age": am.Interval(0, 120)}
    frame = staff().assign(age=30)
    declaration = am.Dataset(frame, name="staff", columns=columns, rules=rules).declaration
    asked = {"attributes": ["job", "city"], "detector": DETECTORS["mad"], "declaration": declaration}
    permit = permit_under_rules(guess(), **asked, cited="wide")
    assert permit is not None
    assert (permit.rule, permit.questions) == ("wide", 7)
    with pytest.raises(
        Refused, match=r"rule: the rule 'narrow' does not allow to ask about pay by job, city with mad"
    ):
        permit_under_rules(guess(), **asked, cited="narrow")
    with pytest.raises(RuleNotDeclared, match="no rule 'other'"):
        permit_under_rules(guess(), **asked, cited="other")
    assert permit_under_rules(guess(), **asked) == permit
