# SPDX-License-Identifier: Apache-2.0
"""The plain detectors agree with their definitions, computed exactly and without any shortcut."""

from __future__ import annotations

import math
import warnings
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.neighbors import LocalOutlierFactor as SklearnLocalOutlierFactor

from anonymaly.detectors import (
    DETECTORS,
    Detector,
    Grubbs,
    Histogram,
    LocalOutlierFactor,
    MedianAbsoluteDeviation,
    decimal,
)
from anonymaly.detectors.grubbs import critical_ratios
from anonymaly.detectors.local_outlier_factor import reach_sums
from tests.questions.explain import naive

TIED = st.lists(st.integers(0, 8), min_size=1, max_size=25)
WIDE = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[int], int]:
    values = draw(TIED | WIDE)
    return values, draw(st.integers(0, len(values) - 1))


def test_detectors_are_found_by_name_with_the_stated_defaults() -> None:
    stated = {
        "grubbs": Grubbs(alpha=0.05),
        "histogram": Histogram(fraction=2.5e-3),
        "lof": LocalOutlierFactor(k=20, threshold=1.5),
        "mad": MedianAbsoluteDeviation(threshold=3.5),
    }
    assert stated.items() <= DETECTORS.items()
    assert all(detector.name == name for name, detector in DETECTORS.items())
    with pytest.raises(FrozenInstanceError):
        DETECTORS["lof"].k = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
class TestEveryDetector:
    def test_one_value_alone_and_equal_values_are_no_outliers(self, detector: Detector) -> None:
        assert not detector.is_outlier([7], 0)
        assert not detector.is_outlier([7, 7], 0)
        assert not detector.is_outlier([7] * 50, 3)

    def test_floats_are_taken_exactly_and_the_unit_does_not_matter(self, detector: Detector) -> None:
        values = [*range(1000), 2600]
        for scaled in (values, [value * 0.25 for value in values], [value * 1000 - 7 for value in values]):
            assert [detector.is_outlier(scaled, at) for at in (0, 500, 1000)] == [
                detector.is_outlier(values, at) for at in (0, 500, 1000)
            ]

    def test_what_is_not_a_row_of_finite_numbers_is_refused(self, detector: Detector) -> None:
        for bad in ([1.0, math.nan], [[1, 2]], [1 << 62, 0], [2.0**70, 2.0**-70]):
            with pytest.raises(ValueError, match=r"detector takes|62 bits"):
                detector.is_outlier(bad, 0)
        with pytest.raises(TypeError, match="numbers"):
            detector.is_outlier(["a"], 0)
        with pytest.raises(IndexError, match="no value at position"):
            detector.is_outlier([1, 2], 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grubbs(alpha=0),
        lambda: Grubbs(alpha=0.6),
        lambda: LocalOutlierFactor(k=0),
        lambda: LocalOutlierFactor(threshold=0.5),
        lambda: Histogram(fraction=1),
        lambda: Histogram(fraction=0.0000001),
        lambda: MedianAbsoluteDeviation(threshold=0),
    ],
)
def test_parameters_out_of_range_are_refused(make: type[Detector]) -> None:
    with pytest.raises(ValueError, match="should"):
        make()


@settings(max_examples=400, deadline=None)
@given(rows(), st.integers(1, 6), st.sampled_from([1.0, 1.1, 1.5, 2.0]))
def test_lof_is_its_definition_with_the_rule_for_ties(
    row: tuple[list[int], int], k: int, threshold: float
) -> None:
    expected = naive.local_outlier_factor(*row, k)
    detector = LocalOutlierFactor(k=k, threshold=threshold)
    assert detector.factor(*row) == float(expected)
    assert detector.is_outlier(*row) == (expected > decimal(threshold))


@settings(max_examples=150, deadline=None)
@given(WIDE, st.integers(1, 6), st.data())
def test_lof_is_scikit_learns_where_no_tie_is_cut(values: list[int], k: int, data: st.DataObject) -> None:
    assume(len(values) > k + 1)
    for value in values:
        distances = sorted(abs(value - other) for other in values)
        assume(distances[k] != distances[k + 1])
    position = data.draw(st.integers(0, len(values) - 1))
    own, others = reach_sums(values, position, k)
    assume(own and all(others))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate values
        peer = SklearnLocalOutlierFactor(n_neighbors=k).fit(np.array(values, dtype=float)[:, None])
    assert LocalOutlierFactor(k=k).factor(values, position) == pytest.approx(
        -peer.negative_outlier_factor_[position], rel=1e-6
    )


