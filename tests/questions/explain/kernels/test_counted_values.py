# SPDX-License-Identifier: Apache-2.0
"""Values with how often each is there give the same verdicts as a list of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from anonymaly.detectors import Detector, Histogram, LocalOutlierFactor, MedianAbsoluteDeviation
from anonymaly.questions.explain.kernels.cells import Ragged, SortedValues
from anonymaly.questions.explain.kernels.generic import GenericKernel
from anonymaly.questions.explain.kernels.histogram import HistogramKernel
from anonymaly.questions.explain.space import ContextSpace

SPACE = ContextSpace((3, 3, 2), (1, 0, 1))


def both_forms(seed: int) -> tuple[SortedValues, SortedValues]:
    """Return the same records as a list and as counts; some cells are empty."""
    generator = np.random.default_rng(seed)
    cells = np.sort(generator.integers(0, SPACE.cells, 60) // 2 * 2)
    steps = generator.integers(-6, 7, 60) * generator.integers(1, 40)
    order = np.lexsort((steps, cells))
    pairs, counts = np.unique(np.stack([cells, steps[order]]), axis=1, return_counts=True)
    record = int(generator.integers(-40, 300))
    listed = SortedValues(record, Ragged.of(cells, steps[order], SPACE.cells))
    return listed, SortedValues(record, Ragged.of(pairs[0], pairs[1], SPACE.cells), counts)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("detector", [Histogram(0.02), Histogram(0.2), Histogram(0.6)])
def test_the_histogram_is_the_same(detector: Histogram, seed: int) -> None:
    listed, counted = both_forms(seed)
    assert len(counted.others.values) < len(listed.others.values)
    whole, few = (HistogramKernel(SPACE, cells, detector) for cells in (listed, counted))
    assert few.valid().tolist() == whole.valid().tolist()
    assert few.valid_at(range(SPACE.size)).tolist() == whole.valid().tolist()
    generic = GenericKernel(SPACE, counted, detector)
    assert generic.valid().tolist() == whole.valid().tolist()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "detector", [MedianAbsoluteDeviation(), MedianAbsoluteDeviation(0.7), LocalOutlierFactor(k=3)]
)
def test_any_detector_is_the_same(detector: Detector, seed: int) -> None:
    listed, counted = both_forms(seed)
    whole, few = (GenericKernel(SPACE, cells, detector) for cells in (listed, counted))
    assert few.valid().tolist() == whole.valid().tolist()


def test_a_median_of_more_records_than_memory_holds_is_found() -> None:
    values, counts = np.array([900, 10, 11, 12]), np.array([1, 10**15, 10**15, 10**15])
    assert MedianAbsoluteDeviation().is_outlier_among(values, counts, 0)
    assert not MedianAbsoluteDeviation().is_outlier_among(values, counts, 3)
