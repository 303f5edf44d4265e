# SPDX-License-Identifier: Apache-2.0
"""The question for everyone, from its fields to its words."""

from __future__ import annotations

import json
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import anonymaly as am
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import Everyone
from anonymaly.questions.explain.everyone.axes.nested import Dyadic
from anonymaly.questions.explain.everyone.binding import EveryoneBinding, bind_for_everyone
from anonymaly.questions.explain.everyone.summary import count_steps_by_cell, count_steps_of_groups
from anonymaly.questions.explain.everyone.value import Explanation, Group, GroupPart
from anonymaly.questions.explain.value import Context

JOBS, CITIES = ["Nurse", "Doctor", "Clerk", "Cook"], ["Oslo", "Turin", "Lyon"]
COLUMNS: dict[str, Any] = {
    "job": am.Categories(JOBS),
    "city": am.Categories(CITIES),
    "age": am.Interval(0, 120),
    "seen": am.Timestamps("2020-01-01", "2023-12-31"),
    "pay": am.Interval(0, 300),
}
RECORD = {"job": "Nurse", "city": "Oslo", "age": 33, "seen": "2021-05-05", "pay": 130}


def staff(number: int = 4000) -> pandas.DataFrame:
    """Return people whose pay depends on their job; some have no city, and some no pay."""
    draw = np.random.default_rng(3)
    job = draw.choice(JOBS, number)
    usual = np.select([job == "Doctor", job == "Nurse"], [120, 60], 40)
    frame = pandas.DataFrame(
        {
            "job": job,
            "city": draw.choice(CITIES, number),
            "age": draw.integers(18, 70, number).astype(float),
            "seen": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(draw.integers(0, 1400, number), "D"),
            "pay": (usual + draw.normal(0, 8, number)).round(1),
        }
    )
    frame.loc[::50, "city"] = None
    frame.loc[::70, "pay"] = None
    return frame


def declare(frame: pandas.DataFrame | None = None, **options: Any) -> am.Dataset:
    return am.Dataset(
        staff() if frame is None else frame,
        **{"name": "staff", "columns": COLUMNS, "public": True, **options},
    )


def ask(attributes: list[Any], **fields: Any) -> am.Explain:
    names = [item if isinstance(item, str) else item.column for item in attributes]
    record = {name: RECORD[name] for name in (*names, "pay") if name in RECORD}
    given = {"record": record, "metric": "pay", "attributes": attributes, "epsilon": 2, **fields}
    return am.Explain(**given)


def bound(query: am.Explain, **options: Any) -> EveryoneBinding:
    return bind_for_everyone(query, declare(**options).declaration)


def test_without_a_rule_everyone_is_protected_and_the_group_is_said_in_words() -> None:
    query = ask(["job", "city"])
    answer = am.simulate(query, declare(), seed=1)
    assert isinstance(answer.guarantee.relation, Everyone)
    (group,) = answer.value.groups
    assert str(group) == "among records with job = Nurse, any city"
    assert group.expression == "job == 'Nurse' and pay is not null"
    assert abs(group.size - 1000) < 200
    low, middle, high = group.quartiles
    assert 50 < low < middle < high < 70
    assert "records; about half of them between" in answer.shown
    assert "this one has 130" in answer.shown
    assert "◆" in answer.shown.splitlines()[-1]
    assert "<svg" in answer._repr_html_()


def test_an_ordinary_record_stands_out_in_no_group() -> None:
    query = ask(["job"], record={"job": "Nurse", "pay": 61})
    answer = am.simulate(query, declare(), seed=1)
    assert answer.value.groups == ()
    assert "stands out in no group (or not clearly enough: a record needs a margin of about" in answer.shown
    assert "<svg" not in answer._repr_html_()


def test_the_same_is_in_json_and_comes_back_from_the_store() -> None:
    query = ask(["job", "city"], groups=2)
    value = am.simulate(query, declare(), seed=1).value
    file = BytesIO()
    am.Explain.encode(value, file)
    file.seek(0)
    again: Any = am.Explain.decode(file)  # type: ignore[arg-type]
    assert isinstance(again, Explanation)
    assert query.completed(again) == value
    assert value.record_value == 130
    told = json.loads(file.getvalue())
    assert {"parts", "size", "within", "quartiles", "metric"} == set(told["groups"][0])


