# SPDX-License-Identifier: Apache-2.0
"""The flip: its probability is the paper's, exactly, however small."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.identify.mechanism import release_verdicts
from anonymaly.questions.identify.verdicts import Verdicts, flip_probability
from tests.questions.identify.graphs import chance_of_yes

BITS = 400


@given(ratio=st.fractions(Fraction(1, 100), Fraction(99, 100)), steps=st.integers(1, 40), yes=st.booleans())
def test_noise_on_the_margin_says_yes_as_often_as_the_papers_flip(
    ratio: Fraction, steps: int, yes: bool
) -> None:
    verdicts = Verdicts(np.array([yes]), np.array([steps]))
    margin = int(verdicts.margins[0])

    def mass(x: int) -> Fraction:  # of the two-sided geometric law with e^-ε = ratio
        return (1 - ratio) / (1 + ratio) * ratio ** abs(x)

    def tail(x: int) -> Fraction:  # Pr[X >= x]
        return ratio**x / (1 + ratio) if x >= 0 else 1 - ratio ** (1 - x) / (1 + ratio)

    assert tail(0) == (1 + mass(0)) / 2  # the law is symmetric
    assert all(tail(x) - tail(x + 1) == mass(x) for x in range(-margin - 3, -margin + 4))
    assert [tail(-margin)] == chance_of_yes(verdicts, 1 / ratio)


@given(
    rate=st.fractions(Fraction(1, 1000), Fraction(3), max_denominator=1000).filter(bool),
    steps=st.integers(1, 300),
)
def test_the_stated_probability_is_the_papers_formula(rate: Fraction, steps: int) -> None:
    low, high = (Fraction(end, 1 << BITS) for end in flip_probability(rate, steps).bounds(BITS))
    # e^(−ε(λ−1))/(1+e^ε), written out with bounds on its two exponentials.
    keep_low, keep_high = (
        Fraction(end, 1 << BITS) for end in ExactProbability.exponential(rate * (steps - 1)).bounds(BITS)
    )
    one_low, one_high = (Fraction(end, 1 << BITS) for end in ExactProbability.exponential(rate).bounds(BITS))
    assert keep_low / (1 + 1 / one_low) <= high
    assert keep_high / (1 + 1 / one_high) >= low
    assert high - low < Fraction(1, 1 << (BITS - 10))


def test_a_probability_of_1e_21_is_stated_to_the_last_digit_of_a_float() -> None:
    assert float(flip_probability(Fraction(1, 10), 477)) == pytest.approx(1.0097e-21, rel=1e-4)
    assert float(flip_probability(Fraction(1, 10), 1)) == pytest.approx(0.475, abs=1e-4)


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("yes", [True, False])
def test_answers_are_flipped_as_often_as_stated(steps: int, yes: bool) -> None:
    rate, number = Fraction(1, 2), 100_000
    verdicts = Verdicts(np.full(number, yes), np.full(number, steps))
    answers = release_verdicts(verdicts, rate, Noise.seeded(steps))
    expected = float(flip_probability(rate, steps)) * number
    flips = int((answers != yes).sum())
    # False alarm: one in a million.
    assert chisquare([flips, number - flips], [expected, number - expected]).pvalue > 1e-6


def test_answers_of_a_batch_are_independent_and_in_order() -> None:
    yes = np.arange(40_000) % 3 == 0
    steps = np.where(yes, 1, 30)
    answers = release_verdicts(Verdicts(yes, steps), Fraction(1), Noise.seeded(5))
    assert not answers[~yes].any()
    kept = answers[yes]
    both = int((kept[:-1] & kept[1:]).sum())
    chance = (1 - float(flip_probability(Fraction(1), 1))) ** 2
    # Overlapping pairs: their count's variance is below three times the binomial one.
    assert abs(both - chance * (len(kept) - 1)) < 5 * np.sqrt(3 * len(kept) * chance * (1 - chance))


def test_a_clear_answer_is_never_flipped_in_practice() -> None:
    verdicts = Verdicts(np.array([True, False] * 500), np.full(1000, 10**12))
    answers = release_verdicts(verdicts, Fraction(1, 10), Noise.system())
    assert answers.tolist() == [True, False] * 500
