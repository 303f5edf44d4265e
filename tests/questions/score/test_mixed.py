# SPDX-License-Identifier: Apache-2.0
"""Real columns: numbers, moments, labels and missing values, in the reference and in new records."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError, Refused
from anonymaly.noise import Noise
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_layout import FINE
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.model_file import write_model
from tests.places import Put

COLUMNS: dict[str, Any] = {
    "age": am.Interval(0, 100),
    "ward": am.Categories(["A", "B"]),
    "floor": am.Categories([1, 2, 3], other=-1),
    "smoker": am.Flag(),
    "seen": am.Timestamps("2024-01-01", "2024-12-31"),
}
FRAME = pd.DataFrame(
    {
        "age": [10.0, None, 30.0, 200.0, 40.0, 40.0],
        "ward": ["A", "B", "X", None, "A", "A"],
        "floor": pd.array([1, 2, 9, None, 1, 1], "Int64"),
        "smoker": pd.array([True, False, None, True, True, True], "boolean"),
        "seen": [
            None if text is None else datetime.fromisoformat(text)
            for text in (
                "2024-01-01",
                "2024-07-01",
                "2030-01-01",
                None,
                "2024-07-01",
                "2024-07-01 12:00:00.9",
            )
        ],
    }
)


def table(frame: pd.DataFrame = FRAME, **options: Any) -> am.Dataset:
    return am.Dataset(frame, **{"name": "t", "columns": COLUMNS, "public": True, **options})


def space() -> MixedSpace:
    bounds = {"age": (0.0, 100.0), "seen": (1704067200.0, 1735603200.0)}
    return MixedSpace.of(list(COLUMNS), list(COLUMNS.values()), bounds)


def sorted_rows(points: Any) -> list[tuple[float, ...]]:
    rows = np.asarray(points).tolist()
    return sorted(tuple(-1.0 if math.isnan(item) else item for item in row) for row in rows)


EXPECTED_FIRST = [0.1, 0.0, 0.0, 1.0, 0.0]


def test_a_record_has_the_same_coordinates_on_the_engine_and_in_numpy() -> None:
    found = collect(space().cube(table().table))
    on_engine = np.column_stack([column.to_numpy(zero_copy_only=False) for column in found.columns])
    here = space().points(FRAME)
    assert here[0].tolist() == EXPECTED_FIRST
    # Undeclared labels have a place of their own, what is outside is moved in, and nulls stay nulls.
    assert here[2, [1, 2, 4]].tolist() == [2.0, 3.0, 1.0]
    assert np.isnan(here[2, 3])
    assert here[3, 0] == 1.0
    assert np.isnan(here[3, 1:3]).all()
    assert sorted_rows(on_engine) == sorted_rows(here)


def test_a_record_has_the_same_coordinates_on_postgresql(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        kinds = "age float8, ward text, floor int, smoker boolean, seen timestamp"
        connection.execute(f"CREATE TABLE t ({kinds})")
        rows = [[None if pd.isna(item) else item for item in row] for row in FRAME.astype(object).to_numpy()]
        connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s)", rows)
        for age, seen in (("infinity", "infinity"), ("nan", "-infinity")):
            connection.execute("INSERT INTO t VALUES (%s, 'A', 1, true, %s)", (age, seen))
    there = am.Dataset(postgres, table="t", name="t", columns=COLUMNS)
    found = collect(space().cube(there.table))
    points = np.column_stack([column.to_numpy(zero_copy_only=False) for column in found.columns])
    assert len(points) == len(FRAME) + 2, "no value makes the statement fail, and no record is left out"
    assert set(sorted_rows(space().points(FRAME))) <= set(sorted_rows(points))


def test_a_record_has_the_same_coordinates_on_every_engine(put: Put) -> None:
    kinds = {"age": pa.float64(), "ward": pa.string(), "floor": pa.int64(), "smoker": pa.bool_()}
    schema = pa.schema({**kinds, "seen": pa.timestamp("us")})
    given = pa.Table.from_pandas(FRAME, preserve_index=False).select(list(COLUMNS)).cast(schema)
    odd = [{**dict.fromkeys(COLUMNS), "age": age} for age in (math.inf, -math.inf, math.nan, -0.0, 5e-324)]
    there = am.Dataset(
        **put(pa.concat_tables([given, pa.Table.from_pylist(odd, schema)])), name="t", columns=COLUMNS
    )
    found = collect(space().cube(there.table))
    points = np.column_stack([column.to_numpy(zero_copy_only=False) for column in found.columns])
    meant = pd.DataFrame({name: [row[name] for row in odd] for name in COLUMNS})
    meant["age"] = [None, None, None, 0.0, 5e-324]
    expected = [*sorted_rows(space().points(FRAME)), *sorted_rows(space().points(meant))]
    assert sorted_rows(points) == sorted(expected)


def test_every_record_is_counted_once_in_every_column_and_pair_whatever_it_lacks() -> None:
    method = MixedMethod(5, space().places, bins=4, pair_bins=3)
    counts = collect(method.count(space().cube(table().table)))
    columns, pairs, _ = method.layout.arrays(counts)
    assert [int(cells.sum()) for cells in columns] == [6] * 5
    assert [int(cells.sum()) for cells in pairs] == [6] * 10
    assert columns[1].tolist() == [3, 1, 1, 1]  # A, B, other, missing
    assert columns[2].tolist() == [3, 1, 0, 1, 1]
    assert columns[3].tolist() == [1, 4, 1]  # a flag has no other
    assert columns[0][-1] == 1
    assert columns[0][FINE * 4 // 10] == 2


@pytest.mark.parametrize("seed", range(5))
def test_one_record_more_changes_each_histogram_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    more = FRAME.sample(1, random_state=seed).mask(random.random((1, 5)) < 0.4)
    method = MixedMethod(5, space().places, bins=4, pair_bins=3, sketches=3, side=2, coins=seed)
    both = pd.concat([FRAME, more.astype(FRAME.dtypes)], ignore_index=True)
    one, other = (
        method.exact(collect(method.count(space().cube(table(frame).table)))) for frame in (FRAME, both)
    )
    changed = [int(np.abs(left - right).sum()) for left, right in zip(one, other, strict=True)]
    assert changed == [5, 10, 3]


def test_the_rates_of_all_histograms_sum_to_the_rate() -> None:
    method = MixedMethod(5, space().places, bins=4, pair_bins=3, sketches=7, side=2)
    column, pair, sketch = method.rates(Fraction(1, 3))
    assert 5 * column + 10 * pair + 7 * sketch == Fraction(1, 3)


def ask(frame: pd.DataFrame, **options: Any) -> am.Model:
    query = am.Score(columns=list(frame), **{"epsilon": 5, "rows": len(frame), **options})
    model: am.Model = am.simulate(query, table(frame), seed=1).value
    return model


def many(rows: int = 600) -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": random.normal(40, 5, rows),
            "ward": random.choice(["A", "B"], rows, p=[0.9, 0.1]),
            "floor": random.choice([1, 2], rows),
            "smoker": random.random(rows) < 0.3,
            "seen": pd.Timestamp("2024-06-01") + pd.to_timedelta(random.integers(0, 30, rows), "D"),
        }
    )


def test_rare_labels_moments_and_numbers_score_higher_than_usual_ones() -> None:
    model = ask(many())
    usual = {"age": 40.0, "ward": "A", "floor": 1, "smoker": False, "seen": datetime(2024, 6, 10)}
    odd = [{"age": 90.0}, {"ward": "X"}, {"floor": 3}, {"seen": datetime(2024, 1, 3)}]
    scores = model.score([usual, *({**usual, **change} for change in odd)])
    assert (scores[1:] > scores[0] + 0.5).all(), scores


def test_a_new_record_is_scored_by_what_it_has() -> None:
    model = ask(many(), pair_bins=0, bins=8)
    full = pd.DataFrame({"age": [40.0, 95.0], "ward": ["A", "A"], "floor": [1, 1], "smoker": [True, True],
                         "seen": [datetime(2024, 6, 10)] * 2})  # fmt: skip
    lacking = full.assign(ward=[None, None], floor=pd.array([None, 1], "Int64"))
    scores, whole = model.score(lacking), model.score(full)
    assert np.isfinite(scores).all()
    assert scores[1] > scores[0] + 1, "its odd age still shows"
    assert np.abs(scores - whole).max() < 1.5, "what it lacks adds nothing"
    with pytest.raises(InputError, match="ward: is missing in 2 of 2"):
        model.score(lacking, missing="refuse")
    # Nobody in the reference lacks a ward, so lacking one is odd once it counts as a value.
    assert (model.score(lacking, missing="value") > scores + 1).all()
    with pytest.raises(InputError, match="must be one of skip, refuse, value"):
        model.score(lacking, missing="drop")  # type: ignore[arg-type]


def test_where_many_lack_a_value_lacking_it_is_usual() -> None:
    frame = many()
    frame.loc[::2, "age"] = None
    model = ask(frame, pair_bins=0, bins=8)
    record = {"age": None, "ward": "A", "floor": 1, "smoker": False, "seen": datetime(2024, 6, 10)}
    (as_value,), (left_out,) = (model.score([record], missing=rule) for rule in ("value", "skip"))
    assert as_value < left_out + 0.5


def test_a_model_of_real_columns_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    frame = many()
    model = ask(frame, contamination="0.05")
    model.save(tmp_path / "m.model")
    again = am.Model.load(tmp_path / "m.model")
    assert again == model
    assert json.loads(json.dumps(again.to_dict())) == json.loads(json.dumps(model.to_dict()))
    assert (again.score(frame) == model.score(frame)).all()
    assert (again.quantile, again.threshold) == ("model", model.threshold)


BAD_RECORDS: list[tuple[dict[str, Any], str]] = [
    ({"age": ["old"]}, "age: must hold numbers"),
    ({"age": [math.inf]}, "age: is infinite in 1 of 1"),
    ({"ward": [3]}, "ward: must hold text"),
    ({"floor": ["one"]}, "floor: must hold numbers"),
    ({"smoker": ["yes"]}, "smoker: must hold true or false"),
    ({"seen": [5]}, "seen: must hold dates or moments"),
    ({"seen": ["yesterday"]}, "seen: has a text that is no moment in record 1"),
    ({"other": [1]}, "has a column 'other'"),
]


@pytest.mark.parametrize(("change", "said"), BAD_RECORDS, ids=[said for _, said in BAD_RECORDS])
def test_new_records_of_another_kind_are_refused(change: dict[str, Any], said: str) -> None:
    record = {"age": [40.0], "ward": ["A"], "floor": [1], "smoker": [True], "seen": ["2024-06-10"]}
    model = ask(many(50))
    assert len(model.score(record)) == 1
    with pytest.raises(InputError, match=said):
        model.score({**record, **change})


def test_rows_without_names_are_read_by_their_order() -> None:
    model = ask(many(50))
    named = model.score([{"age": 40.0, "ward": "A", "floor": 1, "smoker": True, "seen": "2024-06-10"}])
    assert model.score([[40.0, "A", 1, True, "2024-06-10"]]) == named
    with pytest.raises(InputError, match="rows of 5 values"):
        model.score([[40.0, "A"]])


def test_the_quantile_of_the_models_own_points_is_free(tmp_path: Path) -> None:
    curator = am.Curator(
        am.Dataset(many(), name="t", columns=COLUMNS), budget=3, ledger=tmp_path / "t.ledger"
    )
    query = am.Score(columns=list(COLUMNS), contamination="0.05", rows=600, epsilon=1)
    assert "threshold" not in curator.preview(query).to_dict()["shares"]
    model = curator.ask(query).value
    assert (model.quantile, model.contamination) == ("model", 0.05)
    paid = curator.preview(query.model_copy(update={"shares": (("threshold", "0.1"),)}))
    assert paid.to_dict()["shares"]["threshold"] == "0.1"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 10])
def test_the_quantile_of_the_models_own_points_flags_about_as_many_as_are_wanted(epsilon: int) -> None:
    # A month of a year, and two floors of four: most cells are empty, and hold nothing but noise.
    data = am.Dataset(many(), name="t", columns=COLUMNS, public=True)
    query = am.Score(columns=list(COLUMNS), contamination="0.05", rows=600, epsilon=epsilon)
    shares = [am.simulate(query, data, seed=seed).value.is_unusual(many()).mean() for seed in range(9)]
    assert 0.015 <= np.median(shares) <= 0.15, shares


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"rows": 600, "epsilon": "0.1"},
            "may flag nearly none or nearly all: at this ε it takes about 1,000",
        ),
        ({"rows": None, "epsilon": "0.1"}, "below about 1,021 records it is mostly noise"),
        ({"rows": 600, "epsilon": "1"}, "the model's quantile, not the table's"),
    ],
)
def test_a_preview_and_an_answer_say_what_a_free_threshold_is_worth(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    data = am.Dataset(many(), name="t", columns=COLUMNS)
    curator = am.Curator(data, budget=3, ledger=tmp_path / "t.ledger")
    query = am.Score(columns=list(COLUMNS), contamination="0.05", **options)
    assert said in str(curator.preview(query))
    assert said in str(curator.ask(query))
    assert ("noise, and may" in str(curator.preview(query))) == (options["epsilon"] == "0.1")
    for other in ({"contamination": None}, {"shares": (("threshold", "0.1"),)}):
        assert "quantile" not in str(curator.preview(query.model_copy(update=other)))


@pytest.mark.parametrize("method", ["marginals", "grid"])
def test_models_of_numbers_have_a_quantile_of_their_own_too(method: str) -> None:
    frame = many()[["age"]]
    data = am.Dataset(frame, name="t", columns={"age": COLUMNS["age"]}, public=True)
    query = am.Score(columns=["age"], method=method, rows=600, epsilon=5)
    model = am.simulate(query, data, seed=1).value.with_quantile(0.1)
    assert model.quantile == "model"
    assert model.is_unusual(frame).mean() <= 0.3
    with pytest.raises(InputError, match="at most"):
        model.with_quantile(0.9)


def test_a_held_model_gives_no_quantile_of_points_drawn_from_exact_counts() -> None:
    data = am.Dataset(many()[["age"]], name="t", columns={"age": COLUMNS["age"]}, public=True)
    query = am.Score(columns=["age"], method="grid", cells=4, form="held", epsilon=1)
    model = query.bind(data.declaration).answer(data.table, Noise.system())
    with pytest.raises(Refused, match="held"):
        model.with_quantile(0.1)


def test_what_a_version_before_answered_by_the_same_words_is_not_charged_again(tmp_path: Path) -> None:
    columns = {"age": COLUMNS["age"]}
    data = am.Dataset(many()[["age"]], name="t", columns=columns)
    curator = am.Curator(data, budget=4, ledger=tmp_path / "t.ledger")
    old = curator.ask(am.Score(columns=["age"], method="auto", epsilon=1))
    assert old.value.method.name == "marginals"
    again = curator.ask(am.Score(columns=["age"], epsilon=1))
    assert (again.charged, again.number) == (0, old.number)
    anew = curator.ask(am.Score(columns=["age"], epsilon=1), repeat=1)
    assert (anew.charged, anew.value.method.name) == (1, "mixed")
    assert curator.ask(am.Score(columns=["age"], adaptive=False, epsilon=1)).charged == 1


def test_a_preview_describes_the_answer_of_before_that_it_would_return(tmp_path: Path) -> None:
    data = am.Dataset(many()[["age"]], name="t", columns={"age": COLUMNS["age"]})
    curator = am.Curator(data, budget=4, ledger=tmp_path / "t.ledger")
    old = curator.ask(am.Score(columns=["age"], method="auto", epsilon=1))
    preview = curator.preview(am.Score(columns=["age"], epsilon=1))
    assert preview.charged_before == old.number
    assert "(marginals)" in str(preview)
    assert (
        curator.preview(am.Score(columns=["age"], epsilon=1), repeat=1).query.to_dict()["method"] == "mixed"
    )


def test_a_charge_of_before_that_was_left_open_is_drawn_as_it_was_asked(tmp_path: Path) -> None:
    data = am.Dataset(many()[["age"]], name="t", columns={"age": COLUMNS["age"]})
    curator = am.Curator(data, budget=4, ledger=tmp_path / "t.ledger")
    bound = curator.accountant.accept(am.Score(columns=["age"], method="auto", epsilon=1))
    curator.accountant.reserve(bound, analyst="owner", repeat=0)  # and then the power went
    answer = curator.ask(am.Score(columns=["age"], epsilon=1))
    assert (answer.charged, curator.spent) == (0, 1)
    assert answer.value.method.name == "marginals"
    assert "(marginals)" in str(answer)


def test_records_with_missing_values_are_counted_in_the_number_of_records() -> None:
    frame = many(40)
    frame.loc[::2, "age"] = None
    query = am.Score(columns=list(frame), epsilon=1000)
    bound = query.bind(table().declaration)
    assert list(bound.shares) == ["records", "coarse", "finer", "model"]
    stage = bound.stages[0]
    assert stage.summarise(table(frame).table, {}) == 40


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": ["note"]}, "never looked into"),
        ({"columns": ["ward"], "method": "grid"}, "the method grid needs numbers"),
        ({"columns": ["ward"], "adaptive": True}, "no number whose bins"),
        ({"columns": ["age"], "method": "marginals", "adaptive": True}, "adaptive: is not a parameter"),
        ({"columns": ["many"]}, "1,025 declared values"),
        ({"columns": ["moment"]}, "too close"),
        ({"columns": ["ward"], "pair_bins": 3}, "one column has no pairs"),
    ],
)
def test_what_cannot_be_asked_of_real_columns_is_refused_before_the_charge(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    close = am.Timestamps("2024-01-01 00:00:00", "2024-01-01 00:00:00.5")
    columns = {**COLUMNS, "note": am.Opaque(), "many": am.Categories(list(range(1025))), "moment": close}
    frame = FRAME.assign(note="x", many=1, moment=pd.Timestamp("2024-01-01"))
    curator = am.Curator(am.Dataset(frame, name="t", columns=columns), budget=1, ledger=tmp_path / "t.ledger")
    with pytest.raises(InputError, match=said):
        curator.ask(am.Score(**{"epsilon": 1, **options}))
    assert curator.spent == 0


def test_points_drawn_from_a_model_are_like_its_records() -> None:
    frame = many(5000)
    frame["age"] = np.where(frame["smoker"], 70.0, 30.0) + np.random.default_rng(1).normal(0, 1, 5000)
    model = ask(frame, bins=50, pair_bins=8, epsilon=50)
    points = model.method.draw(model.body, 4000)
    assert np.nanmean(points[:, 0]) == pytest.approx(frame["age"].mean() / 100, abs=0.02)
    shares = Counter(points[:, 1].tolist())
    assert shares[0] / 4000 == pytest.approx((frame["ward"] == "A").mean(), abs=0.03)
    together = (points[:, 0] > 0.5) == (points[:, 3] > 0.5)
    assert together.mean() > 0.9, "columns that go together are drawn together"


CHANGED_FILES: list[tuple[str, Any]] = [
    ("parameters.labels", [0, 3, 4, 2, 2]),
    ("parameters.labels", [0, 3, 4, 2]),
    ("parameters.bins", 1),
    ("parameters.adaptive", 1),
    ("parameters.edges", [[0, 5, 5, 4096], [0, 4096]]),
    ("parameters.sketches", 10**6),
    ("parameters.coins", -1),
    ("space.labels", [None, ["A", "A"], [1, 2, 3], [False, True], None]),
    ("space.kinds", ["number", "number", "label", "label", "moment"]),
    ("method", "marginals"),
]


@pytest.mark.parametrize(("place", "value"), CHANGED_FILES, ids=[f"{n} {v}" for n, v in CHANGED_FILES])
def test_a_file_that_says_what_no_model_of_real_columns_can_be_is_refused(
    place: str, value: Any, tmp_path: Path
) -> None:
    model = ask(many(60), bins=4, pair_bins=0)
    about = json.loads(json.dumps(model.describe()))
    *outer, name = place.split(".")
    inside = about
    for step in outer:
        inside = inside[step]
    inside[name] = value
    with open(tmp_path / "m.model", "wb") as file:
        write_model(file, about, model.body)
    with pytest.raises(InputError, match="not a model that this version knows"):
        am.Model.load(tmp_path / "m.model")