def test_who_reads_the_ledger_and_the_answers_does_not_find_the_value_that_was_asked_about(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "account"
    folder.mkdir()
    query = ask(["job"], record={"job": "Nurse", "pay": 129.8125})
    with closing(am.Curator(declare(public=False), budget=9, ledger=folder / "staff.ledger")) as curator:
        asked, again = curator.ask(query), curator.ask(query)
        rehearsed = curator.rehearse(query)
        (read,) = curator.answers()
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"129.8" not in held
    assert b"Nurse" in held  # the group is named, and the file is read
    assert asked.value == again.value
    assert "this one has 129.8" in asked.shown
    assert again.shown == asked.shown
    assert rehearsed.value.record_value == 129.8125
    assert read.value.groups == asked.value.groups
    assert read.value.record_value is None
    assert "this one has" not in read.shown
    assert asked.shown.startswith(read.shown)


def test_an_answer_that_was_stored_with_the_value_is_read_with_it() -> None:
    value = Explanation("pay", 130, [Group([GroupPart("job")])], 9, False)
    old = BytesIO(json.dumps({**value.to_dict(), "record_value": 130}).encode())
    assert am.Explain.decode(old) == value  # type: ignore[arg-type]


def test_pictures_and_words_hold_nothing_but_what_was_released() -> None:
    group = Group([GroupPart("job", "values", ["Nurse"])], 100, 12, None)
    value = Explanation("pay", 130, [group], 9, True)
    assert "too few to say where their pay lies at this ε" in str(value)
    assert "<svg" not in value._repr_html_()
    alone = Explanation("pay", 130, [Group([GroupPart("job")])], 9, False)
    assert str(alone) == "stands out in pay among all records\nthis one has 130"
    assert str(alone.about(None)) == "stands out in pay among all records"


@pytest.mark.parametrize(
    ("part", "words", "expression"),
    [
        (GroupPart("job"), "any job", None),
        (GroupPart("job", "values", ["Nurse"]), "job = Nurse", "job == 'Nurse'"),
        (GroupPart("job", "values", JOBS[:2]), "job in {Nurse, Doctor}", "job in ['Nurse', 'Doctor']"),
        (
            GroupPart("job", "values", JOBS[:3], ["Cook"]),
            "job all but Cook",
            "job in ['Nurse', 'Doctor', 'Clerk']",
        ),
        (
            GroupPart("age", "interval", ["[18, 65)", "[18, 65)"], by=am.Bins("age", [0, 18, 65, 120])),
            "age from 18 to below 65",
            "age >= 18 and age < 65",
        ),
        (
            GroupPart("age", "interval", ["[0, 18)", "[65, 120]"], by=am.Bins("age", [0, 18, 65, 120])),
            "age from 0 to 120",
            "age >= 0 and age <= 120",
        ),
        (
            GroupPart("seen", "interval", ["2020 Q2", "2021 Q1"], by=am.Dates("seen", "quarter")),
            "seen 2020 Q2 to 2021 Q1",
            "seen >= '2020-04-01 00:00:00' and seen < '2021-04-01 00:00:00'",
        ),
        (
            GroupPart("seen", "interval", ["2020", "2020"], by=am.Dates("seen", "year")),
            "seen 2020",
            "seen >= '2020-01-01 00:00:00' and seen < '2021-01-01 00:00:00'",
        ),
        (
            GroupPart("seen", "interval", ["Monday", "Friday"], by=am.Dates("seen", "weekday")),
            "seen Monday to Friday",
            None,
        ),
    ],
    ids=str,
)
def test_a_part_is_said_in_words_and_as_a_filter(part: GroupPart, words: str, expression: str | None) -> None:
    assert str(part) == words
    assert Group([part]).expression == expression
    assert GroupPart.read(json.loads(part.to_json())) == part


@pytest.mark.slow
def test_a_filter_of_a_group_counts_its_rows_and_any_holds_nulls() -> None:
    dataset = declare()
    attributes = ["job", "city", am.Bins("age", [0, 30, 40, 120]), am.Dates("seen", "month")]
    query = ask(attributes, groups=3, epsilon=1_000)
    value = am.simulate(query, dataset, seed=2).value
    assert len(value.groups) == 3
    for group in value.groups:
        counted = am.simulate(am.Count(where=group.expression, epsilon=1_000), dataset, seed=1).value
        assert abs(group.size - counted) <= group.within


@pytest.mark.parametrize("by", ["month", "quarter", "year"])
@pytest.mark.parametrize(("asked", "option"), [("2004-02-01", 0), ("2003-11-05", 0), ("2003-11-05", -1)])
def test_a_filter_leaves_out_dates_beyond_the_declared_ones_and_rows_without_the_metric(
    by: Any, asked: str, option: int
) -> None:
    days = ["2003-01-31", "2003-11-04", "2003-11-05", "2003-12-24", "2004-02-01", "2004-02-10", "2004-12-31"]
    frame = pandas.DataFrame({"seen": pandas.to_datetime(days * 2), "pay": [5.0] * 7 + [None] * 7})
    columns = {"seen": am.Timestamps("2003-11-05", "2004-02-01"), "pay": COLUMNS["pay"]}
    dataset = declare(frame, columns=columns)
    query = ask([am.Dates("seen", by)], record={"seen": asked, "pay": 9}, steps=10)
    found = bind_for_everyone(query, dataset.declaration)
    name = (option % found.axes[0].options,)
    group = Group([found.axes[0].part(*name)], metric="pay")
    assert GroupPart.read(json.loads(group.parts[0].to_json())) == group.parts[0]
    (counts,) = count_steps_of_groups(dataset.table, found, [name])
    where = am.Count(where=group.expression, epsilon=1_000)
    assert am.simulate(where, dataset, seed=1).value == counts.sum()


def test_rows_are_counted_by_code_and_step_and_null_is_a_code_of_its_own() -> None:
    frame = pandas.DataFrame(
        {
            "job": ["Nurse", "Nurse", None, "Pilot", "Cook", "Nurse"],
            "city": ["Oslo", None, "Oslo", "Oslo", "Oslo", "Oslo"],
            "age": [33.0, 18.0, 200.0, np.nan, 33.0, 33.0],
            "seen": pandas.to_datetime(
                ["2020-01-01", "2021-05-31", "1990-01-01", None, "2020-01-01", "2020-01-01"]
            ),
            "pay": [1.0, 299.0, 400.0, -5.0, 300.0, np.nan],
        }
    )
    attributes = ["job", am.Bins("age", [0, 20, 60]), am.Dates("seen", "year")]
    asked = bound(ask(attributes, steps=3))
    summary = count_steps_by_cell(declare(frame).table, asked)
    codes = np.stack(np.unravel_index(summary.cells, [axis.codes for axis in asked.axes]), axis=1)
    found = {(*code, step): count for code, step, count in zip(
        map(tuple, codes.tolist()), summary.steps.tolist(), summary.counts.tolist(), strict=True
    )}  # fmt: skip
    assert found == {
        (0, 1, 0, 0): 1,  # a nurse of 33, seen in 2020
        (0, 0, 1, 2): 1,
        (1, 2, 4, 2): 1,  # no job, an age in no bin, a date before the first
        (1, 2, 4, 0): 1,  # an undeclared job, no age, no date; a pay below the interval is moved into it
        (1, 1, 0, 2): 1,
    }


def test_hundreds_of_values_and_a_dozen_attributes_are_no_trouble() -> None:
    columns = {f"a{number}": am.Categories([f"v{value}" for value in range(300)]) for number in range(11)}
    columns |= {"when": am.Timestamps("2000-01-01", "2019-12-31"), "pay": am.Interval(0, 100)}  # type: ignore[dict-item]
    declaration = am.Dataset(
        pandas.DataFrame({name: [] for name in columns}), name="wide", columns=columns
    ).declaration
    record = {**{f"a{number}": "v7" for number in range(11)}, "when": "2005-05-05", "pay": 3}
    query = am.Explain(
        record=record,
        metric="pay",
        attributes=[*(f"a{number}" for number in range(11)), am.Dates("when")],
        epsilon=1,
    )
    found = query.bind(declaration)
    assert isinstance(found, EveryoneBinding)
    assert found.listed == 2**11 * found.axes[-1].options
    assert found.listed < 100_000


def test_with_more_than_two_ordered_attributes_intervals_are_dyadic() -> None:
    cut = [am.Bins("age", list(range(0, 121, 10))), am.Dates("seen")]
    assert [axis.options for axis in bound(ask(cut)).axes] == [4 * 9, 17 * 32]
    columns = {**COLUMNS, "old": am.Interval(0, 120)}
    record = {"age": 33, "seen": "2021-05-05", "old": 33, "pay": 130}
    query = ask([*cut, am.Bins("old", list(range(0, 121, 10)))], record=record)
    frame = staff(5).assign(old=1.0)
    axes = bind_for_everyone(query, declare(frame, columns=columns).declaration).axes
    assert [axis.options for axis in axes] == [5, 7, 5]


@pytest.mark.parametrize(("bins", "dyadic"), [(100, False), (200, True)])
def test_a_preview_says_if_not_all_intervals_are_looked_at(bins: int, dyadic: bool) -> None:
    columns = {name: am.Interval(0, 200) for name in ("a", "b", "pay")}
    frame = pandas.DataFrame({name: [1.0] for name in columns})
    cut = [am.Bins(name, np.linspace(0, 200, bins + 1).tolist()) for name in ("a", "b")]
    query = ask(cut, record={"a": 77, "b": 77, "pay": 9})
    found = bind_for_everyone(query, declare(frame, columns=columns).declaration)
    assert isinstance(found.axes[0], Dyadic) == dyadic
    assert ("groups (of intervals, those of 1, 2, 4, … neighbours" in found.expect().error) == dyadic


def test_above_two_to_the_24_subsets_a_sample_is_drawn_and_the_preview_says_so() -> None:
    columns = {
        **{f"a{number}": am.Categories(list("abcdefgh")) for number in range(4)},
        "pay": am.Interval(0, 9),
    }
    draw = np.random.default_rng(1)
    frame = pandas.DataFrame({f"a{number}": draw.choice(list("abcdefgh"), 300) for number in range(4)})
    dataset = am.Dataset(frame.assign(pay=1.0), name="t", columns=columns, public=True)
    query = am.Explain(
        record={**{f"a{number}": "a" for number in range(4)}, "pay": 8},
        metric="pay",
        attributes=[f"a{number}" for number in range(4)],
        among="subsets",
        steps=64,
        epsilon=2,
    )
    found = query.bind(dataset.declaration)
    assert isinstance(found, EveryoneBinding)
    assert (found.sampled, found.listed) == (True, 20_016)
    assert "a sample of 20,016 groups" in found.expectation.error
    assert am.simulate(query, dataset, seed=1).value.groups
    empty = am.Dataset(frame.assign(pay=1.0).iloc[:0], name="t", columns=columns, public=True)
    assert am.simulate(query, empty, seed=1).value.groups == ()


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"detector": "lof"}, "detector", "Cite rule="),
    ({"detector": "grubbs"}, "detector", "Cite rule="),
    ({"detector": "mad"}, "detector", "Cite rule="),
    ({"utility": "overlap"}, "utility", "Cite rule="),
    ({"target": {"job": ["Nurse"]}}, "target", "Cite rule="),
    ({"start": {"job": ["Nurse"]}}, "start", "Cite rule="),
    ({"search": "uniform"}, "search", "Cite rule="),
    ({"samples": 7}, "samples", "Cite rule="),
    ({"tries": 7}, "tries", "Cite rule="),
    ({"starts": 7}, "starts", "Cite rule="),
    ({"detector": "fances"}, "detector", "Did you mean fence"),
    ({"detector": "rare"}, "parameters", "radius"),
    ({"detector": "rare", "parameters": {"radius": -1}}, "parameters", "radius"),
    ({"parameters": {"factor": 0}}, "parameters", "factor"),
    ({"parameters": {"factor": 1e-9}}, "parameters", "factor"),
    ({"parameters": {"k": 3}}, "parameters", "factor"),
    ({"detector": "histogram", "parameters": {"share": 0.7}}, "parameters", "share"),
    ({"metric": "job"}, "metric", "Interval"),
    ({"attributes": ["job", "job"]}, "attributes", "once"),
    ({"attributes": ["job", "pay"]}, "attributes", "metric"),
    ({"attributes": ["seen"], "record": {"seen": "2021-05-05", "pay": 1}}, "attributes", "am.Dates"),
    ({"attributes": [am.Dates("job")]}, "attributes", "Name the column itself"),
    ({"record": {"job": "Nurse"}}, "record", "Give job, pay"),
    ({"record": {"job": "Pilot", "pay": 1}}, "record", "Values"),
    ({"record": {"job": "Nurse", "pay": 301}}, "record", "0 to 300"),
    ({"record": {"job": "Nurse", "pay": "200,00"}}, "record", "a number is wanted. Give it as a number"),
    ({"record": {"job": "Nurse", "pay": "200.00"}}, "record", "such as 1234.5; pay is 0 to 300"),
    (
        {"attributes": [am.Bins("age", [0, 40, 120])], "record": {"age": "33,5", "pay": 1}},
        "record",
        "a text for age, where a number is wanted",
    ),
    ({"rule": "groups"}, "rule", "there is none"),
    ({"rule": "groups", "groups": 2}, "rule", "there is none"),
    ({"epsilon": "0.000000001"}, "epsilon", "larger"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "named", "step"), BAD, ids=lambda item: str(item)[:50])
