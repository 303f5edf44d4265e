# SPDX-License-Identifier: Apache-2.0
"""Why a record scores as it does, in parts, words and a picture, and the model under PyOD's names."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.errors import InputError
from anonymaly.questions.score.reasons import _share

COLUMNS: dict[str, Any] = {
    "age": am.Interval(0, 100),
    "pay": am.Interval(0, 200_000),
    "ward": am.Categories(["A", "B", "C"], other="elsewhere"),
    "seen": am.Timestamps("2024-01-01", "2024-12-31"),
}


def records(rows: int = 2000) -> pd.DataFrame:
    random = np.random.default_rng(1)
    age = random.uniform(20, 80, rows)
    return pd.DataFrame(
        {
            "age": age,
            "pay": age * 1000 + random.normal(0, 3000, rows),
            "ward": random.choice(["A", "B"], rows, p=[0.95, 0.05]),
            "seen": datetime(2024, 6, 1),
        }
    )


def model_of(**options: Any) -> am.Model:
    table = am.Dataset(records(), name="t", columns=COLUMNS, public=True)
    query = am.Score(columns=list(COLUMNS), **{"rows": 2000, "epsilon": 20, **options})
    model: am.Model = am.simulate(query, table, seed=2).value
    return model


USUAL = {"age": 30.0, "pay": 30_000.0, "ward": "A", "seen": datetime(2024, 6, 1)}


@pytest.fixture(scope="module")
def model() -> am.Model:
    return model_of(contamination="0.05", pair_bins=8)


def test_the_parts_of_a_record_sum_to_its_score(model: am.Model) -> None:
    frame = records(50).assign(ward=None)
    for rule in ("skip", "value"):
        reasons = model.reasons(frame, missing=rule)
        assert reasons.scores == pytest.approx(model.score(frame, missing=rule))
        assert [reason.unusual for reason in reasons] == model.is_unusual(frame, missing=rule).tolist()


CHANGES: list[tuple[dict[str, Any], tuple[str, ...], str]] = [
    ({"ward": "C"}, ("ward",), r"ward C: (under|under about|about) 0\.\d+ % of the records have it"),
    ({"ward": "X"}, ("ward",), r"ward \(elsewhere\): (under|about) "),
    ({"age": 95.0}, ("age",), "age 95: .* of the records lie between"),
    ({"pay": 500_000.0}, ("pay",), "pay 200,000 or more: .* of the records lie between .* and 200,000"),
    ({"seen": datetime(2024, 1, 5)}, ("seen",), "seen 2024-01-05: .* lie between 2024-"),
]


@pytest.mark.parametrize(("change", "columns", "words"), CHANGES, ids=[words for _, _, words in CHANGES])
def test_the_column_that_makes_a_record_odd_is_named_first_among_columns(
    model: am.Model, change: dict[str, Any], columns: tuple[str, ...], words: str
) -> None:
    (reason,) = model.reasons([{**USUAL, **change}], named=20)
    alone = [part for part in reason.parts if len(part.columns) == 1]
    assert alone[0].columns == columns
    assert pd.Series([alone[0].words]).str.match(words).all(), alone[0].words


def test_a_broken_relation_of_two_columns_is_named_as_a_pair(model: am.Model) -> None:
    (reason,) = model.reasons([{**USUAL, "age": 75.0, "pay": 25_000.0}])
    pairs = [part for part in reason.parts if set(part.columns) == {"age", "pay"}]
    assert pairs, reason
    assert "would if they were unrelated" in pairs[0].words


def test_what_is_named_says_something(model: am.Model) -> None:
    said = re.compile(r"(about|under|under about) ([\d.]+) % of the records have both(?:, ([\d.]+) % would)?")
    for reason in model.reasons(records(200).assign(ward="C"), named=20):
        for part in reason.parts:
            assert part.part >= 0.05, "a value that is hardly rarer than usual is no reason"
            found = said.search(part.words)
            if found and found[3]:
                assert float(found[3]) > float(found[2]), f"more would be expected: {part.words}"


def test_what_a_share_is_said_to_be_under_is_rounded_up() -> None:
    for least in (0.0142, 0.0041, 0.2101, 0.00961):
        number = float(_share(0.0, least).removeprefix("under about ").removesuffix(" %"))
        assert number / 100 >= least


def test_a_record_like_the_others_is_not_said_to_be_one_of_few() -> None:
    assert not any("few records" in str(reason) for reason in model_of().reasons(records(200)))


def test_where_there_is_more_noise_than_records_no_share_is_told() -> None:
    for reason in model_of(epsilon="0.001").reasons(records(20)):
        for part in reason.parts:
            assert not re.search(r"under (about )?\d\d\d", part.words)
            assert "noise hides how many of the records" in part.words


def test_a_missing_value_has_words_of_its_own_where_it_counts(model: am.Model) -> None:
    (reason,) = model.reasons([{**USUAL, "ward": None}], missing="value")
    assert any(part.words.startswith("ward is missing: ") for part in reason.parts)
    (left_out,) = model.reasons([{**USUAL, "ward": None}], named=20)
    assert not any(part.columns == ("ward",) for part in left_out.parts)


def test_the_oddest_come_first_with_the_rows_they_were_given_in(model: am.Model) -> None:
    frame = records(200)
    frame.loc[120, "ward"] = "C"
    frame.loc[120, "age"] = 99.0
    reasons = model.reasons(frame)
    top = reasons.top(5)
    assert top[0].row == 120
    assert [reason.score for reason in top] == sorted(reasons.scores, reverse=True)[:5]
    assert [reason.row for reason in top[1:3]] == [top[1].row, top[2].row]
    told = json.loads(json.dumps(top.to_dict()))
    assert set(told[0]) == {"row", "score", "unusual", "reasons"}
    assert str(top).splitlines()[1].split()[0] == "120"
    with pytest.raises(InputError, match="from 1 on"):
        reasons.top(0)


def test_their_text_is_the_same_in_a_notebook_and_displays_nothing(
    model: am.Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = model.reasons(records(30)).top(3)
    elsewhere = str(top)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert (str(top), capsys.readouterr().out) == (elsewhere, "")


def test_a_picture_has_a_bar_for_each_named_part_and_no_markup_of_the_records(model: am.Model) -> None:
    top = model.reasons(records(30)).top(3)
    picture = top.svg()
    paper = 1
    assert picture.count("<rect") == paper + sum(len(reason.parts) for reason in top)
    named = model.with_columns(["<b>age</b>", "pay", "ward", "seen"])
    odd = {"<b>age</b>": 99.0, "pay": 3.0, "ward": "C", "seen": None}
    page = named.reasons([odd])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;age" in page


def test_all_numbers_together_are_no_pair_in_words_or_picture() -> None:
    model = model_of()
    assert model.method.parameters()["sketches"] > 0
    (reason,) = reasons = model.reasons([{**USUAL, "age": 75.0, "pay": 25_000.0}], named=20)
    together = next(part for part in reason.parts if len(part.columns) > 2)
    assert together.columns == ("age", "pay", "seen")
    assert together.words.startswith("all numbers together (age, pay, seen): ")
    assert "all numbers together" in reasons.svg()
    assert "age with pay" not in reasons.svg()


def test_models_of_marginals_have_reasons_too_and_distances_have_none() -> None:
    table = am.Dataset(
        records()[["age", "pay"]], name="t", columns={n: COLUMNS[n] for n in ("age", "pay")}, public=True
    )
    options = {"columns": ["age", "pay"], "rows": 2000, "epsilon": 20}
    marginals = am.simulate(am.Score(method="marginals", **options), table, seed=1).value
    frame = pd.DataFrame({"age": [30.0, 75.0], "pay": [30_000.0, 25_000.0]})
    reasons = marginals.reasons(frame)
    assert reasons.scores == pytest.approx(marginals.score(frame))
    assert reasons.top(1)[0].row == 1
    grid = am.simulate(am.Score(method="grid", **options), table, seed=1).value
    with pytest.raises(InputError, match="is a distance, which has no parts"):
        grid.reasons(frame)


def test_pyod_names_score_like_the_model_and_hold_no_scores_of_private_rows(model: am.Model) -> None:
    frame = records(100)
    named = model.as_pyod()
    assert (named.decision_function(frame) == model.score(frame)).all()
    assert named.predict(frame).tolist() == model.is_unusual(frame).astype(int).tolist()
    assert named.threshold_ == model.threshold
    assert named.contamination == 0.05
    assert not hasattr(named, "decision_scores_")
    assert not hasattr(named, "labels_")
    with pytest.raises(InputError, match="rows that are public as public_rows"):
        _ = named.decision_scores_
    public = model.as_pyod(frame)
    assert (public.decision_scores_ == model.score(frame)).all()
    assert public.labels_.tolist() == named.predict(frame).tolist()


def test_pyod_names_have_no_threshold_where_the_model_has_none() -> None:
    named = model_of(bins=8, pair_bins=0).as_pyod()
    assert not hasattr(named, "threshold_")
    with pytest.raises(InputError, match="with_quantile"):
        named.predict([USUAL])
