# SPDX-License-Identifier: Apache-2.0
"""Settings from a history: by a rule, on data that nobody is to be protected from."""

from __future__ import annotations

import numpy as np
import pytest

from anonymaly import Interval
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream import suggest
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.suggest import MOST_SHOWN, correct


def points(separation: float, seed: int, size: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    values = np.random.default_rng(seed).normal(0, 3, (size, 2))
    radius = np.hypot(values[:, 0], values[:, 1])
    far = radius >= np.quantile(radius, 0.9)
    values[far] *= ((radius[far] + separation) / radius[far])[:, np.newaxis]
    return values, far


def test_settings_from_one_sample_find_the_outliers_of_another() -> None:
    history, known = points(220, seed=1)
    outer = [Interval(-1000, 1000)] * 2
    declared = suggest(
        history, known, names=["x", "y"], outer=outer, epsilon=0.5, window=4000, noise=Noise.seeded(1)
    )
    fresh, outliers = points(220, seed=2)
    perturbed = perturb(declared, fresh, Noise.seeded(2))
    corrected = correct(declared, perturbed)
    assert corrected.found[outliers].mean() >= 0.95
    assert corrected.found.mean() <= MOST_SHOWN + 0.02
    assert corrected.suspects[outliers].mean() < corrected.found[outliers].mean()  # correction is needed


def test_ranges_are_the_papers_percentiles_on_a_grid() -> None:
    history, known = points(220, seed=1)
    declared = suggest(
        history,
        known,
        names=["x", "y"],
        outer=[Interval(-1000, 1000)] * 2,
        epsilon=1,
        window=100,
        noise=Noise.seeded(1),
    )
    for index, column in enumerate(declared.columns):
        low, high = np.percentile(history[:, index], [5, 95])
        assert column.range.low <= low < column.range.low + 0.2
        assert column.range.high - 0.2 < high <= column.range.high
        steps = column.range.width / column.step
        assert column.steps == round(steps)
        assert steps == pytest.approx(round(steps))
    assert declared.window == 100


@pytest.mark.parametrize(
    ("known", "said"),
    [(np.zeros(10, np.bool_), "both outliers and others"), (np.ones(3, np.bool_), "a row for each")],
)
def test_a_history_without_known_outliers_is_refused(known: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        suggest(np.zeros((10, 1)), known, names=["x"], outer=[Interval(-1, 1)], epsilon=1, window=10)
