# SPDX-License-Identifier: Apache-2.0
"""The question as it is asked: one record or many, cited or written out, refused before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.ask.query import Query
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import Everyone, SensitiveRecords
from anonymaly.questions.identify.binding import bind
from anonymaly.questions.identify.verdicts import flip_probability

COLUMNS: dict[str, Any] = {
    "age": am.Interval(0, 120),
    "bmi": am.Interval(10, 70),
    "ward": am.Categories(["A", "B", "C"]),
    "adult": am.Flag(),
}
RULES: dict[str, Any] = {
    "rare": am.AnomalyModel(["age", "bmi"], radius=2, beta=18, k=2),
    "all": am.AnomalyModel(["age", "bmi"], radius=2, beta=3, k=3),
    "exact": am.AnomalyModel(["ward", "adult"], radius=0, beta=5, k=1),
    "adults": am.Policy("age >= 18"),
}
RECORD = {"age": 97, "bmi": 51}


def people(number: int = 500) -> pandas.DataFrame:
    draw = np.random.default_rng(3)
    frame = pandas.DataFrame(
        {
            "age": draw.normal(45, 5, number).round().clip(0, 120),
            "bmi": draw.normal(25, 2, number).round(1).clip(10, 70),
            "ward": draw.choice(["A", "B"], number),
            "adult": True,
        }
    )
    frame.loc[len(frame)] = [97, 51, "C", True]
    return frame


def declare(frame: pandas.DataFrame | None = None, **options: Any) -> am.Dataset:
    given = {"name": "patients", "columns": COLUMNS, "rules": RULES, **options}
    return am.Dataset(people() if frame is None else frame, **given)


@pytest.fixture
def open_curator(tmp_path: Path) -> Callable[..., am.Curator]:
    def open_curator(adjacency: Any = "add_remove", **options: Any) -> am.Curator:
        return am.Curator(
            declare(**options), budget=100, adjacency=adjacency, ledger=tmp_path / "patients.ledger"
        )

    return open_curator


def ask(**fields: Any) -> am.Identify:
    return am.Identify(**{"record": RECORD, "model": "rare", "epsilon": 50, **fields})


def test_a_clear_question_has_a_true_answer(open_curator: Callable[..., am.Curator]) -> None:
    curator = open_curator()
    assert curator.ask(ask()).value is True
    assert curator.ask(ask(record={"age": 45, "bmi": 25})).value is False
    assert "an anomaly" in str(curator.ask(ask()))


def test_a_batch_is_answered_in_order_whatever_holds_it() -> None:
    frame = pandas.DataFrame({"bmi": [51, 25.0, 30, 51], "age": [97, 45, 60, 97]})
    expected = [True, False, False, True]
    dataset = declare(public=True)
    forms: list[Any] = [
        frame,
        frame.set_index(np.array([7, 3, 9, 1])),
        polars.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.to_dict("records"),
        frame.to_dict("list"),
        {name: column.to_numpy() for name, column in frame.items()},
    ]
    queries = [ask(records=form, record=None) for form in forms]
    for query in queries:
        assert am.simulate(query, dataset, seed=1).value == expected
    resolved = {query.bind(dataset.declaration).query for query in queries}
    assert len(resolved) == 1, "the same records are one question, whatever held them"


def test_whole_numbers_and_floats_are_one_question() -> None:
    declaration = declare().declaration
    forms = [RECORD, {"bmi": 51.0, "age": np.float64(97)}, {"age": np.int64(97), "bmi": 51}]
    prints = {ask(record=form).bind(declaration).fingerprint() for form in forms}
    assert len(prints) == 1


def test_a_question_read_from_json_is_the_same_question() -> None:
    for query in (
        ask(),
        ask(record={"age": 97.5, "bmi": 50.1}),
        ask(record=None, records={"age": [1, 2.5], "bmi": [20, 30]}),
        ask(model=None, columns=["age"], radius=0.25, beta=3, guarantee="differential", record={"age": 3}),
    ):
        assert Query.from_json(query.to_json()) == query


def test_the_ledger_holds_no_record(open_curator: Callable[..., am.Curator], tmp_path: Path) -> None:
    curator = open_curator()
    curator.ask(ask(record={"age": 97.125, "bmi": 51}))
    curator.ask(ask(record=None, records={"age": [97.125, 31.0625], "bmi": [51, 20]}))
    entries = json.dumps([entry.to_dict() for entry in curator.accountant.ledger.entries("patients")])
    assert "97.125" not in entries
    assert "31.0625" not in entries
    assert b"97.125" not in (tmp_path / "patients.ledger").read_bytes()


@pytest.mark.parametrize(
    ("options", "divided_by"),
    [
        ({}, 1),
        ({"adjacency": "replace"}, 2),
        ({"person": "ward", "max_rows": 3}, 3),
        ({"person": "ward", "max_rows": 3, "adjacency": "replace"}, 6),
    ],
    ids=str,
)
def test_the_charge_is_divided_by_all_that_a_person_can_touch(
    options: dict[str, Any], divided_by: int
) -> None:
    adjacency = options.pop("adjacency", "add_remove")
    declaration = declare(**options).with_adjacency(adjacency)
    apart = {"age": [10, 50, 90], "bmi": [20, 20, 20]}
    together = {"age": [10, 11, 90], "bmi": [20, 20, 20]}
    for records, overlap in ((apart, 1), (together, 2)):
        bound = bind(ask(record=None, records=records, epsilon="0.3"), declaration)
        assert bound.overlap == overlap
        assert bound.rate == Fraction("0.3") / (divided_by * overlap)
    assert bound.k == 2 + options.get("max_rows", 1) - 1
    relation = ask().bind(declaration).relation
    assert (relation.adjacency, relation.rows) == (adjacency, options.get("max_rows"))
    assert isinstance(relation, SensitiveRecords)
    assert relation.model == RULES["rare"], "the promise is at the declared k"


def test_a_rate_with_terms_too_long_for_the_noise_is_rounded_down() -> None:
    declaration = declare(person="ward", max_rows=999_983).with_adjacency("replace")
    crowd = {"age": [50] * 97, "bmi": [20] * 97}
    bound = bind(ask(record=None, records=crowd, epsilon="0.123456789"), declaration)
    exact = Fraction("0.123456789") / (999_983 * 2 * 97)
    assert exact - Fraction(1, 2**56) < bound.rate < exact
    assert bound.rate.denominator <= 2**56


def test_a_charge_too_small_to_divide_is_refused() -> None:
    declaration = declare(person="ward", max_rows=999_983).with_adjacency("replace")
    crowd = {"age": [50] * 97, "bmi": [20] * 97}
    with pytest.raises(InputError, match="too little") as refused:
        ask(record=None, records=crowd, epsilon="0.000000001").bind(declaration)
    assert refused.value.field == "epsilon"


def test_the_preview_says_what_each_answer_gets(open_curator: Callable[..., am.Curator]) -> None:
    records = {"age": [*np.arange(0, 120, 5.0), 50, 50], "bmi": [20.0] * 26}
    preview = open_curator().preview(ask(record=None, records=records, epsilon="0.3"))
    assert "26 records, at most 3 balls overlap: ε 0.1 each for a total of 0.3" in str(preview)
    details = preview.to_dict()["expected"]["details"]
    assert (details["records"], details["overlap"], details["epsilon_each"]) == (26, 3, pytest.approx(0.1))
    assert json.loads(json.dumps(details)) == details


def test_the_preview_has_the_probability_of_an_error_by_neighbours(
    open_curator: Callable[..., am.Curator],
) -> None:
    preview = open_curator().preview(ask(epsilon="0.1"))
    details = preview.expectation.details
    assert details is not None
    assert details["extra_error_at_most"] <= 1e-12
    curve = details["curve"]
    errors = dict(zip(curve["neighbours"], curve["present"], strict=True))
    absent = dict(zip(curve["neighbours"], curve["absent"], strict=True))
    rate = Fraction(1, 10)
    assert errors[0] is None
    assert errors[1] == float(flip_probability(rate, 17))  # 1+16: beta−k others come, then the copy may go
    assert errors[18] == errors[19] == float(flip_probability(rate, 1))
    assert absent[0] == float(flip_probability(rate, 17))
    assert max(filter(None, errors.values())) == errors[18]
    assert max(curve["neighbours"]) == 18 + bind(ask(epsilon="0.1"), open_curator().declaration).slack


def test_an_answer_does_not_carry_its_own_error(open_curator: Callable[..., am.Curator]) -> None:
    curator = open_curator()
    there, crowded = curator.ask(ask()), curator.ask(ask(record={"age": 45, "bmi": 25}))
    shown = [answer.to_dict() for answer in (there, crowded)]
    for answer in shown:
        for name in ("number", "value", "receipt", "remaining"):
            answer.pop(name)
    assert shown[0] == shown[1], "but for the value, an answer says what the preview said"


def test_differential_privacy_needs_no_rule_and_may_cite_one(open_curator: Callable[..., am.Curator]) -> None:
    curator = open_curator(rules={"rare": RULES["rare"]})
    written = ask(model=None, columns=["age", "bmi"], radius=2, beta=18, guarantee="differential")
    cited = ask(guarantee="differential")
    for query in (written, cited):
        answer = curator.ask(query)
        assert answer.guarantee.relation == Everyone()
        assert answer.value is True
        assert "differential privacy" in answer.expectation.noise
    bindings = [bind(query, curator.declaration) for query in (written, cited)]
    assert bindings[0].model.to_dict() == {**bindings[1].model.to_dict(), "k": 1}


def test_where_k_reaches_beta_the_answer_says_that_it_is_differential_privacy(
    open_curator: Callable[..., am.Curator],
) -> None:
    answer = open_curator().ask(ask(model="all"))
    assert answer.guarantee.relation == Everyone()
    assert "differential privacy, because k reaches beta" in str(answer)


def test_a_model_written_out_is_for_an_owner_alone_with_the_data(
    open_curator: Callable[..., am.Curator],
) -> None:
    written = ask(model=None, columns=["age", "bmi"], radius=2, beta=18, k=2)
    with pytest.raises(RuleNotDeclared):
        open_curator().ask(written)
    assert open_curator().spent == 0
    owner = declare(rules="any", name="alone")
    relation = written.bind(owner.declaration).relation
    assert relation == SensitiveRecords(None, RULES["rare"])


def test_a_model_of_exact_matches_takes_categories_and_flags(open_curator: Callable[..., am.Curator]) -> None:
    curator = open_curator()
    records = {"ward": ["C", "A", "B"], "adult": [True, True, False]}
    assert curator.ask(ask(model="exact", record=None, records=records)).value == [True, False, False]


def test_bounds_that_no_decimal_holds_exactly_still_match_their_rows() -> None:
    third = 1 / 3
    dataset = am.Dataset(
        pandas.DataFrame({"x": [third, 2 * third, 0.5, 1e6]}),
        name="thirds",
        columns={"x": am.Interval(third, 2 * third)},
        rules={"exact": am.AnomalyModel(["x"], radius=0, beta=5)},
        public=True,
    )
    for value in (third, 2 * third, 0.5):
        query = am.Identify(record={"x": value}, model="exact", epsilon=50)
        assert am.simulate(query, dataset, seed=1).value is True


def test_scaled_columns_are_divided_by_their_width() -> None:
    scaled = am.AnomalyModel(["age", "bmi"], radius=0.1, beta=2, scaled=True)
    frame = pandas.DataFrame({"age": [50, 62, 50, 63], "bmi": [20, 20, 26, 27]})
    columns = {name: COLUMNS[name] for name in ("age", "bmi")}
    dataset = am.Dataset(frame, name="scaled", columns=columns, rules={"rare": scaled}, public=True)
    # Within a tenth of the widths 120 and 60 of (50, 20) are itself, 12 years more, and 6 units more.
    query = am.Identify(record={"age": 50, "bmi": 20}, model="rare", epsilon=50)
    (stage,) = query.bind(dataset.declaration).stages
    assert stage.summarise(dataset.table, {}).within.tolist() == [3]


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"record": {"age": 121, "bmi": 51}}, "record", "not in its declared domain"),
    ({"record": {"age": "old", "bmi": 51}}, "record", "a text for age, where a number is wanted"),
    (
        {"record": None, "records": {"age": [1, "1,5"], "bmi": [20, 20]}},
        "records",
        "text for age in record 2",
    ),
    ({"record": {"age": True, "bmi": 51}}, "record", "not in its declared domain"),
    ({"record": {"age": float("nan"), "bmi": 51}}, "record", "no value of age"),
    ({"record": {"age": None, "bmi": 51}}, "record", "no value of age"),
    ({"record": {"age": float("inf"), "bmi": 51}}, "record", "finite"),
    ({"record": {"age": b"97", "bmi": 51}}, "record", "finite"),
    ({"record": {"age": [97, 98], "bmi": 51}}, "record", "several values of age"),
    ({"record": {"age": 97}}, "record", "has no bmi"),
    ({"record": {**RECORD, "ward": "A"}}, "record", "does not use"),
    ({"record": {}}, "record", "has no age"),
    ({"record": None}, "record", "is needed, or records"),
    ({"records": {"age": [1], "bmi": [20]}}, "record", "both given"),
    ({"record": None, "records": {"age": [1, 2], "bmi": [20]}}, "records", "different lengths"),
    ({"record": None, "records": {"age": [1, 200], "bmi": [20, 20]}}, "records", "age in record 2"),
    ({"record": None, "records": {"age": [1, np.nan], "bmi": [20, 20]}}, "records", "no value of age"),
    ({"record": None, "records": {"age": [], "bmi": []}}, "records", "holds no record"),
    ({"record": None, "records": []}, "records", "holds no record"),
    (
        {"record": None, "records": [{"age": 1, "bmi": 20}, {"age": 1}]},
        "records",
        "other columns in record 2",
    ),
    ({"record": None, "records": "new.csv"}, "records", "cannot be read from str"),
    ({"record": None, "records": {"age": 3, "bmi": 4}}, "records", "without a list"),
    ({"record": None, "records": pandas.DataFrame([[1, 2]], columns=["age", "age"])}, "records", "twice"),
    ({"model": "adults"}, "model", "not an anomaly model"),
    ({"model": None}, "model", "is needed"),
    ({"beta": 3}, "beta", "says it already"),
    ({"model": None, "guarantee": "differential"}, "columns", "is needed"),
    ({"model": None, "guarantee": "differential", "columns": ["age"]}, "radius", "is needed"),
    ({"guarantee": "differential", "k": 2}, "k", "says it already"),
    ({"guarantee": "local"}, "guarantee", "sensitive"),
    ({"extra_error": 0}, "extra_error", "must be above 0"),
    ({"extra_error": 1}, "extra_error", "must be below 1"),
    ({"bound": "best"}, "bound", "improved"),
    ({"epsilon": -1}, "epsilon", "positive"),
]
WRITTEN = {
    "model": None,
    "guarantee": "differential",
    "columns": ["age", "bmi"],
    "radius": 2,
    "beta": 18,
}
BAD += [
    ({**WRITTEN, "radius": -1}, "radius", "must be at least 0"),
    ({**WRITTEN, "radius": float("nan")}, "radius", "finite"),
    ({**WRITTEN, "radius": 1e300}, "radius", "must be 0 or from"),
    ({**WRITTEN, "beta": 0}, "beta", "must be at least 1"),
    ({**WRITTEN, "beta": 1.5}, "beta", "whole number"),
    ({**WRITTEN, "guarantee": "sensitive", "k": 0}, "k", "must be at least 1"),
    ({**WRITTEN, "k": 1}, "k", "protects all"),
    ({**WRITTEN, "columns": ["age", "age"]}, "columns", "twice"),
    ({**WRITTEN, "columns": ["age", "height"]}, "model.columns", "no declared column 'height'"),
    ({**WRITTEN, "columns": ["age", "ward"]}, "model.columns", "needs a numeric column"),
    ({**WRITTEN, "columns": []}, "columns", "at least 1"),
    ({**WRITTEN, "metric": "cosine"}, "metric", "euclidean"),
]


@pytest.mark.parametrize(("fields", "field", "reason"), BAD, ids=str)
def test_what_does_not_fit_is_refused_and_nothing_is_spent(
    fields: dict[str, Any], field: str, reason: str, open_curator: Callable[..., am.Curator]
) -> None:
    curator = open_curator()
    with pytest.raises(InputError) as refused:
        curator.ask(ask(**fields))
    assert refused.value.field == field
    assert reason in str(refused.value)
    for secret in ("97", "121", "51"):
        assert secret not in str(refused.value).replace("0 to 120", "")
    assert curator.spent == 0


def test_an_unknown_rule_is_refused_by_name(open_curator: Callable[..., am.Curator]) -> None:
    with pytest.raises(RuleNotDeclared, match=r"rare, all, exact"):
        open_curator().ask(ask(model="raer"))


def test_an_owner_cannot_declare_a_model_without_sense() -> None:
    for fields in ({"beta": 0}, {"k": 0}, {"radius": -1}, {"columns": ["age", "age"]}, {"columns": []}):
        with pytest.raises(InputError):
            am.AnomalyModel(**{"columns": ["age"], "radius": 1, "beta": 2, **fields})


def test_a_decimal_is_a_number_too() -> None:
    assert ask(record={"age": Decimal("97"), "bmi": Decimal("51")}) == ask(record={"age": 97.0, "bmi": 51.0})
    with pytest.raises(InputError, match="no value of bmi"):
        ask(record={"age": Decimal("97"), "bmi": Decimal("NaN")})


def test_numbers_beyond_all_tables_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="record"):
        am.simulate(ask(record={"age": 10**400, "bmi": 30}), declare(public=True), seed=1)
    with pytest.raises(InputError, match="beta"):
        am.AnomalyModel(["age"], radius=1, beta=2**62)