def test_what_does_not_fit_is_refused_before_the_charge_with_a_next_step(
    fields: dict[str, Any], named: str, step: str, tmp_path: Path
) -> None:
    curator = am.Curator(declare(staff(20), public=False), budget=10, ledger=tmp_path / "staff.ledger")
    with pytest.raises((InputError, RuleNotDeclared)) as refused:
        curator.ask(ask(**{"attributes": ["job"], **fields}))
    assert refused.value.field == named
    assert step in str(refused.value)
    assert curator.spent == 0


@pytest.mark.parametrize(
    "fields",
    [{"groups": 0}, {"groups": 21}, {"why": 1}, {"why": -0.1}, {"why": "x"}, {"steps": 1}, {"among": "all"}],
    ids=str,
)
def test_numbers_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ask(["job"], **fields)


def test_what_is_for_everyone_is_refused_under_a_rule() -> None:
    declaration = declare(staff(5), rules={"groups": am.SameContexts()}).declaration
    for fields in ({"groups": 2}, {"why": 0.1}, {"steps": 7}, {"among": "subsets"}):
        with pytest.raises(InputError, match="leave the rule out"):
            ask(["job"], rule="groups", **fields).bind(declaration)
    with pytest.raises(InputError, match="leave the rule out"):
        ask([am.Dates("seen")], rule="groups").bind(declaration)


