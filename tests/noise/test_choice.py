# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp, factorial

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.noise import Noise, choice
from anonymaly.noise.source import Mechanism
from tests.noise.statistics import FALSE_ALARM, chi_square

MECHANISMS: list[Mechanism] = ["permute_and_flip", "exponential"]
UTILITIES = [0, 3, 3, -5, 10, 20]
RATES = [Fraction(1, 10), Fraction(1, 1000), Fraction(1, 3)]


def exact_law(utilities: list[int], rate: float, mechanism: str) -> list[float]:
    best = max(utilities)
    if mechanism == "exponential":
        weights = [exp(rate * (utility - best)) for utility in utilities]
        return [weight / sum(weights) for weight in weights]
    masses = [0.0] * len(utilities)
    for order in permutations(range(len(utilities))):
        still = 1.0
        for candidate in order:
            success = exp(rate * (utilities[candidate] - best))
            masses[candidate] += still * success
            still *= 1 - success
    return [mass / factorial(len(utilities)) for mass in masses]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("utilities", [UTILITIES, [0, 1, 2, 3, 4, 5]], ids=["with a tie", "in steps"])
def test_choices_have_the_law_of_full_enumeration(
    utilities: list[int], rate: Fraction, mechanism: Mechanism
) -> None:
    noise = Noise.seeded(1)
    choices = np.bincount([noise.choose(utilities, rate, mechanism) for _ in range(4_000)], minlength=6)
    assert chi_square(choices, exact_law(utilities, float(rate), mechanism)) > FALSE_ALARM


def test_the_two_mechanisms_and_half_the_rate_are_told_apart() -> None:
    noise, utilities, rate = Noise.seeded(2), [0, 1, 2, 3, 4, 5], Fraction(1, 3)
    for mechanism, other in (MECHANISMS, MECHANISMS[::-1]):
        choices = np.bincount([noise.choose(utilities, rate, mechanism) for _ in range(12_000)], minlength=6)
        assert chi_square(choices, exact_law(utilities, float(rate), other)) < FALSE_ALARM
        assert chi_square(choices, exact_law(utilities, float(rate) / 2, mechanism)) < FALSE_ALARM


def test_the_last_class_of_the_exponential_mechanism_keeps_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # With two classes most candidates fall into the last one, which otherwise has a share of 2^-128.
    monkeypatch.setattr(choice, "CLASSES", 2)
    noise, utilities, rate = Noise.seeded(3), [0, 1, 2, 3, 8, 9], Fraction(1, 3)
    choices = np.bincount([noise.choose(utilities, rate, "exponential") for _ in range(4_000)], minlength=6)
    assert chi_square(choices, exact_law(utilities, float(rate), "exponential")) > FALSE_ALARM


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_only_valid_candidates_are_chosen_and_others_do_not_matter(mechanism: Mechanism) -> None:
    noise, utilities = Noise.seeded(4), [0, 10**6, 1, 2]
    valid = np.array([True, False, True, True])
    choices = np.bincount(
        [noise.choose(utilities, Fraction(1, 2), mechanism, valid) for _ in range(4_000)], minlength=4
    )
    assert choices[1] == 0
    assert chi_square(choices[[0, 2, 3]], exact_law([0, 1, 2], 0.5, mechanism)) > FALSE_ALARM


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_good_candidate_among_many_bad_ones_is_found(mechanism: Mechanism) -> None:
    utilities = np.zeros(1_000_000, np.int64)
    utilities[777_777] = 1000
    assert Noise.seeded(5).choose(utilities, Fraction(1), mechanism) == 777_777


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("rate", [Fraction(2**56), Fraction(2**56 - 1, 2**56), Fraction(1, 10**9)], ids=str)
def test_utilities_at_the_ends_of_the_range_do_not_overflow(mechanism: Mechanism, rate: Fraction) -> None:
    end = 2**62 - 1
    assert Noise.seeded(6).choose([-end, end, -end], rate, mechanism) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_equal_candidates_are_chosen_evenly_and_a_single_one_always(mechanism: Mechanism) -> None:
    noise = Noise.seeded(7)
    choices = np.bincount([noise.choose([5] * 4, Fraction(1), mechanism) for _ in range(4_000)], minlength=4)
    assert chi_square(choices, [0.25] * 4) > FALSE_ALARM
    assert noise.choose([-3], Fraction(1), mechanism) == 0


def test_no_candidate_is_refused() -> None:
    for utilities, valid in (([], None), ([1, 2], [False, False])):
        with pytest.raises(InputError, match="no candidate"):
            Noise.seeded(1).choose(utilities, Fraction(1), valid=valid)
