# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction
from math import comb, isqrt, sqrt

import numpy as np
import pytest
from scipy import stats

from anonymaly.noise import ExactProbability, Noise
from anonymaly.noise.binomial import FEWEST_REJECTED, acceptance, binomial, fair_binomial
from anonymaly.noise.bounds import exp_minus
from anonymaly.noise.chacha import Words
from anonymaly.noise.probability import read_probability
from tests.noise.statistics import FALSE_ALARM, chi_square

PROBABILITIES = [
    Fraction(1, 3),
    Fraction(3, 8),
    ExactProbability.exponential(Fraction(1, 5)),
    ExactProbability.logistic(Fraction(3, 2), Fraction(1, 2)),
]


def fits(samples: list[int], trials: int, probability: float) -> float:
    """χ² in sixty bins around the mean, tails included."""
    middle, width = trials * probability, sqrt(trials * probability * (1 - probability))
    edges = sorted({int(middle + width * step) for step in np.linspace(-3, 3, 59)})
    below = np.array([sum(sample <= edge for sample in samples) for edge in edges] + [len(samples)])
    masses = np.append(stats.binom.cdf(edges, trials, probability), 1.0)
    return chi_square(np.diff(below, prepend=0), np.diff(masses, prepend=0.0))


@pytest.mark.parametrize("probability", PROBABILITIES, ids=str)
@pytest.mark.parametrize("trials", [1, 2, 7])
def test_few_trials_have_the_exact_binomial_law(
    trials: int, probability: Fraction | ExactProbability
) -> None:
    words, bounds = Words(bytes(32), (trials, 0, 0)), read_probability(probability)
    counts = np.bincount([binomial(words, trials, bounds) for _ in range(10_000)], minlength=trials + 1)
    mass = float(probability)
    assert chi_square(counts, stats.binom.pmf(np.arange(trials + 1), trials, mass)) > FALSE_ALARM
    assert chi_square(counts, stats.binom.pmf(np.arange(trials + 1), trials, mass * 0.8)) < FALSE_ALARM


@pytest.mark.parametrize("counted", [FEWEST_REJECTED, 2**16], ids=["by rejection", "by counting bits"])
@pytest.mark.parametrize("trials", [FEWEST_REJECTED + 1, FEWEST_REJECTED + 2, 50_000])
def test_both_ways_to_a_fair_binomial_have_its_law(trials: int, counted: int) -> None:
    words = Words(bytes(32), (trials, 1, 0))
    samples = [fair_binomial(words, trials, counted) for _ in range(6_000)]
    assert fits(samples, trials, 0.5) > FALSE_ALARM
    # A mean off by a quarter of a deviation, and a variance off by 15 %, are noticed.
    assert fits(samples, trials, 0.5 + 0.125 / sqrt(trials)) < FALSE_ALARM
    spread = [trials // 2 + round((sample - trials / 2) * 1.15) for sample in samples]
    assert fits(spread, trials, 0.5) < FALSE_ALARM


@pytest.mark.parametrize("counted", [FEWEST_REJECTED, 2**16], ids=["by rejection", "by counting bits"])
def test_both_ways_to_an_uneven_binomial_have_its_law(counted: int) -> None:
    words, probability = Words(bytes(32), (2, 0, 0)), PROBABILITIES[3]
    samples = [binomial(words, 20_000, read_probability(probability), counted) for _ in range(2_000)]
    assert fits(samples, 20_000, float(probability)) > FALSE_ALARM
    assert fits(samples, 20_000, float(probability) * 1.05) < FALSE_ALARM


@pytest.mark.parametrize("distance", [0, 1, 5, 64, 200, 1000, 2048])
@pytest.mark.parametrize("bits", [64, 200])
def test_acceptance_bounds_enclose_the_exact_ratio(distance: int, bits: int) -> None:
    half = 4096
    width = isqrt(half)
    ratio = Fraction(comb(2 * half, half + distance), comb(2 * half, half))
    tilt = Fraction(distance, width) - Fraction(half, 2 * width * width)
    scale = 600
    low, high = exp_minus(abs(tilt), scale)
    factors = (Fraction(low, 2**scale), Fraction(high, 2**scale))
    if tilt > 0:
        factors = (1 / factors[1], 1 / factors[0])
    bound_low, bound_high = acceptance(distance, half, width, bits)
    assert bound_low <= ratio * factors[1] * 2**bits
    assert bound_high >= ratio * factors[0] * 2**bits
    assert bound_high - bound_low <= 3
    assert ratio * factors[0] <= 1


@pytest.mark.parametrize("distance", [2049, 3000, 4096])
def test_far_offsets_are_as_unlikely_as_claimed(distance: int) -> None:
    half = 4096
    width = isqrt(half)
    ratio = Fraction(comb(2 * half, half + distance), comb(2 * half, half))
    # exp(t) <= 2^(1.5·t)
    assert ratio * 2 ** (3 * distance // (2 * width) + 1) < Fraction(1, 2**300)
    assert acceptance(distance, half, width, 300) == (0, 1)
    with pytest.raises(OverflowError):
        acceptance(distance, half, width, 301)


@pytest.mark.parametrize("trials", [2**40, 2**100 + 1])
def test_huge_binomials_have_their_mean_and_variance(trials: int) -> None:
    # z of the mean and of the variance of 100 draws, |z| < 6.5: false-alarm rate below 1e-9 for the mean, and
    # below 1e-6 for the variance, whose law is a little skewed.
    for probability in (Fraction(1, 3), ExactProbability.logistic(Fraction(5), Fraction(1, 10))):
        noise = Noise.seeded(trials % 1009)
        mass = read_probability(probability)(400)[0]
        mean = Fraction(mass, 2**400) * trials
        deviation = sqrt(float(mean) * (1 - mass / 2**400))
        standard = np.array(
            [float(noise.binomial(trials, probability) - mean) / deviation for _ in range(100)]
        )
        assert abs(standard.mean()) * sqrt(100) < 6.5
        assert abs((standard**2).mean() - 1) * sqrt(100 / 2) < 6.5


def test_a_huge_fair_binomial_looks_normal_and_its_low_bits_uniform() -> None:
    # At 2^100 trials the law differs from the normal one by less than 2^-40.
    words = Words(bytes(32), (3, 0, 0))
    samples = [fair_binomial(words, 2**100) for _ in range(4_000)]
    standard = np.array([float(sample - 2**99) / 2**49 for sample in samples])
    edges = stats.norm.ppf(np.linspace(0, 1, 41)[1:-1])
    counts = np.bincount(np.searchsorted(edges, standard), minlength=40)
    assert chi_square(counts, np.full(40, 1 / 40)) > FALSE_ALARM
    low_bits = np.bincount([sample % 16 for sample in samples], minlength=16)
    assert chi_square(low_bits, np.full(16, 1 / 16)) > FALSE_ALARM


def test_certain_outcomes_and_no_trials() -> None:
    noise = Noise.seeded(1)
    assert noise.binomial(10**30, Fraction(1)) == 10**30
    assert noise.binomial(10**30, Fraction(0)) == 0
    assert noise.binomial(10**30, ExactProbability.exponential(Fraction(0))) == 10**30
    assert noise.binomial(10**30, ExactProbability.exponential(Fraction(0)).complement()) == 0
    assert noise.binomial(0, Fraction(1, 2)) == 0
    assert noise.binomial(10**30, ExactProbability.exponential(Fraction(10**12))) == 0
