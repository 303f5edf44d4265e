# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from anonymaly.errors import InputError
from anonymaly.noise import ExactProbability, Noise, thinning
from tests.noise.statistics import FALSE_ALARM, chi_square

KEPT = ExactProbability.exponential(Fraction(1)).complement()


@pytest.mark.parametrize("trials", [1, 5, 31, 32, 33, 70])
@pytest.mark.parametrize("probability", [KEPT, Fraction(1, 3), Fraction(5, 8)], ids=["1-1/e", "1/3", "5/8"])
def test_counts_have_the_binomial_law(trials: int, probability: Fraction | ExactProbability) -> None:
    kept = Noise.seeded(trials).thin(np.full(20_000, trials), probability)
    law = stats.binom.pmf(np.arange(trials + 1), trials, float(probability))
    assert chi_square(np.bincount(kept, minlength=trials + 1), law) > FALSE_ALARM
    other = stats.binom.pmf(np.arange(trials + 1), trials, float(probability) * 0.9)
    assert chi_square(np.bincount(kept, minlength=trials + 1), other) < FALSE_ALARM


def test_large_counts_are_drawn_by_rejection_with_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    large = thinning.COUNTED + 1
    kept = Noise.seeded(1).thin([large, 3, large], KEPT)
    expected, deviation = large * float(KEPT), (large * float(KEPT) * (1 - float(KEPT))) ** 0.5
    assert abs(kept[0] - expected) < 6 * deviation
    assert kept[0] != kept[2]
    assert 0 <= kept[1] <= 3


def test_all_and_none_are_kept_at_the_ends() -> None:
    counts = np.array([[0, 7], [10**9, 2]])
    assert (Noise.seeded(1).thin(counts, Fraction(1)) == counts).all()
    assert not Noise.seeded(1).thin(counts, Fraction(0)).any()


def test_threads_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.arange(40_000) % 50
    several = Noise.seeded(2).thin(counts, KEPT)
    monkeypatch.setattr("anonymaly.core.threads.worker_threads", lambda: 1)
    assert (Noise.seeded(2).thin(counts, KEPT) == several).all()


def test_negative_counts_are_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        Noise.seeded(1).thin([1, -1], KEPT)


@pytest.mark.parametrize("digits", [0, 1, 3])
def test_what_the_digits_of_a_table_leave_open_is_decided_by_further_ones(
    digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With so few digits most trials are level with the probability in all of them, as at rate 175 in 252.
    monkeypatch.setattr(thinning, "DIGITS", digits)
    kept = Noise.seeded(4).thin(np.full(4_000, 5), KEPT)
    law = stats.binom.pmf(np.arange(6), 5, float(KEPT))
    assert chi_square(np.bincount(kept, minlength=6), law) > FALSE_ALARM
