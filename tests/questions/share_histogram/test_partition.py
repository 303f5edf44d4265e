# SPDX-License-Identifier: Apache-2.0
"""The partition step of ``dawa``: its loss, exactly, where the published code loses more than it promises."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.errors import InputError
from anonymaly.noise.partition import LARGEST_EXPONENT, UNIT
from anonymaly.questions.share_histogram.kernels.windows import deviations
from anonymaly.questions.share_histogram.methods.dawa import partition_exponents
from anonymaly.questions.share_histogram.methods.rates import PARTITION_SHARE, Rates, dawa
from tests.questions.share_histogram.laws import partitions, step_logarithms


def spike(cells: int, height: int) -> Integers:
    counts = np.zeros(cells, np.int64)
    counts[cells // 2] = height
    return counts


FAMILIES = {
    "2 to 3 among 32": (spike(32, 2), spike(32, 3)),
    "4 to 5 among 64": (spike(64, 4), spike(64, 5)),
    "4000, 25, 0 to 1, 0": (np.array([4000, 25, 0, 0]), np.array([4000, 25, 1, 0])),
}


def greatest_loss(one: Integers, other: Integers, rates: Rates) -> float:
    """The largest log-ratio over all partitions, of the law that is drawn from, rounding included.

    A partition's probability is a product over its runs, so the largest sum of differences is found like a
    longest path.
    """
    first, second = (step_logarithms(partition_exponents(counts, rates)) for counts in (one, other))
    largest = [0.0]
    for end in range(1, len(first)):
        largest.append(
            max(
                largest[end - (1 << size)] + first[end][size] - second[end][size]
                for size in range(len(first[end]))
            )
        )
    return largest[-1]


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10), Fraction(8)], ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_spikes_lose_no_more_than_the_partitions_share(family: str, epsilon: Fraction) -> None:
    before, after = FAMILIES[family]
    rates = dawa(epsilon, "add_remove", len(before))
    share = float(PARTITION_SHARE * epsilon)
    losses = greatest_loss(before, after, rates), greatest_loss(after, before, rates)
    assert 0 < max(losses) <= share


def test_the_longest_path_is_the_largest_ratio() -> None:
    one, other = FAMILIES["4000, 25, 0 to 1, 0"]
    rates = dawa(Fraction(1, 2), "add_remove", 4)
    laws = [dict(partitions(partition_exponents(counts, rates))) for counts in (one, other)]
    ratios = [math.log(laws[0][lengths] / laws[1][lengths]) for lengths in laws[0]]
    assert greatest_loss(one, other, rates) == pytest.approx(max(ratios))


COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(COUNTS, st.data(), st.sampled_from(["add_remove", "replace"]), st.integers(1, 100))
def test_the_partitions_share_is_never_exceeded(
    numbers: list[int], data: st.DataObject, adjacency: Adjacency, tenths: int
) -> None:
    epsilon = Fraction(tenths, 10)
    one = np.array(numbers)
    other = one.copy()
    other[data.draw(st.integers(0, len(one) - 1))] += 1
    if adjacency == "replace":
        place = data.draw(st.integers(0, len(one) - 1))
        other[place] = max(0, other[place] - 1)
    rates = dawa(epsilon, adjacency, len(one))
    share = float(PARTITION_SHARE * epsilon)
    assert max(greatest_loss(one, other, rates), greatest_loss(other, one, rates)) <= share + 1e-12


def test_the_share_is_used_up_where_one_change_helps_one_bucket_and_hurts_another() -> None:
    # The middle cell joins its left or its right neighbour; one record more moves the two deviations apart.
    one, other = np.array([0, 9, 10]), np.array([0, 10, 10])
    score = Fraction(1, 2)
    loss = greatest_loss(one, other, {"score": score, "totals": Fraction(1, 10**6)})
    assert 1.8 * score < loss <= 2 * score


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.data())
def test_a_record_moves_no_deviation_by_more_than_one(numbers: list[int], data: st.DataObject) -> None:
    one = np.array(numbers)
    other = one.copy()
    place = data.draw(st.integers(0, len(one) - 1))
    other[place] += 1
    before, after = deviations(one)[0], deviations(other)[0]
    assert int(np.abs(after - before).max()) <= 1
    # Only windows that hold the cell change.
    for size in range(before.shape[0]):
        for end in range(before.shape[1]):
            if not end - (1 << size) <= place < end:
                assert before[size, end] == after[size, end]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_deviations_are_those_from_sorting(numbers: list[int]) -> None:
    for row in (np.array(numbers), np.array(numbers) / 4):
        sums, medians = deviations(row)
        for size in range(sums.shape[0]):
            for end in range(1 << size, len(row) + 1):
                window = np.sort(row[end - (1 << size) : end])
                assert medians[size, end] == window[(len(window) - 1) // 2]
                assert sums[size, end] == pytest.approx(np.abs(window - medians[size, end]).sum())


def test_weights_never_fall_faster_than_the_score_allows() -> None:
    counts = np.array([0, 2**50, 0, 7])
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(1000)):
        rates = dawa(epsilon, "add_remove", 4)
        exponents = partition_exponents(counts, rates)
        assert int(np.abs(exponents).max()) <= LARGEST_EXPONENT
        more = partition_exponents(counts + np.array([0, 0, 0, 1]), rates)
        step = int(np.abs(more - exponents).max())
        assert step * math.log(2) / 2**UNIT <= float(rates["score"])


def test_rounding_is_paid_from_the_partitions_share() -> None:
    small = dawa(Fraction(1), "add_remove", 2)["score"]
    large = dawa(Fraction(1), "add_remove", 2**20)["score"]
    assert large < small < Fraction(1, 8)
    with pytest.raises(InputError, match="rounding with 1,048,576 bins"):
        dawa(Fraction(1, 10**9), "add_remove", 2**20)