def test_the_reasons_have_a_share_of_their_own_and_may_have_none() -> None:
    assert bound(ask(["job"])).shares == {"group": 1_600_000_000, "why": 400_000_000}
    asked = bound(ask(["job"], why=0))
    assert asked.shares == {"group": 2_000_000_000}
    (group,) = am.simulate(ask(["job"], why=0), declare(), seed=1).value.groups
    assert (group.size, group.quartiles) == (None, None)


def test_where_too_few_are_in_a_group_its_quartiles_are_not_said() -> None:
    frame = staff(400)
    value = am.simulate(ask(["job"], epsilon=3), declare(frame), seed=4).value
    assert [group.quartiles for group in value.groups] == [None]
    assert "too few to say" in str(value)


def test_several_groups_are_not_too_like_each_other() -> None:
    value = am.simulate(ask(["job", "city"], among="subsets", groups=3, epsilon=20), declare(), seed=1).value
    assert len(value.groups) == 3

    sets = []
    for group in value.groups:
        jobs, cities = (
            set(part.values) if part.values else set(every)
            for part, every in zip(group.parts, (JOBS, CITIES), strict=True)
        )
        sets.append({(job, city) for job in jobs for city in cities})
    for place, one in enumerate(sets):
        for other in sets[:place]:
            assert 2 * len(one & other) < len(one | other)


