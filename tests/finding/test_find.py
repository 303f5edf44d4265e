# SPDX-License-Identifier: Apache-2.0
"""`find`: one ε in named shares, the oddest records first, and nothing charged that was not planned."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymaly as am
from anonymaly.errors import AnswerFailed, BudgetExceeded, InputError, Refused
from anonymaly.finding.find import run
from anonymaly.finding.prepare import Prepared, prepare
from tests.finding.conftest import COLUMNS, ODD, USUAL, Open


def test_the_odd_record_comes_first_with_its_reason_and_its_group(
    open_account: Open, records: pd.DataFrame
) -> None:
    curator = open_account()
    found = am.find(curator, records, epsilon=5, top=2, explain=1)
    assert [item.row for item in found.odd] == [2, found.odd[1].row]
    assert found.records[0]["id"] == "x", "columns that are not compared stay, so that a record is recognised"
    assert found.odd[0].reason.parts[0].columns == ("pay",)
    assert found.reasons[0].row == 1
    (explanation,) = found.explanations
    assert explanation is not None
    assert (explanation.metric, explanation.record_value, explanation.stands_out) == ("pay", 900, True)


def test_the_charge_is_the_sum_of_the_named_shares(open_account: Open, odd_records: pd.DataFrame) -> None:
    curator = open_account()
    found = am.find(curator, odd_records, epsilon=1, explain=3)
    assert [step.share for step in found.plan.steps] == [0.4, 0.2, 0.2, 0.2]
    assert (found.cost, curator.spent) == ("1", 1.0)
    assert found.guarantee.epsilon == "1"
    assert curator.statement().questions == 4


def test_the_same_find_again_is_free_and_the_same(open_account: Open, records: pd.DataFrame) -> None:
    curator = open_account()
    first = am.find(curator, records, epsilon=1, explain=1)
    second = am.find(curator, records, epsilon=1, explain=1)
    assert (second.cost, curator.spent) == ("0", 1.0)
    assert second.plan.cost == 0, "a plan with a stored model is exact"
    assert second.explanations == first.explanations
    assert [item.reason for item in second.odd] == [item.reason for item in first.odd]


def test_a_stored_model_is_used_for_other_records_and_its_share_stays_unspent(
    open_account: Open, records: pd.DataFrame
) -> None:
    curator = open_account()
    curator.ask(am.Score(columns=["pay", "job", "night", "hired"], epsilon=2))
    found = am.find(curator, records, epsilon=1, explain=1)
    assert (found.model_charged_nano, curator.spent) == (0, 2.333333333)
    assert "stored at ε = 2" in str(found.plan)
    assert "its share stays unspent" in str(found.plan)
    assert found.guarantee.epsilon == "2.333333333", "what is shown rests on the stored model, too"


def test_a_stored_model_of_a_smaller_epsilon_is_not_used(open_account: Open, records: pd.DataFrame) -> None:
    curator = open_account()
    curator.ask(am.Score(columns=["pay", "job", "night", "hired"], epsilon=0.1))
    assert am.find(curator, records, epsilon=1, explain=0).cost == "1"


def test_nothing_is_charged_where_the_budget_holds_the_model_alone(
    open_account: Open, records: pd.DataFrame
) -> None:
    curator = open_account(budget=0.5)
    with pytest.raises(BudgetExceeded, match=r"needs up to ε=1 for 4 questions; 0\.5 remain.*at most 0\.5"):
        am.find(curator, records, epsilon=1)
    assert curator.spent == 0


def test_a_find_of_one_record_says_why_it_needs_less_than_was_given(open_account: Open) -> None:
    curator = open_account(budget=2)
    said = (
        r"needs up to ε=3 of the 5 that were given \(a share that no record needs.* for 2 questions; 2 remain"
    )
    with pytest.raises(BudgetExceeded, match=said):
        am.find(curator, pd.DataFrame([ODD]), epsilon=5)
    with pytest.raises(BudgetExceeded, match=r"needs up to ε=5 for 1 question; 2 remain"):
        am.find(curator, pd.DataFrame([ODD]), epsilon=5, explain=0)
    assert am.find(curator, pd.DataFrame([ODD]), epsilon=2).cost == "1.2"  # as it advises


def test_what_others_spent_since_the_plan_refuses_all_of_it(
    open_account: Open, odd_records: pd.DataFrame
) -> None:
    curator = open_account(budget=1)
    prepared = prepare(curator, odd_records, epsilon=1)
    curator.ask(am.Count(epsilon=0.3))
    with pytest.raises(BudgetExceeded, match=r"0\.7 remain, and nothing was charged"):
        run(prepared)
    assert curator.spent == 0.3


def test_a_model_of_another_method_or_with_other_bins_is_not_used(
    open_account: Open, records: pd.DataFrame
) -> None:
    curator = open_account(budget=100)
    columns = [name for name in COLUMNS if name != "id"]
    curator.ask(am.Score(columns=columns, method="mixed", bins=2, pair_bins=0, rows=1, epsilon=5))
    curator.ask(am.Score(columns=["pay"], method="marginals", epsilon=1))
    for asked in ({}, {"columns": ["pay"]}):
        plan = prepare(curator, records, epsilon=1, explain=0, **asked).plan
        assert (plan.cost, plan.steps[0].price) == (1, "ε = 1")
        assert "(mixed)" in plan.steps[0].asks
    missing = records.assign(pay=[100.0, None, 110.0])
    assert len(am.find(curator, missing, epsilon=1, explain=0, columns=["pay"], missing="value").odd) == 3


def test_a_model_that_failed_is_asked_for_anew_and_the_plan_has_its_cost(
    open_account: Open, records: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> Any:
        raise ValueError("no such bin")

    curator = open_account()
    with monkeypatch.context() as patch:
        patch.setattr("anonymaly.questions.score.mechanism.count_for", fail)
        with pytest.raises(AnswerFailed):
            am.find(curator, records, epsilon=1, explain=0)
    assert curator.spent == 1
    assert prepare(curator, records, epsilon=1, explain=0).plan.steps[0].price == "ε = 1"
    found = am.find(curator, records, epsilon=1, explain=0)
    assert (found.cost, curator.spent) == ("1", 2.0)
    assert am.find(curator, records, epsilon=1, explain=0).cost == "0"


def test_anothers_open_charge_counts_in_a_grant_and_the_plan_says_so(
    open_account: Open, records: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    curator = open_account()
    curator.ask(am.Count(epsilon=0.1))
    ledger = curator.accountant.ledger
    for name in ("ann", "bob"):
        ledger.grant("staff", name, limit=15 * 10**8, by="owner", reason="a study", terms={})
    with monkeypatch.context() as patch:
        patch.setattr("anonymaly.questions.score.mechanism.count_for", interrupt)
        with pytest.raises(KeyboardInterrupt):
            am.find(curator, records, epsilon=1, explain=0, analyst="ann")
    plan = prepare(curator, records, epsilon=1, explain=0, analyst="bob").plan
    assert plan.cost == 1
    assert "of your grant: another asker was charged for it" in str(plan)
    am.find(curator, records, epsilon=1, explain=0, analyst="bob")
    spent = {grant.analyst: grant.spent for grant in ledger.grants("staff")}
    assert spent["bob"] <= plan.cost_nano
    assert curator.spent == 1.1


def test_a_model_that_another_asked_for_is_paid_for_by_a_grant_and_never_by_planning(
    open_account: Open, records: pd.DataFrame
) -> None:
    curator = open_account()
    curator.ask(am.Count(epsilon=0.1))
    ledger = curator.accountant.ledger
    for name in ("ann", "bob"):
        ledger.grant("staff", name, limit=15 * 10**8, by="owner", reason="a study", terms={})
    am.find(curator, records, epsilon=1, explain=0, analyst="ann")
    plan = prepare(curator, records, epsilon=1, explain=0, analyst="bob").plan
    assert (plan.cost, plan.remaining) == (1, 1.5)
    found = am.find(curator, records, epsilon=1, explain=0, analyst="bob")
    assert found.cost == "1"
    assert {grant.analyst: grant.spent for grant in ledger.grants("staff")} == {"ann": 10**9, "bob": 10**9}
    assert (am.find(curator, records, epsilon=1, explain=0, analyst="bob").cost, curator.spent) == ("0", 1.1)
    with pytest.raises(Refused, match="'eve' has no grant"):
        prepare(curator, records, epsilon=1, explain=0, analyst="eve")


def test_a_label_that_is_not_declared_is_told_before_the_charge(
    open_account: Open, records: pd.DataFrame
) -> None:
    plan = prepare(open_account(), records.assign(job=["nurse", "Nurse", "Nurse"]), epsilon=1).plan
    assert "note: job: 1 of 3 records have a label that is not declared" in str(plan)
    assert plan.to_dict()["notes"] == list(plan.notes)


def test_what_was_charged_before_a_failure_stays_and_asking_again_goes_on(
    open_account: Open, odd_records: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = open_account(budget=1)
    prepared, choices = prepare(curator, odd_records, epsilon=1), Prepared.choices

    def meanwhile(own: Prepared, reasons: Any) -> Any:
        curator.ask(am.Count(epsilon=0.3))  # somebody else asks
        return choices(own, reasons)

    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "choices", meanwhile)
        found = run(prepared)
    assert [item is None for item in found.explanations] == [False, True, True]
    assert (found.cost, curator.spent) == ("0.6", 0.9)
    assert [item.row for item in found.failed] == found.to_dict()["missing"]
    for text in (str(found), found.to_html()):
        assert "BudgetExceeded" in text
        assert "asked again is free for what is stored" in text
    curator.raise_budget(to=2)
    again = am.find(curator, odd_records, epsilon=1)
    assert (again.cost, again.failed) == ("0.4", ())
    assert again.explanations[0] == found.explanations[0]


@pytest.mark.parametrize(
    ("where", "before", "after"),
    [
        ("anonymaly.questions.score.mechanism.count_for", 0.4, "0.6"),
        ("anonymaly.questions.explain.everyone.mechanism.count_steps_of_groups", 0.6, "0.4"),
    ],
)
def test_interrupted_on_the_way_it_goes_on_and_nothing_is_charged_twice(
    open_account: Open,
    odd_records: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    before: float,
    after: str,
) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt  # as Ctrl-C does; a real signal would arrive at a moment of its own

    curator = open_account()
    monkeypatch.setattr(where, interrupt)
    with pytest.raises(KeyboardInterrupt):
        am.find(curator, odd_records, epsilon=1)
    assert curator.spent == before
    monkeypatch.undo()
    plan = prepare(curator, odd_records, epsilon=1).plan
    assert "it was charged before" in str(plan)
    found = am.find(curator, odd_records, epsilon=1)
    assert (found.cost, curator.spent, found.failed) == (after, 1.0, ())
    assert None not in found.explanations


def test_a_record_is_called_by_what_only_its_asker_knows(open_account: Open) -> None:
    found = am.find(open_account(), [{**ODD, "case": "A-17"}], epsilon=5, explain=1)
    assert found.odd[0].title == "id x, case A-17 (row 1)"
    assert found.odd[0].title in found.to_html()
    assert str(found).splitlines()[2].startswith(found.odd[0].title)


def test_a_group_is_told_without_what_it_leaves_open(open_account: Open) -> None:
    found = am.find(open_account(), [ODD], epsilon=5, explain=1)
    assert found.explanations[0] is not None
    told = found.odd[0].explained
    assert told is not None
    for words in (str(found), found.to_html(), *told.words()):
        assert " any " not in words
    assert told.words()[0] == f"stands out in pay {found.explanations[0].groups[0].brief}"


def test_of_a_record_with_very_many_values_only_the_odd_ones_are_in_the_open(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(30)]
    rows = pd.DataFrame({"pay": [10.0, 11.0, 12.0] * 300, **dict.fromkeys(names, False)})
    columns = {"pay": am.Interval(0, 100), **{name: am.Flag() for name in names}}
    curator = am.Curator(
        am.Dataset(rows, name="wide", columns=columns), budget=99, ledger=tmp_path / "wide.ledger"
    )
    page = am.find(curator, [{"pay": 90.0, **dict.fromkeys(names, False)}], epsilon=50, explain=0).to_html()
    shown, folded = page.split("<details>")
    assert "<b>pay</b> 90" in shown
    assert "<b>c17</b>" not in shown
    assert "<b>c17</b>" in folded


def test_fewer_records_than_explanations_leave_their_shares_unspent(open_account: Open) -> None:
    curator = open_account()
    found = am.find(curator, [ODD], epsilon=1)
    assert (found.cost, len(found.plan.steps)) == ("0.6", 2)
    assert "ε = 0.4 of 1 stays unspent" in str(found)


def test_the_same_record_twice_is_paid_for_and_promised_once(open_account: Open) -> None:
    found = am.find(open_account(), [ODD, ODD], epsilon=1, explain=2)
    assert (found.cost, found.guarantee.epsilon) == ("0.75", "0.75")
    assert found.explanations[0] == found.explanations[1]


def test_a_value_beyond_the_bounds_is_asked_about_at_the_bound_and_this_is_said(open_account: Open) -> None:
    found = am.find(open_account(), [{**ODD, "pay": 5000.0}], epsilon=5, explain=1)
    (explanation,) = found.explanations
    assert explanation is not None
    assert explanation.record_value == 1000
    assert "outside the declared 0 to 1000; it was asked about as 1000" in str(found)


def test_records_are_judged_by_what_they_have(open_account: Open) -> None:
    lacking = {**ODD, "job": None, "hired": None}
    found = am.find(open_account(), [USUAL, lacking], epsilon=5, top=1, explain=1)
    assert found.odd[0].row == 2
    group = found.explanations[0]
    assert group is not None
    assert [part.column for part in group.groups[0].parts] == ["night"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "0.000000001"}, "epsilon"),
        ({"top": 0}, "top"),
        ({"top": 10**9}, "top"),
        ({"top": True}, "top"),
        ({"explain": -1}, "explain"),
        ({"columns": ["pay", "wage"]}, "columns"),
        ({"columns": ["job", "night"]}, "columns"),
        ({"missing": "guess"}, "missing"),
        ({"frame": []}, "records"),
        ({"frame": pd.DataFrame([USUAL]).iloc[:0]}, "records"),
        ({"frame": pd.DataFrame([USUAL]).drop(columns="job")}, "records"),
        ({"frame": pd.DataFrame([USUAL]).astype({"pay": str})}, "pay"),
        ({"frame": [{**USUAL, "job": None}], "missing": "refuse"}, "job"),
    ],
)
def test_what_cannot_be_done_is_refused_and_costs_nothing(
    open_account: Open, options: dict[str, Any], field: str
) -> None:
    curator = open_account()
    given = {"frame": [USUAL], "epsilon": 1, **options}
    with pytest.raises(InputError) as refused:
        am.find(curator, given.pop("frame"), **given)
    assert refused.value.field == field
    assert refused.value.next_step
    assert curator.spent == 0


def test_a_share_that_no_explanation_could_use_is_refused_before_the_model(open_account: Open) -> None:
    curator = open_account()
    with pytest.raises(InputError):
        am.find(curator, [USUAL], epsilon="0.00000001")
    assert curator.spent == 0


def test_a_record_with_no_odd_number_is_not_explained_and_its_share_stays_unspent(open_account: Open) -> None:
    curator = open_account()
    found = am.find(curator, [{**USUAL, "pay": None}], epsilon=1, explain=1)
    assert (found.explanations, found.failed) == ([None], ())
    assert found.cost == "0.666666667"
    assert "no number with declared bounds" in str(found)


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_report_stands_alone_and_runs_nothing_that_a_record_says(
    open_account: Open, tmp_path: Path
) -> None:
    hostile = {**ODD, "id": "<script>alert(1)</script>"}
    found = am.find(open_account(), [hostile, USUAL], epsilon=5, explain=1)
    found.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    page = _Page()
    page.feed(text)
    names = {name for name, _ in page.tags}
    assert names.isdisjoint({"script", "link", "img", "iframe"})
    assert not [given for _, given in page.tags if {"src", "href", "onload"} & set(given)]
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text
    pictures = [given for name, given in page.tags if name == "svg"]
    assert pictures
    assert all(given.get("aria-label") or given.get("aria-hidden") for given in pictures), (
        "every picture has a text beside it"
    )
    assert 'class="anonymaly"' in found._repr_html_()
    told = json.loads(json.dumps(found.to_dict()))
    assert told["records"][0]["record"]["id"] == hostile["id"]


def test_no_row_of_the_table_is_in_what_is_returned(open_account: Open) -> None:
    found = am.find(open_account(), [ODD], epsilon=5, explain=1)
    for text in (str(found), found.to_html(), json.dumps(found.to_dict())):
        assert "p17" not in text  # keys of the table's own rows
