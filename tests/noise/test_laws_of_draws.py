# SPDX-License-Identifier: Apache-2.0
"""Each sampler against its exact law: χ² at 10^5 draws, false-alarm rate 1e-9, and against laws 10 % off."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from anonymaly.noise import ExactProbability, Noise, source
from tests.noise.statistics import (
    DRAWS,
    FALSE_ALARM,
    chi_square,
    fit,
    one_sided_cumulative,
    one_sided_edges,
    two_sided_cumulative,
    two_sided_edges,
)

RATES = [
    Fraction(3),
    Fraction(1),
    Fraction(7, 10),
    Fraction(1, 10),
    Fraction(1, 16),
    Fraction(1, 17),
    Fraction(1, 100),
    Fraction(3, 10**9 + 7),
    Fraction(1, 10**9),
    Fraction(1, 10**15),
    Fraction(1, 2**56),
    Fraction(2**40 + 1, 2**56 - 1),
]


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_two_sided_geometric_draws_have_their_law_and_no_other(rate: Fraction) -> None:
    draws = Noise.seeded(1).two_sided_geometric(rate, DRAWS)
    edges = two_sided_edges(rate)
    assert fit(draws, two_sided_cumulative(float(rate)), edges) > FALSE_ALARM
    for scale in (0.9, 1.1):
        assert fit(draws, two_sided_cumulative(float(rate) * scale), edges) < FALSE_ALARM


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_one_sided_geometric_draws_have_their_law_and_no_other(rate: Fraction) -> None:
    draws = Noise.seeded(2).one_sided_geometric(rate, DRAWS)
    edges = one_sided_edges(rate)
    assert draws.min() >= 0
    assert fit(draws, one_sided_cumulative(float(rate)), edges) > FALSE_ALARM
    for scale in (0.9, 1.1):
        assert fit(draws, one_sided_cumulative(float(rate) * scale), edges) < FALSE_ALARM


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 10**9 + 7)], ids=str)
def test_low_bits_of_geometric_draws_are_as_their_law_says(rate: Fraction) -> None:
    # With x = 2^k·h + l the low bits come from another step than the high ones; here they are nearly uniform.
    draws = np.abs(Noise.seeded(3).two_sided_geometric(rate, DRAWS))
    residues = np.arange(4)
    masses = np.exp(-float(rate) * residues)
    masses[0] -= (1 - np.exp(-4 * float(rate))) / 2  # zero has no second sign
    assert chi_square(np.bincount(draws % 4, minlength=4), masses / masses.sum()) > FALSE_ALARM


def test_noise_of_rate_50_is_zero_and_of_rate_a_billionth_is_large() -> None:
    assert not Noise.seeded(4).two_sided_geometric(Fraction(50), DRAWS).any()
    assert not Noise.seeded(4).two_sided_geometric(Fraction(1000), 100).any()
    draws = Noise.seeded(4).two_sided_geometric(Fraction(1, 10**9), DRAWS)
    assert len(np.unique(draws)) > DRAWS * 0.999
    assert np.abs(draws).max() > 5 * 10**9


@pytest.mark.parametrize(
    "rate",
    [Fraction(1), Fraction(1, 2), Fraction(13, 10), Fraction(5, 2), Fraction(2**56 - 1, 2**56)],
    ids=str,
)
def test_bernoulli_exp_succeeds_as_often_as_exp_says(rate: Fraction) -> None:
    successes = int(Noise.seeded(5).bernoulli_exp(rate, DRAWS).sum())
    observed = [successes, DRAWS - successes]
    for scale in (1.0, 0.9, 1.1):
        mass = np.exp(-float(rate) * scale)
        assert (chi_square(observed, [mass, 1 - mass]) > FALSE_ALARM) == (scale == 1.0)


def test_bernoulli_exp_of_zero_and_of_a_huge_rate_is_certain() -> None:
    assert Noise.seeded(6).bernoulli_exp(Fraction(0), 1000).all()
    assert not Noise.seeded(6).bernoulli_exp(Fraction(2**56), 1000).any()
    assert Noise.seeded(6).bernoulli_exp(Fraction(1, 2**56), 1000).all()


PROBABILITIES = [
    Fraction(1, 3),
    Fraction(5, 8),
    Fraction(10**40 + 1, 3 * 10**40),
    ExactProbability.exponential(Fraction(1)),
    ExactProbability.exponential(Fraction(7, 10)).complement(),
    ExactProbability.logistic(Fraction(1, 2), Fraction(3, 10)),
    ExactProbability.logistic(Fraction(0), Fraction(0)),
]


@pytest.mark.parametrize("bits", [1, 3, 31])
@pytest.mark.parametrize("probability", PROBABILITIES, ids=str)
def test_bernoulli_draws_have_their_probability_however_many_bits_come_first(
    probability: Fraction | ExactProbability, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Few first bits leave many draws undecided, which sends them through the exact refinement.
    monkeypatch.setattr(source, "PREFIX_BITS", bits)
    size = DRAWS if bits == 31 else DRAWS // 20
    successes = int(Noise.seeded(7).bernoulli(probability, size).sum())
    mass = float(probability)
    assert chi_square([successes, size - successes], [mass, 1 - mass]) > FALSE_ALARM
    if bits == 31:
        for scale in (0.9, 1.1):
            assert chi_square([successes, size - successes], [mass * scale, 1 - mass * scale]) < FALSE_ALARM


def test_bernoulli_of_zero_and_one_is_certain() -> None:
    for certain in (Fraction(1), ExactProbability.exponential(Fraction(0))):
        assert Noise.seeded(8).bernoulli(certain, 1000).all()
    for never in (Fraction(0), ExactProbability.exponential(Fraction(0)).complement()):
        assert not Noise.seeded(8).bernoulli(never, 1000).any()


@pytest.mark.parametrize("bound", [1, 2, 6, 1000, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**61, 2**63, 10**30])
def test_uniform_draws_fill_their_range_evenly(bound: int) -> None:
    size = DRAWS if bound <= 2**63 else DRAWS // 10
    draws = Noise.seeded(9).uniform(bound, size)
    assert 0 <= min(draws) <= max(draws) < bound
    bins = min(bound, 50)
    if bins > 1:
        edges = [-(-bound * number // bins) for number in range(bins + 1)]
        masses = [(after - before) / bound for before, after in pairwise(edges)]
        places = np.searchsorted(
            np.array(edges[1:-1], dtype=object if bound > 2**63 else np.int64), draws, "right"
        )
        assert chi_square(np.bincount(places.astype(int), minlength=bins), masses) > FALSE_ALARM
    parity = np.bincount([int(draw) % 2 for draw in draws[:20_000]], minlength=2)
    odd = (bound // 2) / bound
    if bound > 1:
        assert chi_square(parity, [1 - odd, odd]) > FALSE_ALARM


def test_system_noise_has_its_law_too() -> None:
    # Fresh randomness: fails once in a thousand million runs.
    draws = Noise.system().two_sided_geometric(Fraction(1, 10), DRAWS)
    assert fit(draws, two_sided_cumulative(0.1), two_sided_edges(Fraction(1, 10))) > FALSE_ALARM


@pytest.mark.parametrize("count", [2**53 - 1, 2**53 + 1, 2**62 - 1, -(2**62) + 1, 0])
def test_noise_is_added_to_large_counts_without_rounding(count: int) -> None:
    noisy = Noise.seeded(10).add_two_sided_geometric(np.full((2, 50), count), Fraction(1, 10))
    alone = Noise.seeded(10).two_sided_geometric(Fraction(1, 10), 100).reshape(2, 50)
    assert noisy.shape == (2, 50)
    assert [int(value) - count for value in noisy.ravel()] == alone.ravel().tolist()