def test_the_preview_says_which_margin_a_record_needs_and_a_plan_finds_an_epsilon(tmp_path: Path) -> None:
    curator = am.Curator(declare(staff(20), public=False), budget=10, ledger=tmp_path / "staff.ledger")
    preview = curator.preview(ask(["job", "city"]))
    assert "a record needs a margin of about 3 records, among 4 groups" in str(preview)
    plan = curator.plan(ask(["job", "city"]), for_error=20)
    again = curator.preview(ask(["job", "city"], epsilon=plan.epsilon)).expectation.measure
    assert again is not None
    assert again.number <= 20


def test_a_date_in_a_record_may_be_a_datetime() -> None:
    record = {"seen": pandas.Timestamp("2021-05-05").to_pydatetime(), "pay": 130}
    query = ask([am.Dates("seen")], record=record)
    assert dict(query.record)["seen"] == "2021-05-05T00:00:00"
    assert bound(query).axes[0].part(0).values == ("2021-05", "2021-05")


VERSION_1 = {
    "question": "explain", "record": {"job": "Nurse", "pay": 130}, "metric": "pay", "attributes": ["job"],
    "detector": "grubbs", "parameters": {}, "utility": "population", "target": {}, "search": "exact",
    "samples": 50, "tries": 10_000, "start": None, "starts": 200, "epsilon": "0.5",
}  # fmt: skip