def test_lof_of_v_among_its_equals_is_1_and_infinite_beside_a_heap() -> None:
    assert LocalOutlierFactor(k=2).factor([5, 5, 5, 9], 0) == 1
    assert LocalOutlierFactor(k=2).factor([5, 5, 5, 9], 3) == math.inf
    assert LocalOutlierFactor(k=2).is_outlier([5, 5, 5, 9], 3)
    assert LocalOutlierFactor(k=2).factor([5], 0) == 1


def test_a_factor_equal_to_the_threshold_is_no_outlier() -> None:
    assert LocalOutlierFactor(k=1, threshold=1.5).factor([0, 3, 5], 0) == 1.5
    assert not LocalOutlierFactor(k=1, threshold=1.5).is_outlier([0, 3, 5], 0)
    # The double nearest to 1.1 is above eleven tenths; the parameter means eleven tenths.
    assert not LocalOutlierFactor(k=1, threshold=1.1).is_outlier([0, 11, 21], 0)
    assert LocalOutlierFactor(k=1, threshold=1.1).is_outlier([-1, 110, 210], 0)


@settings(max_examples=400, deadline=None)
@given(rows(), st.sampled_from([0.01, 0.05, 0.5]))
def test_grubbs_is_its_definition_in_exact_arithmetic(row: tuple[list[int], int], alpha: float) -> None:
    excess = naive.grubbs_excess(*row, alpha)
    assume(excess is None or abs(excess) > 1e-9)
    assert Grubbs(alpha=alpha).is_outlier(*row) == (excess is not None and excess > 0)


def test_grubbs_critical_values_are_the_published_ones() -> None:
    counts = np.array([3, 5, 10, 20, 50, 100])
    critical = np.sqrt(critical_ratios(counts, 0.05) * (counts - 1) / counts)
    assert critical == pytest.approx([1.1543, 1.7150, 2.2900, 2.7082, 3.1282, 3.3841], abs=1e-3)


@pytest.mark.parametrize("alpha", [1e-6, 0.001, 0.01, 0.05, 0.1, 0.5])
def test_grubbs_critical_ratio_grows_with_the_number_of_values(alpha: float) -> None:
    counts = np.unique(np.concatenate([np.arange(3, 100_000), np.logspace(5, 9, 2000).astype(np.int64)]))
    ratios = critical_ratios(counts, alpha)
    assert (np.diff(ratios) / ratios[1:] > 1e-13 * np.diff(counts)).all()


def test_grubbs_takes_squares_of_more_than_64_bits() -> None:
    far = 1 << 60
    assert Grubbs().is_outlier([0, 1, 2, 3, 4, 5, 6, 7, far], 8)
    assert not Grubbs().is_outlier([0, far, 0, far, 0, far, 0, far], 0)


@settings(max_examples=400, deadline=None)
@given(rows(), st.sampled_from([0.0025, 0.1, 0.2, 0.3, 0.5]))
def test_histogram_is_its_definition_with_exact_edges(row: tuple[list[int], int], fraction: float) -> None:
    expected = naive.histogram_is_outlier(*row, decimal(fraction))
    assert Histogram(fraction=fraction).is_outlier(*row) == expected


def test_a_bin_with_just_the_fraction_is_no_outlier() -> None:
    # One of 400 is 0.0025 of them; the double 0.0025 times 400 is above 1.
    assert not Histogram().is_outlier([*[0] * 399, 100], 399)
    assert Histogram().is_outlier([*[0] * 400, 100], 400)


@settings(max_examples=400, deadline=None)
@given(rows(), st.sampled_from([1.0, 3.5]))
def test_mad_is_its_definition_in_exact_arithmetic(row: tuple[list[int], int], threshold: float) -> None:
    values, position = [Fraction(value) for value in row[0]], row[1]

    def median(numbers: list[Fraction]) -> Fraction:
        ordered = sorted(numbers)
        return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2

    center = median(values)
    deviation = median([abs(value - center) for value in values])
    expected = deviation > 0 and (
        Fraction("0.6745") * abs(values[position] - center) > Fraction(threshold) * deviation
    )
    assert MedianAbsoluteDeviation(threshold=threshold).is_outlier(*row) == expected
