# SPDX-License-Identifier: Apache-2.0
"""The whole way: a table, its summary on an engine, the verdicts, a context."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymaly as am
from anonymaly.core.progress import listening
from anonymaly.detectors import DETECTORS
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.questions.explain.binding import bind
from anonymaly.questions.explain.inspect import contexts
from anonymaly.questions.explain.summary import summarise
from tests.places import Put

COLUMNS: dict[str, Any] = {
    "job": am.Categories(["Nurse", "Doctor", "Clerk"]),
    "night": am.Flag(),
    "age": am.Interval(0, 120),
    "pay": am.Interval(0, 100, 1),
}
ATTRIBUTES = ["job", "night", am.Bins("age", [0, 30, 60, 120])]
RECORD = {"job": "Nurse", "night": True, "age": 40, "pay": 60}


def declare(frame: pandas.DataFrame, **options: Any) -> am.Dataset:
    declared = {"name": "staff", "columns": COLUMNS, "rules": {"groups": am.SameContexts()}, "public": True}
    return am.Dataset(frame, **{**declared, **options})


def ask(**fields: Any) -> am.Explain:
    given_fields = {
        "record": RECORD,
        "metric": "pay",
        "attributes": ATTRIBUTES,
        "detector": "grubbs",
        "rule": "groups",
        "epsilon": 1,
    }
    return am.Explain(**{**given_fields, **fields})


rows = st.lists(
    st.fixed_dictionaries(
        {
            "job": st.sampled_from(["Nurse", "Doctor", None, "Pilot"]),
            "night": st.sampled_from([True, False, None]),
            "age": st.sampled_from([5, 29, 30, 59, 60, 120, 121, None]),
            "pay": st.sampled_from([None, 10, 11, 12, 12.4, 13, 14, 60, 61, 100, 130]),
        }
    ),
    max_size=25,
)
PARAMETERS = {"lof": {"k": 3}, "grubbs": {}, "histogram": {"fraction": 0.2}, "mad": {}}


def naive(table: list[dict[str, Any]], found: Any, detector: Any) -> list[bool]:
    """Filter the rows of each context, one by one, and run the plain detector on them."""
    members = [row for row in table if row["pay"] is not None]
    # The metric is moved into its bounds and onto its grid; halves go up.
    steps = [int(np.floor(min(max(row["pay"], 0), 100) + 0.5)) for row in members]
    position = next(
        (
            place
            for place, (row, step) in enumerate(zip(members, steps, strict=True))
            if (row["job"], row["night"], step) == ("Nurse", True, 60) and row["age"] in (30, 40, 59)
        ),
        None,
    )
    verdicts = []
    for index in range(len(found.valid)):
        context = found.context(index)
        inside = [place for place, row in enumerate(members) if context.contains(row)]
        verdict = position is not None and detector.is_outlier(
            [steps[place] for place in inside], inside.index(position)
        )
        verdicts.append(bool(verdict))
    return verdicts


@pytest.mark.parametrize("name", list(PARAMETERS))
@settings(max_examples=25, deadline=None)
@given(table=rows, present=st.integers(0, 2))
def test_the_valid_contexts_are_those_of_the_plain_detector_on_the_rows(
    name: str, table: list[dict[str, Any]], present: int
) -> None:
    table = table + [RECORD] * present
    frame = pandas.DataFrame(table, columns=["job", "night", "age", "pay"])
    frame["night"] = frame["night"].astype("boolean")
    found = contexts(declare(frame), ask(detector=name, parameters=PARAMETERS[name]))
    detector = type(DETECTORS[name])(**PARAMETERS[name])
    assert found.valid.tolist() == naive(table, found, detector)
    inside = [
        sum(1 for row in table if row["pay"] is not None and found.context(index).contains(row))
        for index in range(len(found.valid))
    ]
    if found.valid.any():
        assert found.utilities.tolist() == inside


def many(number: int = 400) -> pandas.DataFrame:
    draw = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {
            "job": draw.choice(["Nurse", "Doctor", "Clerk"], number),
            "night": draw.random(number) < 0.5,
            "age": draw.integers(18, 70, number).astype(float),
            "pay": draw.normal(30, 6, number).round().clip(0, 100),
        }
    )
    return pandas.concat([frame, pandas.DataFrame([RECORD])], ignore_index=True)


@pytest.mark.parametrize("name", list(PARAMETERS))
def test_postgresql_gives_the_same_summary_as_duckdb(name: str, postgres: str) -> None:
    frame = many()
    connection = ibis.connect(postgres)
    connection.create_table("staff", frame)
    query = ask(detector=name, parameters=PARAMETERS[name])
    summaries = []
    for dataset in (declare(frame), declare(postgres, table="staff")):  # type: ignore[arg-type]
        summaries.append(summarise(dataset.table, bind(query, dataset.declaration)))
    for first, second in zip(_arrays(summaries[0]), _arrays(summaries[1]), strict=True):
        np.testing.assert_array_equal(first, second)


def _arrays(item: Any) -> list[Any]:
    if item is None or isinstance(item, bool):
        return [np.asarray(item is not None and item)]
    if isinstance(item, np.ndarray):
        return [item]
    if isinstance(item, int | list):
        return [np.asarray(item)]
    parts = vars(item).values()
    return [array for part in parts for array in _arrays(part)]


@pytest.mark.parametrize("search", ["exact", "uniform", "random_walk", "depth_first", "breadth_first"])
@pytest.mark.parametrize("utility", ["population", "overlap"])
def test_every_search_returns_a_valid_context(search: str, utility: str) -> None:
    dataset = declare(many())
    query = ask(search=search, utility=utility, target={"job": ["Nurse"]}, samples=10, epsilon=5)
    found = contexts(dataset, query)
    valid = {found.context(int(index)) for index in np.flatnonzero(found.valid)}
    assert valid
    for seed in range(5):
        assert am.simulate(query, dataset, seed=seed).value in valid


def test_progress_is_reported_in_groups_and_reaches_all_of_them() -> None:
    reported: list[tuple[str, int, int]] = []
    with listening(lambda *what: reported.append(what)):
        am.simulate(ask(), declare(many()), seed=1)
    size = len(contexts(declare(many()), ask()).valid)
    assert reported
    assert {(unit, total) for unit, _, total in reported} == {("groups", size)}
    assert reported[-1][1] == size


def test_with_much_epsilon_the_exact_search_returns_the_best_context() -> None:
    dataset = declare(many())
    found = contexts(dataset, ask())
    best = found.utilities[found.valid].max()
    for seed in range(5):
        chosen = am.simulate(ask(epsilon=500), dataset, seed=seed).value
        (index,) = [place for place in range(len(found.valid)) if found.context(place) == chosen]
        assert found.utilities[index] == best


@pytest.mark.parametrize(
    "fields",
    [
        {"record": {**RECORD, "pay": 59}},  # no such record
        {"record": {"job": "Clerk", "night": True, "age": 40, "pay": 30}, "detector": "histogram"},
        {"search": "uniform", "tries": 1, "detector": "mad", "parameters": {"threshold": 90}},
        {"search": "breadth_first", "start": {"job": ["Nurse", "Doctor"], "night": [True]}, "detector": "mad",
         "parameters": {"threshold": 90}},
    ],
)  # fmt: skip
def test_what_has_no_answer_has_one_constant_outcome_and_is_charged(
    fields: dict[str, Any], tmp_path: Path
) -> None:
    rule = am.SameContexts(
        detectors={"grubbs": {}, "histogram": {}, "mad": {"threshold": [90]}},
        start=True,
        bins=[ATTRIBUTES[2]],
    )
    dataset = declare(many(), public=False, rules={"groups": rule})
    curator = am.Curator(dataset, budget=10, ledger=tmp_path / "staff.ledger")
    answer = curator.ask(ask(**fields))
    assert answer.value is None
    assert answer.charged == 1
    assert str(answer).startswith(
        "no group: there is no such record, or it stands out in none, or the given start is not one of them, "
        "or the search missed all of them in its tries\n"
    )


BAD: list[tuple[dict[str, Any], str]] = [
    ({"attributes": ["job", "town"]}, "town"),
    ({"attributes": ["job", "job"]}, "twice"),
    ({"attributes": ["age"]}, "Bins"),
    ({"attributes": ["job", "pay"]}, "metric"),
    ({"attributes": [am.Bins("job", [0, 1])]}, "bins"),
    ({"attributes": []}, "attributes"),
    ({"metric": "job"}, "numeric"),
    ({"metric": "height"}, "height"),
    ({"record": {"job": "Nurse"}}, "record"),
    ({"record": {**RECORD, "job": "Pilot"}}, "job"),
    ({"record": {**RECORD, "age": 200}}, "age"),
    ({"record": {**RECORD, "pay": 200}}, "pay"),
    ({"record": {**RECORD, "pay": "60,00"}}, "a text for pay, where a number is wanted"),
    (
        {
            "attributes": [am.Bins("age", [0, 40, 120])],
            "record": {"age": "40,5", "pay": 60},
        },
        "a text for age, where a number is wanted",
    ),
    ({"record": {**RECORD, "pay": None}}, "record"),
    ({"record": {**RECORD, "name": "x"}}, "name"),
    ({"detector": "oracle"}, "detector"),
    ({"parameters": {"level": 1}}, "parameters"),
    ({"search": "luck"}, "search"),
    ({"utility": "beauty"}, "utility"),
    ({"samples": 0}, "samples"),
    ({"search": "breadth_first", "start": {"job": ["Doctor"]}}, "own value"),
    ({"search": "breadth_first", "start": {"town": ["x"]}}, "town"),
    (
        {
            "attributes": ["job", am.Bins("age", list(range(0, 121, 4)))],
            "record": {"job": "Nurse", "age": 40, "pay": 60},
        },
        r"2\^31 contexts; .*search='uniform', which draws groups blindly",
    ),
    (
        {
            "attributes": ["job", am.Bins("age", list(range(121)))],
            "record": {"job": "Nurse", "age": 40, "pay": 60},
            "search": "uniform",
        },
        "121 values besides the record's own; 62 can be searched",
    ),
    ({"detector": "lof", "parameters": {"k": 2.5}}, "k should be a whole number from 1 to 10,000, not 2.5"),
    ({"detector": "lof", "parameters": {"k": 2.0}}, "whole number"),
    ({"detector": "lof", "parameters": {"k": True}}, "whole number"),
    ({"detector": "lof", "parameters": {"k": 10**10}}, "from 1 to 10,000"),
    ({"detector": "lof", "parameters": {"k": 2**63}}, "from 1 to 10,000"),
    ({"detector": "lof", "parameters": {"threshold": True}}, "threshold"),
    ({"detector": "lof", "parameters": {"threshold": 10**400}}, "threshold"),
    ({"detector": "mad", "parameters": {"threshold": 10**400}}, "threshold"),
    ({"detector": "grubbs", "parameters": {"alpha": 1e-320}}, "alpha should lie between 1e-300 and 0.5"),
    ({"search": "uniform", "tries": 10**12}, "1,000,000,000,000 are more than uniform takes"),
    ({"search": "uniform", "samples": 10**6}, "at most 100,000"),
    ({"search": "breadth_first", "samples": 10**5}, "at most 10,000"),
    ({"search": "depth_first", "starts": 10**5}, "at most 10,000"),
]


def test_blind_samples_are_many_and_those_that_cost_epsilon_few() -> None:
    declaration = declare(many(50)).declaration

    def samples(**fields: Any) -> int | None:
        return bind(ask(**fields), declaration).query.samples

    assert samples(search="uniform") == 20_000
    assert samples(search="uniform", detector="mad") == 1_000
    assert samples(search="uniform", samples=7) == 7
    # What was asked before stays the same question, and its answer free.
    assert [samples(search=name) for name in ("exact", "random_walk", "breadth_first")] == [50, 50, 50]


def test_seven_attributes_are_refused_with_a_next_step(tmp_path: Path) -> None:
    names = [f"a{number}" for number in range(7)]
    columns = {**{name: am.Flag() for name in names}, "pay": am.Interval(0, 100)}
    frame = pandas.DataFrame({**{name: [True, False] for name in names}, "pay": [1, 2]})
    curator = am.Curator(declare(frame, columns=columns), budget=10, ledger=tmp_path / "staff.ledger")
    record = {**dict.fromkeys(names, True), "pay": 1}
    with pytest.raises(InputError, match=r"attributes: are 7; groups are made of at most 6. Use fewer"):
        curator.ask(ask(attributes=names, record=record))
    assert curator.spent == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"detector": "lof", "parameters": {"threshold": 10**30}},
        {"detector": "lof", "parameters": {"k": 10_000}},
        {"detector": "grubbs", "parameters": {"alpha": 1e-300}},
    ],
    ids=str,
)
def test_the_largest_parameters_are_answered_whether_the_record_is_there_or_not(
    fields: dict[str, Any],
) -> None:
    frame = many(40)
    for table in (frame, frame.iloc[:-1]):
        am.simulate(ask(**fields), declare(table), seed=1)


def test_the_smallest_interval_there_is_has_steps(put: Put) -> None:
    metric = am.Interval(0, 5e-324)
    record = {"job": "Nurse", "pay": 5e-324}
    table = pa.table({"job": ["Nurse"] * 12, "pay": [0.0] * 11 + [5e-324]})
    query = ask(attributes=["job"], record=record, parameters={"alpha": 0.05})
    columns = {"job": COLUMNS["job"], "pay": metric}
    dataset = am.Dataset(**put(table), name="staff", columns=columns, rules={"groups": am.SameContexts()})
    assert summarise(dataset.table, bind(query, dataset.declaration)).counts.present


def test_no_row_is_too_small_for_a_wide_metric(put: Put) -> None:
    """PostgreSQL fails where a quotient is too small for a number; one row must not bring that about."""
    table = pa.table({"job": ["Nurse"] * 4, "pay": [0.0, 1e-300, 1e299, 1e300]})
    columns = {"job": COLUMNS["job"], "pay": am.Interval(0, 1e300)}
    rules = {"groups": am.SameContexts()}
    query = ask(attributes=["job"], record={"job": "Nurse", "pay": 1e300})
    summaries = []
    for options in ({"source": table}, put(table)):
        dataset = am.Dataset(**options, name="staff", columns=columns, rules=rules)
        summaries.append(summarise(dataset.table, bind(query, dataset.declaration)))
    for first, second in zip(_arrays(summaries[0]), _arrays(summaries[1]), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("fields", "named"), BAD, ids=lambda item: str(item)[:50])
def test_bad_input_is_refused_before_anything_is_spent(
    fields: dict[str, Any], named: str, tmp_path: Path
) -> None:
    curator = am.Curator(declare(many(50), public=False), budget=10, ledger=tmp_path / "staff.ledger")
    with pytest.raises(InputError, match=named):
        curator.ask(ask(**fields))
    with pytest.raises(InputError, match="epsilon"):
        am.Explain(
            **{name: item for name, item in ask().to_dict().items() if name not in ("epsilon", "question")}
        )
    assert curator.spent == 0


@pytest.mark.parametrize(
    "rules", [{}, {"pay": am.SameContexts(metrics=["age"])}, {"other": am.Policy("night")}], ids=str
)
def test_an_owner_who_declared_no_such_rule_is_asked_first(rules: dict[str, Any], tmp_path: Path) -> None:
    dataset = declare(many(50), public=False, rules=rules)
    curator = am.Curator(dataset, budget=10, ledger=tmp_path / "staff.ledger")
    with pytest.raises(RuleNotDeclared):
        curator.ask(ask())
    assert curator.spent == 0


def test_a_context_is_the_same_as_text_filter_bits_and_json() -> None:
    frame = many(200)
    dataset = declare(frame)
    context = am.simulate(ask(), dataset, seed=3).value
    again = type(context).read(context.to_dict())
    assert again == context
    table = dataset.table
    filtered = table.filter(context.to_ibis(table)).count().execute()
    by_text = am.simulate(am.Count(where=context.expression, epsilon=500), dataset, seed=0).value
    by_rows = sum(context.contains(row) for row in frame.to_dict("records"))
    assert filtered == by_text == by_rows
    assert len(context.bits) == 3 + 2 + 3


def test_the_owner_finds_a_record_by_its_key() -> None:
    frame = many(20).assign(id=range(21))
    dataset = declare(frame, key="id", columns={**COLUMNS, "id": am.Opaque()})
    assert am.inspect.record(dataset, 20, ["job", "night", "age", "pay"]) == RECORD
    with pytest.raises(InputError, match="no row"):
        am.inspect.record(dataset, 99, ["job"])
    with pytest.raises(InputError, match="key"):
        am.inspect.record(declare(frame), 1, ["job"])


def test_inspection_says_that_it_is_for_the_owner_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = am.inspect.context_match(declare(many(60)), ask(), changes=(1, 5), neighbours=10)
    assert set(found) == {1, 5}
    assert 0 <= found[5] <= found[1] <= 1
    assert "owner alone" in capsys.readouterr().err


@pytest.mark.slow
def test_the_answers_law_is_that_of_the_mechanism() -> None:
    """With ε = 1 and utilities a few apart, the best context must not always win."""
    dataset = declare(many(30))
    drawn = Counter(str(am.simulate(ask(epsilon="0.05"), dataset, seed=seed).value) for seed in range(60))
    assert len(drawn) > 3
