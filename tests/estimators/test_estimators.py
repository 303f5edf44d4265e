# SPDX-License-Identifier: Apache-2.0
"""Private detectors inside scikit-learn: its own checks, its signs, its pipelines and searches."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes the import below work
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import anonymaly as am
from anonymaly.errors import BudgetExceeded, DeclarationChanged, InputError, NoPromiseWarning, Refused
from anonymaly.questions.score.methods.grid import GridMethod

PRIVATE_THRESHOLD = (
    "wants the exact share of outliers among the fitted records, which a private threshold does not tell"
)
EXPECTED = {  # a grid's scores tie, which the checks allow for
    am.MarginalHistograms: {
        "check_outliers_train": PRIVATE_THRESHOLD,
        "check_outliers_fit_predict": PRIVATE_THRESHOLD,
    }
}
CHECKED = [
    am.GridKNN(bounds=(-20, 20), cells=16, epsilon=20.0, random_state=0, public=True),
    am.MarginalHistograms(bounds=(-20, 20), epsilon=5.0, random_state=0, public=True),
]
RECORDS = pd.DataFrame(
    {"age": np.random.default_rng(1).normal(50, 8, 500), "bmi": np.random.default_rng(2).normal(25, 3, 500)}
)
BOUNDS = {"age": (0, 120), "bmi": (10, 70)}
DECLARED = {"age": am.Interval(0, 120), "bmi": am.Interval(10, 70)}
ODD = pd.DataFrame({"age": [50.0, 119.0], "bmi": [25.0, 69.0]})
KINDS = [am.GridKNN, am.MarginalHistograms]


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda item: EXPECTED.get(type(item), {}))
def test_scikit_learns_own_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", KINDS)
def test_signs_are_scikit_learns(kind: Any) -> None:
    detector = kind(bounds=BOUNDS, epsilon=4, contamination=0.05, random_state=1, public=True).fit(RECORDS)
    usual, odd = detector.score_samples(ODD)
    assert odd < usual
    assert np.array_equal(detector.score_samples(ODD), -detector.model_.score(ODD.to_numpy()))
    assert np.allclose(detector.decision_function(ODD), detector.score_samples(ODD) - detector.offset_)
    assert detector.predict(ODD).tolist() == [1, -1]
    assert (
        detector.predict(RECORDS) == np.where(detector.model_.is_unusual(RECORDS.to_numpy()), -1, 1)
    ).all()
    assert 0 < (detector.predict(RECORDS) == -1).mean() < 0.15
    assert detector.fit_predict(RECORDS).shape == (500,)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_go_by_position_by_name_or_for_all(kind: Any) -> None:
    expected = kind(bounds=BOUNDS, epsilon=4, random_state=1, public=True).fit(RECORDS).score_samples(ODD)
    for bounds, records in (
        ([(0, 120), (10, 70)], RECORDS),
        ([(0, 120), (10, 70)], RECORDS.to_numpy()),
        ({"bmi": (10, 70), "age": (0, 120)}, pl.DataFrame(RECORDS)),
    ):
        detector = kind(bounds=bounds, epsilon=4, random_state=1, public=True).fit(records)
        given = type(records)(ODD) if not isinstance(records, np.ndarray) else ODD.to_numpy()
        assert np.array_equal(detector.score_samples(given), expected)
        assert detector.n_features_in_ == 2
    assert kind(bounds=(0, 120), epsilon=4, random_state=1, public=True).fit(RECORDS).model_.space.highs == (
        120.0,
        120.0,
    )
    found = kind(bounds=[None, (10, 70)], epsilon=4, random_state=1, public=True).fit(RECORDS).model_.space
    assert found.lows[0] <= 32
    assert found.highs[0] >= 64


BAD_BOUNDS: list[tuple[Any, str]] = [
    (None, "must be given"),
    ([(0, 120)], "1 pairs for 2 columns"),
    ([(120, 0), (10, 70)], "of age: the lower bound"),
    ([(0, 0), (10, 70)], "of age"),
    ([(0, 120), (10, float("nan"))], "of bmi"),
    ({"age": (0, 120)}, "does not name 'bmi'"),
    ({**BOUNDS, "pay": (0, 1)}, "names 'pay'"),
    (["ab", (10, 70)], "not two numbers"),
]


@pytest.mark.parametrize(("bounds", "said"), BAD_BOUNDS, ids=[said for _, said in BAD_BOUNDS])
def test_bounds_that_make_no_sense_are_explained(bounds: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        am.GridKNN(bounds=bounds, epsilon=1).fit(RECORDS)


def test_a_number_of_rows_that_is_given_is_said_to_be_public() -> None:
    for kind in (am.GridKNN, am.MarginalHistograms):
        given = kind(bounds=BOUNDS, rows=len(RECORDS), epsilon=0.5).fit(RECORDS)
        free = kind(bounds=BOUNDS, epsilon=0.5).fit(RECORDS)
        public = f"The number of records, {len(RECORDS):,}, was given as public and is not hidden."
        assert public in str(given.guarantee_)
        assert public in given.model_.promise
        assert "given as public" not in f"{free.guarantee_}{free.model_.promise}"


def test_without_a_curator_the_promise_is_for_this_fit_alone() -> None:
    alone = am.GridKNN(bounds=BOUNDS, epsilon=0.5).fit(RECORDS)
    assert alone.guarantee_.guarantee == alone.model_.guarantee
    assert alone.guarantee_.guarantee.epsilon == "0.5"
    assert "This fit alone" in str(alone.guarantee_)
    assert "k fits to all of them cost k·0.5" in str(alone.guarantee_)  # to their folds they may cost more
    assert "as they were given to fit" in str(alone.guarantee_)
    assert "if the order of rows follows their values" in str(alone.guarantee_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_random_state_warns_that_nothing_is_promised_unless_the_records_are_public(kind: Any) -> None:
    with pytest.warns(NoPromiseWarning, match="random_state makes the noise repeat") as warned:
        seeded = kind(bounds=BOUNDS, epsilon=0.5, random_state=3).fit(RECORDS)
    assert [item.filename for item in warned if item.category is NoPromiseWarning] == [__file__]
    assert seeded.guarantee_.guarantee is None
    assert "Nothing is promised" in str(seeded.guarantee_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoPromiseWarning)
        kind(bounds=BOUNDS, epsilon=0.5, random_state=3, public=True).fit(RECORDS)
        promised = kind(bounds=BOUNDS, epsilon=0.5).fit(RECORDS).guarantee_
    assert promised.guarantee is not None


def test_a_fit_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("40 GB")

    monkeypatch.setattr(GridMethod, "release", fail)
    with pytest.raises(MemoryError, match="40 GB"):
        am.GridKNN(bounds=BOUNDS, epsilon=1).fit(RECORDS)


def test_fits_without_a_seed_draw_anew() -> None:
    bodies = [
        am.MarginalHistograms(bounds=BOUNDS, epsilon=0.5).fit(RECORDS).model_.body["columns"] for _ in "12"
    ]
    assert not np.array_equal(*bodies)


@pytest.fixture
def curator(tmp_path: Path) -> am.Curator:
    table = am.Dataset(RECORDS, name="patients", columns=DECLARED)
    return am.Curator(table, budget=2, adjacency="replace", ledger=tmp_path / "patients.ledger")


def test_with_a_curator_every_fit_is_charged(curator: am.Curator) -> None:
    detector = am.GridKNN(epsilon=0.5, curator=curator)
    detector.fit(RECORDS)
    assert curator.spent == 0.5
    detector.fit(RECORDS)  # the same rows again are other rows to the account: nobody compared them
    assert curator.spent == 1.0
    clone(detector).fit(RECORDS.iloc[:100])
    assert curator.spent == 1.5
    assert "Charged" in str(detector.guarantee_)
    detector.fit(RECORDS)
    with pytest.raises(BudgetExceeded):
        detector.fit(RECORDS)
    assert curator.statement().questions == 4
    assert len(curator.answers()) == 4


def test_an_account_where_records_come_and_go_refuses_parts_of_the_rows(tmp_path: Path) -> None:
    table = am.Dataset(RECORDS, name="patients", columns=DECLARED)
    account = am.Curator(table, budget=2, ledger=tmp_path / "patients.ledger")
    for refused in (
        lambda: am.GridKNN(epsilon=0.5, curator=account).fit(RECORDS),
        lambda: account.about(RECORDS),
    ):
        with pytest.raises(Refused, match="adjacency='replace'"):
            refused()
    assert account.spent == 0


def test_a_fit_in_an_account_where_records_come_and_go_is_told_which_account_it_needs(tmp_path: Path) -> None:
    table = am.Dataset(RECORDS, name="patients", columns=DECLARED)
    account = am.Curator(table, budget=2, ledger=tmp_path / "patients.ledger")
    with pytest.raises(Refused, match=r"come or go \(add_remove\).*Open the account") as refused:
        am.GridKNN(epsilon=0.5, curator=account).fit(RECORDS)
    assert "part" not in str(refused.value)
    # As it says: once it was charged, the same ledger does not do.
    account.ask(am.Count(epsilon=0.1))
    with pytest.raises(DeclarationChanged):
        am.Curator(table, budget=2, adjacency="replace", ledger=tmp_path / "patients.ledger")
    new = am.Curator(table, budget=2, adjacency="replace", ledger=tmp_path / "new.ledger")
    assert am.GridKNN(epsilon=0.5, curator=new).fit(RECORDS).guarantee_.charged


def _training(rows: list[int]) -> list[set[int]]:
    return [{rows[place] for place in part} for part, _ in KFold(5).split(rows)]


def test_folds_by_position_shift_when_a_record_goes_and_stay_when_one_is_replaced() -> None:
    rows = list(range(10))
    gone, replaced = _training(rows[1:]), _training([10, *rows[1:]])
    changed = [len(part ^ other) for part, other in zip(_training(rows), gone, strict=True)]
    assert changed == [1, 3, 3, 3, 2]  # what the page of the proof says
    for part, other in zip(_training(rows), replaced, strict=True):
        assert part ^ other in (set(), {0, 10})


def test_a_curators_columns_and_unit_bind_the_fit(curator: am.Curator, tmp_path: Path) -> None:
    for options, said in (
        ({"bounds": BOUNDS}, "bounds: is given beside"),
        ({"random_state": 1}, "random_state: is given beside"),
    ):
        with pytest.raises(InputError, match=said):
            am.GridKNN(epsilon=0.5, curator=curator, **options).fit(RECORDS)
    with pytest.raises(InputError, match="X: must be a frame"):
        am.GridKNN(epsilon=0.5, curator=curator).fit(RECORDS.to_numpy())
    with pytest.raises(Refused, match="cannot be stored"):
        am.GridKNN(epsilon=0.5, curator=curator, form="held").fit(RECORDS)
    person = am.Dataset(
        RECORDS.assign(who="x"),
        name="persons",
        person="who",
        max_rows=2,
        columns={"age": am.Interval(0, 120), "bmi": am.Interval(10, 70)},
    )
    account = am.Curator(person, budget=1, adjacency="replace", ledger=tmp_path / "persons.ledger")
    with pytest.raises(InputError, match="person"):
        am.GridKNN(epsilon=0.5, curator=account).fit(RECORDS)
    assert curator.spent == account.spent == 0


def test_a_fit_needs_only_its_own_columns_of_an_account(tmp_path: Path) -> None:
    columns = {**DECLARED, "ward": am.Categories(["A"]), "seen": am.Timestamps("2020-01-01", "2021-01-01")}
    table = am.Dataset(
        RECORDS.assign(ward="A", seen=pd.Timestamp("2020-05-05")), name="patients", columns=columns
    )
    account = am.Curator(table, budget=2, adjacency="replace", ledger=tmp_path / "patients.ledger")
    detector = am.MarginalHistograms(epsilon=1, curator=account).fit(RECORDS[["bmi"]])
    assert detector.model_.columns == ("bmi",)
    assert detector.score_samples(ODD[["bmi"]]).shape == (2,)
    with pytest.raises(InputError, match="no declared column 'pay'"):
        am.MarginalHistograms(epsilon=1, curator=account).fit(RECORDS.rename(columns={"age": "pay"}))
    assert account.spent == 1


def test_a_pickled_detector_leaves_its_curator_behind(curator: am.Curator) -> None:
    detector = am.MarginalHistograms(epsilon=0.5, curator=curator).fit(RECORDS)
    again = pickle.loads(pickle.dumps(detector))  # noqa: S301 - our own
    assert detector.curator is curator
    assert again.curator is None
    assert np.array_equal(again.score_samples(ODD), detector.score_samples(ODD))
    with pytest.raises(InputError, match="curator: was left behind"):
        again.fit(RECORDS)
    again.set_params(curator=curator).fit(RECORDS)
    assert curator.spent == 1.0


def test_saved_models_have_the_records_own_columns(tmp_path: Path) -> None:
    frame = RECORDS.rename(columns={"age": "Age in years", "bmi": "gewicht/größe²"})
    for kind, seed in ((am.GridKNN, 1), (am.MarginalHistograms, None)):
        detector = kind(bounds=[(0, 120), (10, 70)], epsilon=4, random_state=seed, public=True).fit(frame)
        detector.model_.save(tmp_path / "m.model")
        loaded = am.Model.load(tmp_path / "m.model")
        assert loaded.columns == tuple(frame.columns)
        turned = frame[frame.columns[::-1]]
        assert np.array_equal(-loaded.score(turned), detector.score_samples(frame))


def test_a_search_may_hand_out_numpy_numbers() -> None:
    search = GridSearchCV(
        am.GridKNN(bounds=BOUNDS, epsilon=np.float64(4), rows=np.int64(500), contamination=None),
        {"cells": np.arange(2, 4), "weighted": np.array([True, False]), "epsilon": np.array([1, 2])},
        cv=2,
        scoring=_outliers_found,
        error_score="raise",
    )
    assert am.search_cost(search).epsilon == "26"
    search.fit(RECORDS, np.zeros(len(RECORDS)))


def test_splits_that_come_once_are_not_used_up() -> None:
    search = GridSearchCV(am.GridKNN(bounds=BOUNDS, epsilon=1), {"cells": [2]}, cv=KFold(3).split(RECORDS))
    with pytest.raises(InputError, match="cv: gives its splits once"):
        am.search_cost(search)
    search.cv = list(search.cv)
    assert am.search_cost(search).fits == 4


def test_an_offset_goes_with_its_threshold() -> None:
    detector = am.GridKNN(bounds=BOUNDS, epsilon=4, random_state=1, public=True).fit(RECORDS)
    assert detector.offset_ == -detector.model_.threshold
    assert not hasattr(detector.set_params(contamination=None).fit(RECORDS), "offset_")


def test_pipelines_clones_and_pickles_work() -> None:
    detector = am.MarginalHistograms(bounds=(-5, 10), epsilon=4, random_state=1, public=True)
    pipeline = make_pipeline(FunctionTransformer(np.log1p), detector).fit(RECORDS.to_numpy())
    assert pipeline.predict(ODD.to_numpy()).shape == (2,)
    again = pickle.loads(pickle.dumps(pipeline))  # noqa: S301 - our own
    assert np.array_equal(again.score_samples(ODD.to_numpy()), pipeline.score_samples(ODD.to_numpy()))
    assert clone(detector).get_params() == detector.get_params()


def test_a_held_detector_scores_and_cannot_be_pickled() -> None:
    detector = am.GridKNN(bounds=BOUNDS, cells=8, form="held", epsilon=4).fit(RECORDS)
    usual, odd = detector.score_samples(ODD)
    assert odd < usual
    with pytest.raises(Refused, match="exact counts"):
        pickle.dumps(detector)
    clone(detector)  # an unfitted copy holds nothing
    published = am.GridKNN(bounds=BOUNDS, cells=8, epsilon=4).fit(RECORDS)
    for told in (str(detector.guarantee_), detector.model_.promise):
        assert "for whoever sees scores only" in told
        assert "holds exact counts" in told
    for told in (str(published.guarantee_), published.model_.promise):
        assert "scores only" not in told
        assert "Rests on: nobody being able to tell ChaCha20's key stream" in told  # as the held form does


def test_without_contamination_there_are_scores_and_no_verdicts() -> None:
    detector = am.GridKNN(bounds=BOUNDS, epsilon=4, contamination=None).fit(RECORDS)
    assert detector.score_samples(ODD).shape == (2,)
    with pytest.raises(InputError, match="contamination"):
        detector.predict(ODD)


def test_a_search_tells_its_total_and_charges_it(curator: am.Curator) -> None:
    detector = am.MarginalHistograms(epsilon=0.1, contamination=None, curator=curator)
    search = GridSearchCV(detector, {"bins": [8, 16]}, cv=KFold(3), scoring=_outliers_found, refit=True)
    told = am.search_cost(search)
    assert (told.fits, told.epsilon) == (7, "0.7")
    assert str(told) == (
        "7 fits at ε = 0.1 each; together ε = 0.7 if one record is replaced by another, if the folds go by "
        "position, and the order of rows does not follow their values; if one comes or goes, no total is "
        "promised"
    )
    search.cv = am.PrivateKFold(3)
    assert am.search_cost(search).epsilon == "0.7"
    assert "order" not in str(am.search_cost(search))
    search.estimator = am.MarginalHistograms(epsilon=0.1, bounds=BOUNDS)
    assert "together ε = 1.4 if one record is replaced by another" in str(am.search_cost(search))
    other = GridSearchCV(detector, {"epsilon": [0.1, 0.2]}, cv=am.PrivateKFold(3))
    assert "7 fits at ε = 0.1 to 0.2 each" in str(am.search_cost(other))
    search.estimator = detector
    search.fit(RECORDS, np.zeros(len(RECORDS)))
    assert curator.spent == pytest.approx(0.7)


def _outliers_found(estimator: Any, records: Any, labels: Any) -> float:
    return float(estimator.score_samples(records).mean())


def test_the_cost_of_other_searches() -> None:
    detector = am.GridKNN(bounds=(0, 1), epsilon=0.5)
    varied = GridSearchCV(detector, {"epsilon": [0.1, 0.5]}, cv=2, refit=False)
    assert am.search_cost(varied).epsilon == "1.2"
    piped = GridSearchCV(make_pipeline(FunctionTransformer(), detector), {"gridknn__cells": [2, 3, 4]}, cv=5)
    assert am.search_cost(piped).epsilon == "8"
    drawn = RandomizedSearchCV(detector, {"cells": [2, 3, 4, 5]}, n_iter=3, cv=2)
    assert am.search_cost(drawn).epsilon == "3.5"
    with pytest.raises(InputError, match="epsilon"):
        am.search_cost(RandomizedSearchCV(detector, {"epsilon": [1, 2, 3]}, n_iter=2))
    with pytest.raises(InputError, match="no private detector"):
        am.search_cost(GridSearchCV(FunctionTransformer(), {"validate": [True]}))
    with pytest.raises(InputError, match="GridSearchCV"):
        am.search_cost(HalvingGridSearchCV(detector, {"cells": [2, 3]}))
    with pytest.raises(InputError, match="GridSearchCV"):
        am.search_cost(detector)


def test_missing_values_are_refused_without_advice_that_breaks_the_promise() -> None:
    detector = am.GridKNN(bounds=(0, 120), epsilon=1.0)
    with pytest.raises(ValueError, match="contains NaN") as refused:
        detector.fit(RECORDS.assign(bmi=np.nan))
    assert "an imputer that is fitted to the records is not covered" in str(refused.value)
    assert not hasattr(detector, "model_")


@pytest.mark.parametrize("asked", ["predict", "score_samples", "decision_function"])
def test_a_detector_whose_fit_failed_is_not_fitted(asked: str) -> None:
    detector = am.MarginalHistograms(bounds=BOUNDS, epsilon=1.0, random_state=1, public=True)
    with pytest.raises(ValueError, match="contains NaN"):
        detector.fit(RECORDS.assign(bmi=np.nan))
    with pytest.raises(NotFittedError):
        getattr(detector, asked)(RECORDS)
    assert len(getattr(detector.fit(RECORDS), asked)(RECORDS)) == len(RECORDS)


def test_a_notebook_shows_the_promise_of_a_fit_in_words() -> None:
    promised = am.MarginalHistograms(bounds=(0, 120), epsilon=1.0).fit(RECORDS).guarantee_
    shown = promised._repr_html_()
    assert "Protected: every record" in shown
    assert "Guarantee(" not in shown
