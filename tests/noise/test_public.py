# SPDX-License-Identifier: Apache-2.0
"""Public coins: what anybody computes again from a release must come out the same."""

from __future__ import annotations

import numpy as np

from anonymaly.noise.public import PublicCoins


def test_public_coins_are_the_words_of_splitmix64() -> None:
    # The first three words of its reference implementation at seed 0.
    words = (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F)
    expected = [((word >> 12) + 0.5) / 2**52 for word in words]
    assert PublicCoins(0).even(3).tolist() == expected


def test_public_coins_go_on_where_they_stopped_and_differ_by_seed() -> None:
    coins, other = PublicCoins(5), PublicCoins(6)
    assert [*coins.even(2), *coins.even(3)] == PublicCoins(5).even(5).tolist()
    assert not set(PublicCoins(5).even(100)) & set(other.even(100))


def test_places_come_as_often_as_their_mass_says_and_masses_below_zero_never() -> None:
    places = PublicCoins(0).places(np.array([1.0, -5.0, 3.0, 0.0]), 10_000)
    shares = np.bincount(places, minlength=4) / 10_000
    assert shares[1] == shares[3] == 0
    assert abs(shares[0] - 0.25) < 0.02


def test_places_without_any_mass_are_all_alike() -> None:
    shares = np.bincount(PublicCoins(0).places([-1.0, 0.0], 10_000), minlength=2) / 10_000
    assert abs(shares[0] - 0.5) < 0.02


def test_normal_numbers_have_mean_zero_and_deviation_one() -> None:
    numbers = PublicCoins(1).normal(20_000)
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.std() - 1) < 0.03
