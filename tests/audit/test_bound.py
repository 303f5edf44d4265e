# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from anonymaly.audit.bound import LossBound, exact_loss, loss_bound
from anonymaly.audit.statistics import statistics_of
from anonymaly.errors import InputError
from anonymaly.noise import Noise


def randomised_response(truth: bool, epsilon: float, size: int, seed: int) -> np.ndarray:
    lie = np.random.default_rng(seed).random(size) < 1 / (1 + math.exp(epsilon))
    return np.where(lie, not truth, truth)


@pytest.mark.slow
def test_two_samples_of_one_law_show_no_loss() -> None:
    noise = Noise.seeded(1)
    first, second = (noise.two_sided_geometric(Fraction(1, 2), 100_000) for _ in range(2))
    assert loss_bound(first, second).epsilon == 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(3)])
def test_the_bound_is_close_below_the_loss_of_a_shifted_geometric_law(epsilon: Fraction) -> None:
    noise = Noise.seeded(2)
    first = noise.two_sided_geometric(epsilon, 500_000)
    second = noise.two_sided_geometric(epsilon, 500_000) + 1
    assert 0.85 * epsilon < loss_bound(first, second).epsilon <= epsilon


def test_bounds_exceed_the_truth_no_more_often_than_the_alarm_rate() -> None:
    exceeded = 0
    for seed in range(200):
        first, second = (randomised_response(truth, 1.0, 2000, 2 * seed + truth) for truth in (True, False))
        exceeded += loss_bound(first, second, alarm=0.1).violates(1.0)
    # 20 expected at most, with a standard deviation of 4.3; the bounds are in truth far more careful.
    assert exceeded <= 40


def test_texts_are_judged_by_single_outcomes_and_sets_of_them() -> None:
    random = np.random.default_rng(3)
    outcomes = np.array(["a", "b", "c", "d"])
    first = random.choice(outcomes, 200_000, p=[0.4, 0.1, 0.4, 0.1])
    second = random.choice(outcomes, 200_000, p=[0.1, 0.4, 0.1, 0.4])
    found = loss_bound(first, second)
    assert 0.9 * math.log(4) < found.epsilon <= math.log(4)


def test_an_answer_that_only_one_table_gives_is_a_loss_that_grows_with_the_samples() -> None:
    constant = np.zeros(1000, int)
    assert loss_bound(constant, constant + 1).epsilon > 3
    assert loss_bound(np.zeros(100_000, int), np.ones(100_000, int)).epsilon > 8


def test_parts_that_share_their_noise_are_caught_by_their_difference() -> None:
    noise = Noise.seeded(4)

    def answers(truth: int) -> np.ndarray:
        shared = noise.two_sided_geometric(Fraction(1, 100), 20_000)
        return np.column_stack([shared, truth + shared])

    assert loss_bound(answers(0), answers(1)).epsilon > 5


def test_answers_that_confirm_have_no_say_in_what_is_looked_at() -> None:
    # Few combinations among the answers that choose, and ever new ones among the rest.
    few = np.column_stack([np.arange(8000) % 2, np.arange(8000) % 3])
    many = few.copy()
    many[2000:, 0] = np.arange(6000)
    names = [[name for name, *_ in statistics_of(few, other)] for other in (few, many)]
    assert names[0] == names[1]
    assert "combination" in names[0]


def test_a_one_sided_promise_is_tested_in_its_own_direction_only() -> None:
    # Nobody of the second table is ever hidden: harmless forward, a disclosure backward.
    random = np.random.default_rng(5)
    first, second = np.zeros(50_000, int), (random.random(50_000) < 0.3).astype(int)
    assert loss_bound(first, second, direction="forward").epsilon <= -math.log(0.7)
    assert loss_bound(first, second).epsilon > 5


def test_continuous_answers_are_judged_by_tails() -> None:
    random = np.random.default_rng(6)
    # On one grid, coarser than the last digits of either: those are another loss.
    first, second = (np.rint(random.laplace(mean, 1, 200_000) * 2**20) / 2**20 for mean in (0, 1))
    assert 0.9 < loss_bound(first, second).epsilon <= 1


def test_the_last_digits_of_floating_point_noise_are_seen() -> None:
    random = np.random.default_rng(6)
    found = loss_bound(random.laplace(0, 1, 5_000), random.laplace(1, 1, 5_000))
    assert found.epsilon > 3
    assert found.event.startswith("lowest bit of answer")


def test_sharing_the_alarm_among_tests_lowers_the_bound() -> None:
    first, second = (randomised_response(truth, 1.0, 10_000, truth) for truth in (True, False))
    assert loss_bound(first, second, tests=1000).epsilon < loss_bound(first, second).epsilon


def test_findings_speak_of_violations_found_or_not_found() -> None:
    bound = LossBound(0.6, "answer > 3", 1000, 1e-6)
    assert bound.finding(0.5).startswith("violation found; ε = 0.5 is claimed and at least 0.6 is lost")
    assert bound.finding(0.7).startswith("no violation found; of ε = 0.7")


def test_unequal_samples_and_impossible_alarm_rates_are_refused() -> None:
    with pytest.raises(InputError):
        loss_bound(np.zeros(100), np.zeros(99))
    with pytest.raises(InputError):
        loss_bound(np.zeros(100), np.zeros(100), alarm=0.0)


def test_the_exact_loss_is_the_largest_log_ratio_in_one_direction() -> None:
    first = {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    second = {"a": Fraction(1, 8), "b": Fraction(7, 8)}
    assert exact_loss(first, second) == pytest.approx(math.log(4))
    assert exact_loss(second, first) == pytest.approx(math.log(7 / 4))
    assert exact_loss(first, {"a": 1.0}) == math.inf
    assert exact_loss({"a": 1}, first) == pytest.approx(math.log(2))


def test_the_exact_loss_survives_masses_that_floats_cannot_divide() -> None:
    tiny = Fraction(1, 10**400)
    assert exact_loss({0: 1 - tiny, 1: tiny}, {0: 1 - tiny / 2, 1: tiny / 2}) == pytest.approx(math.log(2))


def test_what_does_not_sum_to_one_is_no_law() -> None:
    with pytest.raises(InputError):
        exact_loss({"a": 0.5}, {"a": 1.0})
    with pytest.raises(InputError):
        exact_loss({"a": 1.0}, {"a": math.nan})
