# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anonymaly.noise import Noise, geometric
from anonymaly.noise.chacha import open_stream, set_nonce
from tests.noise.statistics import DRAWS, FALSE_ALARM, fit, two_sided_cumulative, two_sided_edges

KEY = bytes(range(32))
RATE = Fraction(1, 10)


@pytest.mark.parametrize("rate", [Fraction(1), RATE, Fraction(1, 10**9), Fraction(1, 2**56)], ids=str)
def test_noise_over_consecutive_indices_has_its_law_and_no_other(rate: Fraction) -> None:
    draws = Noise.keyed(KEY).two_sided_geometric_at(rate, np.arange(DRAWS, dtype=np.uint64))
    edges = two_sided_edges(rate)
    assert fit(draws, two_sided_cumulative(float(rate)), edges) > FALSE_ALARM
    for scale in (0.9, 1.1):
        assert fit(draws, two_sided_cumulative(float(rate) * scale), edges) < FALSE_ALARM


@pytest.mark.parametrize("rate", [Fraction(2), RATE, Fraction(1, 10**12 + 1)], ids=str)
def test_an_index_has_the_same_noise_in_every_order_and_batch(rate: Fraction) -> None:
    noise = Noise.keyed(KEY)
    indices = np.arange(50_000, dtype=np.uint64) * np.uint64(2**40 + 1)
    expected = noise.two_sided_geometric_at(rate, indices)
    order = np.random.default_rng(1).permutation(len(indices))
    assert np.array_equal(noise.two_sided_geometric_at(rate, indices[order]), expected[order])
    assert np.array_equal(noise.two_sided_geometric_at(rate, indices[1001:1040]), expected[1001:1040])
    assert noise.two_sided_geometric_at(rate, int(indices[777])) == expected[777]


def test_the_noise_of_an_index_is_the_first_draw_of_its_own_stream() -> None:
    # Also where a draw needs more than the first block, as small rates with large denominators often do.
    for rate in (RATE, Fraction(2**20, 2**56 - 5)):
        drawn = Noise.keyed(KEY).two_sided_geometric_at(rate, np.arange(3000))
        stream = open_stream(KEY)
        for index in range(3000):
            set_nonce(stream, index, 0, 0)
            assert geometric.two_sided_geometric(
                stream, *geometric.geometric_table(rate.numerator, rate.denominator)
            ) == int(drawn[index])


def test_every_way_to_write_an_index_means_the_same() -> None:
    noise = Noise.keyed(KEY)
    wide = [0, 1, 2**32 + 5, 2**64 - 1, 2**64, 2**96 - 1]
    expected = [noise.two_sided_geometric_at(Fraction(1, 1000), index) for index in wide]
    assert noise.two_sided_geometric_at(Fraction(1, 1000), wide).tolist() == expected
    pairs = np.array([[index % 2**64, index >> 64] for index in wide], np.uint64)
    assert noise.two_sided_geometric_at(Fraction(1, 1000), pairs).tolist() == expected
    triples = np.array([[index >> shift & 0xFFFFFFFF for shift in (0, 32, 64)] for index in wide], np.uint32)
    assert noise.two_sided_geometric_at(Fraction(1, 1000), triples).tolist() == expected
    assert noise.two_sided_geometric_at(Fraction(1, 1000), np.array(wide[:3])).tolist() == expected[:3]
    assert len(set(expected)) == len(wide)


def test_another_key_gives_other_noise() -> None:
    first = Noise.keyed(KEY).two_sided_geometric_at(Fraction(1, 1000), np.arange(100))
    second = Noise.keyed(KEY[::-1]).two_sided_geometric_at(Fraction(1, 1000), np.arange(100))
    assert np.count_nonzero(first == second) < 5
