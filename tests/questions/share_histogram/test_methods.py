# SPDX-License-Identifier: Apache-2.0
"""What the methods give: what is conserved, what is never exceeded, and how near they come."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.arrays import Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise, laws, one_sided_geometric_quantile
from anonymaly.questions.share_histogram.kernels.smoothing import smooth
from anonymaly.questions.share_histogram.methods import METHODS, choice
from anonymaly.questions.share_histogram.methods.dawa import redistribute
from anonymaly.questions.share_histogram.methods.method import Facts


def table(seed: int, bins: int = 300) -> tuple[Integers, Integers]:
    """Steps and spikes among zeros, and a part of them."""
    generator = np.random.default_rng(seed)
    every = np.zeros(bins, np.int64)
    every[bins // 3 : bins // 2] = 400
    every[generator.integers(0, bins, 10)] = 5_000
    return every, generator.binomial(every, 0.5)


def release(name: str, every: Integers, others: Integers, epsilon: Fraction, seed: int = 1) -> Integers:
    method = METHODS[name]
    rates = method.rates(int(epsilon * 10**9), adjacency="replace", bins=len(every))
    return method.run(every, others, rates=rates, noise=Noise.seeded(seed))


@pytest.mark.parametrize("name", ["geometric", "smoothed", "dawa", "dawaz", "hybrid", "auto"])
def test_methods_that_read_every_record_are_exact_at_a_vast_epsilon(name: str) -> None:
    every, _ = table(1)
    others = every - (every > 0)  # so that no bin looks empty
    np.testing.assert_allclose(release(name, every, others, Fraction(900)), every)


@pytest.mark.parametrize("name", ["one_sided", "one_sided_l1", "sample"])
def test_methods_that_read_non_sensitive_records_alone_are_exact_for_those(name: str) -> None:
    every, others = table(2)
    assert (release(name, every, others, Fraction(900)) == others).all()


@pytest.mark.parametrize("name", ["one_sided", "sample"])
def test_true_counts_are_never_exceeded(name: str) -> None:
    every, others = table(3)
    assert (release(name, every, others, Fraction(1, 10)) <= others).all()


def test_the_sample_keeps_the_share_it_says() -> None:
    every, others = table(4)
    kept = release("sample", every, others, Fraction(1)).sum() / others.sum()
    assert abs(kept - (1 - np.exp(-1))) < 0.01


def test_the_median_is_added_to_positive_counts_alone() -> None:
    every, others = table(5)
    plain = release("one_sided", every, others, Fraction(1, 10))
    median = one_sided_geometric_quantile(Fraction(1, 10), Fraction(1, 2))
    expected = np.where(plain > 0, plain + median, 0)
    assert (release("one_sided_l1", every, others, Fraction(1, 10)) == expected).all()


@pytest.mark.parametrize("name", ["one_sided_l1", "sample", "smoothed", "dawa", "dawaz", "hybrid", "auto"])
def test_these_counts_are_never_negative(name: str) -> None:
    every, others = table(6)
    assert release(name, every, others, Fraction(1, 10)).min() >= 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30))
def test_every_piece_keeps_its_mass_unless_all_of_it_is_empty(cells: list[tuple[int, bool]]) -> None:
    model, empty = np.array([float(c) for c, _ in cells]), np.array([e for _, e in cells])
    found = redistribute(model, empty)
    assert not found[empty].any()
    start = 0
    for _, piece in groupby(model):
        end = start + len(list(piece))
        expected = 0.0 if empty[start:end].all() else model[start:end].sum()
        assert found[start:end].sum() == pytest.approx(expected)
        start = end


def test_pieces_are_told_apart_at_any_size() -> None:
    huge = np.array([2.0**60, 2.0**60, 0.0])
    assert redistribute(huge, np.array([True, False, False])).tolist() == [0.0, 2.0**61, 0.0]


def test_smoothing_keeps_steps_and_spikes_and_drops_noise() -> None:
    every, _ = table(7, 2000)
    noise = Noise.seeded(1).two_sided_geometric(Fraction(1, 2), 2000)
    found = smooth(every + noise, Fraction(1, 2))
    assert np.abs(found - every).sum() < 0.05 * np.abs(noise).sum()
    assert not smooth(noise, Fraction(1, 2)).any()


def test_smoothing_zeroes_what_noise_hides() -> None:
    assert not smooth(np.array([3, 4, 3, 3]), Fraction(1, 2)).any()
    assert smooth(np.array([300, 400, 300, 300]), Fraction(1, 2)).all()


def test_auto_leaves_no_group_out_because_there_are_many_cells() -> None:
    # By the rule of before, 65,536 cells at ε = 0.1 lost every sensitive record of a table of 60,000.
    every = np.zeros(65_536, np.int64)
    every[::8192] = 7_500
    others = np.where(np.arange(65_536) % 16_384, every, 0)
    found = release("auto", every, others, Fraction(1, 10))
    assert (np.abs(found - every)[::8192] < 1_000).all()


def test_sums_of_dense_counts_are_near_where_smoothing_ruins_them() -> None:
    every = np.random.default_rng(1).poisson(6, (64, 64))
    method, errors = METHODS["auto"], []
    rates = method.rates(10**8, adjacency="add_remove", bins=every.size)
    for seed in range(5):
        views = method.views(
            every.ravel(), every.ravel() // 4, rates=rates, noise=Noise.seeded(seed), facts=Facts(every.shape)
        )
        assert views.sums is not None
        errors.append([abs(float(view.sum()) - every.sum()) for view in (views.cells, views.sums)])
    cells, sums = np.mean(errors, axis=0)
    assert sums < 0.1 * cells


def test_a_positive_count_plus_the_mean_is_right_on_average() -> None:
    mean = laws.one_sided_geometric_mean(Fraction(1, 3))
    for count in (0, 1, 2, 7):
        masses = [(1 - np.exp(-1 / 3)) * np.exp(-k / 3) for k in range(400)]
        found = sum(p * (count - k + mean) for k, p in enumerate(masses) if count - k > 0)
        assert found == pytest.approx(count)


def spread(seed: int) -> Integers:
    """A few records in many cells, as words or places are: most cells empty, none large beside the noise."""
    return np.where(np.arange(1024) % 5 == 0, np.random.default_rng(seed).zipf(2.5, 1024), 0)


SHAPES = {
    "lone small counts": np.where(np.arange(512) % 64 == 0, 3, 0),
    "a few records in many cells": spread(1),
    "a slope": np.arange(300) // 60,
    "one record": (np.arange(256) == 99).astype(np.int64),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["smoothed", "dawa", "dawaz", "hybrid", "auto"])
def test_no_method_says_that_nobody_is_there_where_plain_noise_would_not(name: str, shape: str) -> None:
    every = SHAPES[shape]
    for part in (every * 0, every // 2, every):
        # In single cells plain noise is above 0 somewhere. So is the largest bucket of a partition, unless it
        # is one bucket: then all of it may be below.
        found = [release(name, every, part, Fraction(1, 10), seed).any() for seed in range(10)]
        assert sum(found) >= (5 if name.startswith("dawa") else 10)


def apart(view: npt.NDArray[Any], every: Integers) -> float:
    return float(np.abs(view - every).sum())


def test_auto_hardly_levels_dense_counts() -> None:
    # 4,096 counts around 85 with noise of 20, none of which has to do with its neighbours: the worst case.
    every = np.random.default_rng(1).gamma(1.5, 57, 4096).astype(np.int64)
    errors = [
        [
            apart(release(name, every, every // 4, Fraction(1, 10), seed), every)
            for name in ("auto", "geometric")
        ]
        for seed in range(3)
    ]
    auto, plain = np.mean(errors, axis=0)
    assert auto < 2 * plain


def test_a_small_count_beside_one_sided_noise_gets_little_of_the_median_back() -> None:
    # 1 of 20 counts of 5 is above noise of 100 on average, and by 3 or so; with the median it would be 70.
    every, rate = np.full(4000, 5), Fraction(1, 100)
    cells, _ = choice._one_sided(every, rate, Noise.seeded(1))
    assert 0 < cells.max() < 20
    large, _ = choice._one_sided(every * 1000, rate, Noise.seeded(1))
    # Half of large counts are above the true one, as with the whole median.
    assert 0.45 < (large > 5000).mean() < 0.55


def test_sensitive_records_are_found_in_cells_that_hold_others() -> None:
    # 900 sensitive ones in each of 10 cells that hold 9,000 records, among 4,096, at noise of 100: a lone
    # count of 900 among so many empty cells would be taken for noise.
    every = np.zeros(4096, np.int64)
    every[::410] = 9_000
    rates = {"one_sided": Fraction(1, 100), "two_sided": Fraction(1, 100)}
    facts = Facts((4096,), plain=False)
    kept = []
    for seed in range(5):
        found = METHODS["auto"].views(
            every, every * 9 // 10, rates=rates, noise=Noise.seeded(seed), facts=facts
        )
        kept.append(apart(found.cells, every))
    assert np.mean(kept) < 3_000, "leaving the sensitive records out would cost 9,000"


def test_sensitive_records_are_counted_nowhere_in_cells_that_are_called_harmless() -> None:
    every, harmless = np.full(4, 1000), np.array([True, True, False, False])
    rates = METHODS["hybrid"].rates(10**12, adjacency="replace", bins=4)
    facts = Facts((4,), harmless, plain=False)
    views = METHODS["auto"].views(every, every * 0, rates=rates, noise=Noise.seeded(1), facts=facts)
    assert views.sums is not None
    assert views.cells.tolist() == [0, 0, 1000, 1000]
    np.testing.assert_allclose(views.sums, [0, 0, 1000, 1000])


@pytest.mark.parametrize("name", METHODS)
def test_a_single_bin_and_no_records_are_fine(name: str) -> None:
    for every in ([0], [5], [0, 0, 0]):
        counts = np.array(every)
        assert len(release(name, counts, counts, Fraction(1))) == len(every)


@pytest.mark.parametrize(
    ("every", "others", "reason"),
    [
        ([1, 2], [1], "has 1 bins where all records have 2"),
        ([1, 2], [2, 2], "more records in a bin"),
        ([1, -2], [1, -2], "negative"),
        ([], [], "at least one count"),
        ([[1]], [[1]], "one row"),
    ],
)
def test_counts_that_fit_no_table_are_refused(every: list[int], others: list[int], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        release("hybrid", np.array(every, np.int64), np.array(others, np.int64), Fraction(1))


def test_only_methods_that_look_at_the_policy_need_one() -> None:
    assert {name for name, method in METHODS.items() if not method.reads_non_sensitive} == {
        "geometric",
        "smoothed",
        "dawa",
    }
    every, others = table(8)
    for name, method in METHODS.items():
        found = release(name, every, others, Fraction(1))
        if not method.reads_non_sensitive:
            assert (found == release(name, every, every, Fraction(1))).all()
        if not method.reads_every:
            assert (found == release(name, others, others, Fraction(1))).all()
