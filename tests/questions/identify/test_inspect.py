# SPDX-License-Identifier: Apache-2.0
"""What the owner sees: labels, the privacy of each record, regularity; and a model from public data."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.errors import InputError, Refused
from anonymaly.questions.identify.verdicts import StepBound, flip_probability, judge

MODEL = am.AnomalyModel(["x", "y"], radius=0.5, beta=6, k=2)
COLUMNS = {"x": am.Interval(-10, 10), "y": am.Interval(-10, 10)}


def declare(frame: pd.DataFrame, **options: object) -> am.Dataset:
    return am.Dataset(frame, **{"name": "points", "columns": COLUMNS, "rules": {"rare": MODEL}, **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    points = pd.DataFrame(np.random.default_rng(1).normal(0, 1.5, (300, 2)).round(1), columns=["x", "y"])
    copies = pd.concat([points, points.head(40), points.tail(3), points.tail(3)], ignore_index=True)
    return pd.concat([copies, pd.DataFrame({"x": [None, 1.0], "y": [1.0, None]})], ignore_index=True)


def exact(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    points = frame.dropna().to_numpy()
    gaps = points[:, None] - points[None]
    return (gaps == 0).all(axis=2).sum(axis=1), ((gaps**2).sum(axis=2) <= 0.25 * (1 + 1e-9)).sum(axis=1)


def test_every_record_is_labelled(frame: pd.DataFrame) -> None:
    own, within = exact(frame)
    found = am.inspect.anomalies(declare(frame), "rare")
    assert found.anomalous.tolist() == (within <= 6).tolist()
    assert found.sensitive.tolist() == (within >= 5).tolist()
    assert found.within.tolist() == np.minimum(within, 7).tolist()
    assert found.own[found.anomalous].tolist() == own[within <= 6].tolist()
    assert 20 < found.anomalous.sum() < 300
    assert found.to_arrow().column_names == ["x", "y", "own", "within", "anomalous", "sensitive"]
    assert found.to_arrow().num_rows == len(frame.dropna())


@pytest.mark.parametrize("bound", ["improved", "paper", "differential"])
def test_the_map_is_the_mechanism_on_the_table_and_its_two_neighbours(
    frame: pd.DataFrame, bound: StepBound
) -> None:
    own, within = exact(frame)
    rate = Fraction(1, 4)
    found = am.inspect.privacy_map(declare(frame), "rare", epsilon="0.25", bound=bound)
    for at in range(0, len(own), 17):
        yes = []
        for more in (0, -1, 1):
            one = judge(own[[at]] + more, within[[at]] + more, beta=6, k=2, bound=bound, slack=200)
            flip = float(flip_probability(rate, int(one.steps[0])))
            yes.append(1 - flip if one.anomalous[0] else flip)
        loss = max(abs(math.log(p / q)) for p, q in [(yes[0], yes[1]), (yes[0], yes[2])])
        loss = max([loss, *(abs(math.log((1 - yes[0]) / (1 - other))) for other in yes[1:])])
        assert found.epsilon[at] == pytest.approx(loss, rel=1e-6)
        assert found.accuracy[at] == pytest.approx(yes[0] if within[at] <= 6 else 1 - yes[0], rel=1e-9)


def test_the_sensitive_have_the_whole_promise_and_all_others_less(frame: pd.DataFrame) -> None:
    sensitive = am.inspect.privacy_map(declare(frame), "rare", epsilon="0.25")
    assert (sensitive.epsilon[sensitive.sensitive] <= 0.25 + 1e-12).all()
    assert (sensitive.epsilon[~sensitive.sensitive] > 0.25).any()
    everyone = am.inspect.privacy_map(declare(frame), "rare", epsilon="0.25", bound="differential")
    assert (everyone.epsilon <= 0.25 + 1e-12).all()
    assert (sensitive.accuracy >= everyone.accuracy - 1e-12).all()


def test_a_model_is_regular_where_records_hang_together() -> None:
    def regular(model: am.AnomalyModel, step: float | None = None) -> bool:
        columns = {"x": am.Interval(0, 10, step), "y": am.Interval(0, 10)}
        dataset = am.Dataset(pd.DataFrame({"x": [1.0], "y": [1.0]}), name="points", columns=columns)
        return am.inspect.regularity(dataset, model).regular

    assert regular(am.AnomalyModel(["x", "y"], radius=0.1, beta=9, k=1))
    assert not regular(am.AnomalyModel(["x", "y"], radius=0, beta=9, k=8))
    assert regular(am.AnomalyModel(["x", "y"], radius=0, beta=9, k=9))
    assert not regular(am.AnomalyModel(["x", "y"], radius=0.9, beta=9, k=1), step=1)
    assert regular(am.AnomalyModel(["x", "y"], radius=1, beta=9, k=1), step=1)
    assert not regular(am.AnomalyModel(["x", "y"], radius=0.09, beta=9, k=1, scaled=True), step=1)
    assert regular(am.AnomalyModel(["y"], radius=0.09, beta=9, k=1), step=1)


def test_inspection_says_that_it_is_for_the_owner_alone(
    frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    am.inspect.anomalies(declare(frame), MODEL)
    assert "for the owner alone" in capsys.readouterr().err


def test_a_suggestion_for_one_normal_column_means_three_deviations() -> None:
    values = np.random.default_rng(0).normal(50, 4, 50_000)
    found = am.identify.suggest(pd.DataFrame({"x": values}), ["x"])
    assert found.beta == 60
    assert found.radius == pytest.approx(0.13 * 4, rel=0.02)
    assert found.anomalous == pytest.approx(math.erfc(3 / math.sqrt(2)), abs=0.0006)
    assert found.model(k=3) == am.AnomalyModel(["x"], found.radius, 60, 3)


def test_a_suggestion_scales_as_the_model_will() -> None:
    values = np.random.default_rng(0).normal(0, [1.0, 2.0], (5_000, 2))
    dataset = declare(pd.DataFrame(values, columns=["x", "y"]), public=True)
    plain, scaled = (am.identify.suggest(dataset, ["x", "y"], scaled=scaled) for scaled in (False, True))
    assert scaled.radius == pytest.approx(plain.radius / 20)
    assert scaled.anomalous == pytest.approx(plain.anomalous)
    assert am.identify.suggest(dataset, ["x", "y"], records=50_000).beta == 60


def test_a_suggestion_from_private_rows_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(Refused, match="voids every promise"):
        am.identify.suggest(declare(frame), ["x"])
    with pytest.raises(InputError, match="Interval"):
        am.identify.suggest(declare(frame, public=True), ["z"])
    with pytest.raises(InputError, match="widths"):
        am.identify.suggest(frame, ["x"], scaled=True)
    with pytest.raises(InputError, match="too few"):
        am.identify.suggest(frame.head(1), ["x"])
