# SPDX-License-Identifier: Apache-2.0
"""Models by name; DBSCAN's noise is scikit-learn's, point by point."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

from anonymaly.errors import InputError
from anonymaly.stream.protocol import neighbourhoods
from anonymaly.stream.protocol.models import MODELS, Dbscan, make_model


@pytest.mark.parametrize("many", [2, 100])  # squares of a sixth of the radius, and of the radius
@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_dbscan_agrees_with_scikit_learn_also_on_ties(
    columns: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbourhoods, "MANY", many)
    draw = np.random.default_rng(columns)
    for trial in range(40):
        size = int(draw.integers(1, 200))
        places = draw.integers(-5, 6, (size, columns)) / draw.choice([1, 2, 3.0])
        if trial % 2:
            places = draw.laplace(0, 1, (size, columns))
        radius, neighbours = float(draw.choice([0.5, 1.0, 1.5])), int(draw.integers(1, 12))
        expected = DBSCAN(eps=radius, min_samples=neighbours).fit(places).labels_ == -1
        assert (Dbscan(radius, neighbours).suspects(places) == expected).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [0, 1, 2, 50])
def test_every_model_says_something_about_every_window_and_the_same_again(name: str, size: int) -> None:
    for places in (np.zeros((size, 2)), np.random.default_rng(0).laplace(0, 1, (size, 2)) * 1e18):
        suspects = make_model(name, {}).suspects(places)
        assert suspects.shape == (size,)
        assert suspects.dtype == np.bool_
        assert (make_model(name, {}).suspects(places) == suspects).all()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_finds_a_reading_that_is_far_from_all(name: str) -> None:
    places = np.append(np.random.default_rng(1).normal(0, 0.1, (99, 2)), [[50.0, 50.0]], axis=0)
    assert make_model(name, {}).suspects(places)[99]


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("nonsense", {}, "One of dbscan"),
        ("dbscan", {"depth": 1}, "takes radius, neighbours"),
        ("dbscan", {"radius": 0}, "above 0"),
        ("dbscan", {"radius": float("inf")}, "above 0"),
        ("dbscan", {"neighbours": 2.5}, "whole number"),
        ("dbscan", {"neighbours": True}, "whole number"),
        ("neighbours", {"outliers": 1.5}, "between 0 and 1"),
    ],
)
def test_wrong_parameters_are_named(name: str, parameters: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make_model(name, parameters)