def test_a_question_of_version_1_keeps_its_text_and_means_what_it_meant() -> None:
    query = am.Query.from_json(json.dumps(VERSION_1))
    assert query.schema_version == 1
    assert json.loads(query.to_json()) == VERSION_1
    assert ask(["job"]).schema_version == 2
    declaration = declare(staff(5), rules={"any name": am.SameContexts()}).declaration
    assert not isinstance(query.bind(declaration).relation, Everyone)
    assert isinstance(ask(["job"]).bind(declaration).relation, Everyone)
    # GroupPart of such a text is a question of today.
    some = {name: item for name, item in VERSION_1.items() if name not in ("utility", "detector")}
    assert am.Query.from_json(json.dumps(some)).schema_version == 2


def test_an_answer_of_version_1_is_read_as_a_context() -> None:
    kept = b'{"choices": [{"column": "job", "values": ["Nurse"], "bins": null}], "bits": "1000"}'
    context: Any = am.Explain.decode(BytesIO(kept))  # type: ignore[arg-type]
    assert isinstance(context, Context)
    assert am.Explain.decode(BytesIO(b"null")) is None  # type: ignore[arg-type]


def test_postgresql_counts_as_duckdb_does(postgres: str) -> None:
    import ibis

    frame = staff(300)
    ibis.connect(postgres).create_table("staff", frame)
    for dates in ("weekday", "month", "quarter", "year"):
        query = ask(["job", am.Bins("age", [0, 30, 40, 60]), am.Dates("seen", dates)], steps=32)  # type: ignore[arg-type]
        here, there = (
            count_steps_by_cell(dataset.table, bind_for_everyone(query, dataset.declaration))
            for dataset in (declare(frame), declare(postgres, table="staff"))  # type: ignore[arg-type]
        )
        assert here.cells.tolist() == there.cells.tolist()
        assert here.steps.tolist() == there.steps.tolist()
        assert here.counts.tolist() == there.counts.tolist()
