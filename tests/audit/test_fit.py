# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from anonymaly.audit.fit import fit_integers, fit_outcomes
from anonymaly.errors import InputError
from anonymaly.noise import Noise

SIZE = 100_000


def geometric(rate: float, centre: int = 0) -> Callable[[int], float]:
    return lambda value: math.tanh(rate / 2) * math.exp(-rate * abs(value - centre))


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2), Fraction(5)])
def test_samples_of_the_law_fit_and_those_of_another_scale_do_not(rate: Fraction) -> None:
    samples = Noise.seeded(1).two_sided_geometric(rate, SIZE)
    assert fit_integers(samples, geometric(float(rate))).p_value > 1e-3
    for factor in (0.9, 1.1):
        assert not fit_integers(samples, geometric(float(rate) / factor)).fits


def test_a_shift_by_one_is_a_misfit() -> None:
    samples = Noise.seeded(1).two_sided_geometric(Fraction(1, 10), SIZE)
    assert fit_integers(samples + 7, geometric(0.1, 7)).fits
    assert not fit_integers(samples + 8, geometric(0.1, 7)).fits


def test_p_values_of_a_true_law_are_small_no_more_often_than_they_say() -> None:
    values = [
        fit_integers(Noise.seeded(seed).two_sided_geometric(Fraction(1, 3), 5000), geometric(1 / 3)).p_value
        for seed in range(200)
    ]
    # 40 expected at most, with a standard deviation of 6; there are some, or nothing would ever be rejected.
    assert 0 < sum(value <= 0.2 for value in values) < 75


@pytest.mark.parametrize(("samples", "likely"), [(1500, 107.7), (2000, 135.3), (2000, 238.4)])
def test_a_right_law_is_rejected_no_more_often_than_once_in_a_milliard(samples: int, likely: float) -> None:
    # All samples of a law of two outcomes there are, weighed by their chance.
    chance = likely / samples
    law = {"a": chance, "b": 1 - chance}
    rejected = sum(
        stats.binom.pmf(hits, samples, chance)
        for hits in range(samples + 1)
        if stats.binom.pmf(hits, samples, chance) > 1e-16
        and not fit_outcomes(["a"] * hits + ["b"] * (samples - hits), law).fits
    )
    assert rejected <= 1e-9


def test_one_answer_that_the_law_all_but_excludes_is_a_misfit() -> None:
    samples = Noise.seeded(1).two_sided_geometric(Fraction(1), 1000)
    assert not fit_integers(np.append(samples, 60), geometric(1.0)).fits
    assert fit_integers(np.append(samples, 12), geometric(1.0)).fits
    law = {"a": 0.5, "b": 0.5, "c": 1e-14}
    assert not fit_outcomes(["a", "b"] * 500 + ["c"], law).fits


def test_numbers_off_the_grid_are_a_misfit() -> None:
    samples = Noise.seeded(1).two_sided_geometric(Fraction(1), 1000)
    assert fit_integers(samples.astype(float), geometric(1.0)).fits
    assert not fit_integers(np.append(samples, 0.5), geometric(1.0)).fits
    assert not fit_integers(np.append(samples, np.nan), geometric(1.0)).fits


def test_samples_far_out_in_a_tail_are_a_misfit() -> None:
    samples = Noise.seeded(1).two_sided_geometric(Fraction(1), SIZE)
    assert not fit_integers(np.append(samples, [10**15] * 200), geometric(1.0)).fits


def test_finite_laws_are_fitted_outcome_by_outcome() -> None:
    law = {True: Fraction(2, 3), False: Fraction(1, 3)}
    drawn = Noise.seeded(1).bernoulli(Fraction(2, 3), SIZE).tolist()
    assert fit_outcomes(drawn, law).fits
    assert not fit_outcomes(drawn, {True: 0.6, False: 0.4}).fits


def test_an_outcome_that_the_law_excludes_is_a_misfit() -> None:
    assert not fit_outcomes(["a"] * 1000 + ["b"] * 1000 + ["c"], {"a": 0.5, "b": 0.5}).fits


def test_too_few_samples_and_laws_that_are_none_are_refused() -> None:
    with pytest.raises(InputError):
        fit_integers([1, 2, 3], geometric(0.01))
    with pytest.raises(InputError):
        fit_integers([], geometric(1.0))
    with pytest.raises(InputError):
        fit_integers([0] * 100, lambda value: 1.0)
