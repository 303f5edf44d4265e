# SPDX-License-Identifier: Apache-2.0
"""In every context a kernel's verdict is the plain detector's on the context's records."""

from __future__ import annotations

import multiprocessing
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.detectors import Detector, Grubbs, Histogram, LocalOutlierFactor, MedianAbsoluteDeviation
from anonymaly.detectors.grubbs import exceeds
from anonymaly.questions.explain.kernels import generic, grubbs, histogram, kernel_type, lof, order
from anonymaly.questions.explain.kernels.cells import DistanceSums, NearestValues, Ragged, SortedValues
from anonymaly.questions.explain.kernels.generic import GenericKernel
from anonymaly.questions.explain.kernels.grubbs import GrubbsKernel
from anonymaly.questions.explain.kernels.histogram import HistogramKernel
from anonymaly.questions.explain.kernels.lof import LofKernel
from anonymaly.questions.explain.space import ContextSpace
from tests.questions.explain import naive


def same_verdicts(table: naive.Table, detector: Detector) -> None:
    kernel = table.kernel(detector)
    expected = table.naive(detector)
    assert kernel.valid().tolist() == expected
    assert kernel.valid_at(np.arange(table.space.size)).tolist() == expected


@settings(max_examples=600, deadline=None)
@given(naive.tables(), st.integers(1, 5), st.sampled_from([1.0, 1.1, 1.5]))
def test_lof_in_every_context(table: naive.Table, k: int, threshold: float) -> None:
    same_verdicts(table, LocalOutlierFactor(k=k, threshold=threshold))


@settings(max_examples=600, deadline=None)
@given(naive.tables(), st.sampled_from([0.01, 0.05, 0.5]))
def test_grubbs_in_every_context(table: naive.Table, alpha: float) -> None:
    same_verdicts(table, Grubbs(alpha=alpha))


@settings(max_examples=600, deadline=None)
@given(naive.tables(), st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9]))
def test_histogram_in_every_context(table: naive.Table, fraction: float) -> None:
    same_verdicts(table, Histogram(fraction=fraction))


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(naive.tables(most_records=12), st.sampled_from([0.5, 3.5]))
def test_a_detector_without_a_kernel_in_every_context(table: naive.Table, threshold: float) -> None:
    same_verdicts(table, MedianAbsoluteDeviation(threshold=threshold))


@settings(max_examples=600, deadline=None)
@given(naive.tables(), st.integers(1, 4))
def test_2k_nearest_values_per_cell_are_as_good_as_all(table: naive.Table, k: int) -> None:
    detector = LocalOutlierFactor(k=k, threshold=1.2)
    expected = [
        naive.local_outlier_factor(values.tolist(), place, k) > detector.limit
        for values, place in map(table.in_context, range(table.space.size))
    ]
    assert table.kernel(detector, depth=2 * k).valid().tolist() == expected
    assert table.kernel(detector, depth=10**6).valid().tolist() == expected


@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_one_value_fewer_than_2k_is_not_enough(k: int) -> None:
    # The neighbour at 100 lies beside a heap of k values, the last of them the 2k-th from V.
    values = [0, *[10] * (k - 1), 100, *[101] * k]
    space = ContextSpace((2,), (0,))
    table = naive.Table(space, np.zeros(len(values), np.int64), np.array(values), 0)
    detector = LocalOutlierFactor(k=k, threshold=1.5)
    assert table.naive(detector) == [True, True]
    assert table.kernel(detector, depth=2 * k).valid().tolist() == [True, True]
    assert table.kernel(detector, depth=2 * k - 1).valid().tolist() == [False, False]


def test_factors_at_the_threshold_are_settled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = []
    exactly = lof._exceeds.__wrapped__
    monkeypatch.setattr(lof, "_exceeds", lambda *given: settled.append(given) or exactly(*given))
    space = ContextSpace((2,), (0,))
    for values, threshold, expected in [
        ([0, 3, 5], 1.5, False),
        ([0, 11, 21], 1.1, False),
        ([0, 3, 4], 1.5, True),
    ]:
        table = naive.Table(space, np.array([0, 1, 1]), np.array(values), 0)
        verdicts = table.kernel(LocalOutlierFactor(k=1, threshold=threshold)).valid()
        assert verdicts.tolist() == [False, expected]
    assert len(settled) == 2


def test_grubbs_verdicts_that_doubles_cannot_decide_are_settled_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grubbs, "ROUNDING", 1.0)  # now doubles decide nothing
    generator = np.random.default_rng(4)
    for _ in range(5):
        table = naive.random_table(generator, (2, 3), 40, generator.normal(0, 1e9, 40))
        extreme = int(np.argmax(np.abs(table.values)))
        own = tuple(int(digit) for digit in np.unravel_index(int(table.cells[extreme]), (2, 3)))
        same_verdicts(naive.Table(ContextSpace((2, 3), own), table.cells, table.values, extreme), Grubbs())


def test_grubbs_squares_may_need_more_than_64_bits() -> None:
    far = 1 << 55
    cells = naive.distance_sums([[-far] * 9, [0]])
    assert cells.squares == [9 * far**2, 0]
    kernel = GrubbsKernel(ContextSpace((2,), (0,)), cells, Grubbs())
    expected = [exceeds(10, -9 * far, 9 * far**2, 0.05), exceeds(11, -9 * far, 9 * far**2, 0.05)]
    assert kernel.valid().tolist() == kernel.valid_at([0, 1]).tolist() == expected == [True, False]


def test_coarse_edges_only_make_the_histogram_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "SINGLE_EDGES", 2)
    monkeypatch.setattr(histogram, "GROWTH", 1)
    generator = np.random.default_rng(5)
    for values in (
        generator.normal(0, 1000, 3000),
        generator.integers(0, 40, 3000),
        generator.exponential(50, 3000),
    ):
        table = naive.random_table(generator, (3, 2, 3), 3000, values)
        for position in (table.position, int(np.argmax(values)), int(np.argmin(np.abs(values - 2500)))):
            own = tuple(int(digit) for digit in np.unravel_index(int(table.cells[position]), (3, 2, 3)))
            placed = naive.Table(ContextSpace((3, 2, 3), own), table.cells, table.values, position)
            for fraction in (0.0025, 0.02):
                detector = Histogram(fraction=fraction)
                kernel = placed.kernel(detector)
                verdicts = kernel.valid()
                assert np.array_equal(verdicts, kernel.valid_at(np.arange(placed.space.size)))
                for index in range(0, placed.space.size, 5):
                    assert verdicts[index] == detector.is_outlier(*placed.in_context(index))


LARGE = [(13,), (2, 11), (6, 5, 5), (2, 2, 3, 3, 3, 3)]
DETECTORS = [LocalOutlierFactor(k=4), Grubbs(), Histogram(fraction=0.05)]


@pytest.mark.parametrize("sizes", LARGE, ids=str)
@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.name)
def test_larger_spaces_on_several_threads(
    sizes: tuple[int, ...], detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "SMALL", 0)
    monkeypatch.setattr("anonymaly.core.threads.worker_threads", lambda: 3)
    generator = np.random.default_rng(6)
    table = naive.random_table(generator, sizes, 400, np.round(generator.normal(0, 30, 400)))
    kernel = table.kernel(detector)
    reported: list[int] = []
    verdicts = kernel.valid(reported.append)
    assert reported == sorted(set(reported))
    assert reported[-1] == table.space.size
    some = generator.integers(0, table.space.size, 200)
    assert np.array_equal(kernel.valid_at(some), verdicts[some])
    for index in some[:15]:
        assert verdicts[index] == detector.is_outlier(*table.in_context(int(index)))


def test_v_may_be_alone_in_all_contexts() -> None:
    table = naive.Table(ContextSpace((2, 3), (1, 2)), np.array([5]), np.array([100]), 0)
    for detector in (*DETECTORS, MedianAbsoluteDeviation()):
        assert not table.kernel(detector).valid().any()


def test_a_progress_that_raises_ends_the_work() -> None:
    table = naive.random_table(np.random.default_rng(7), (13,), 100, np.arange(100))

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    for detector in (*DETECTORS, MedianAbsoluteDeviation()):
        with pytest.raises(KeyboardInterrupt):
            table.kernel(detector).valid(stop)


def _judge_in_child(kernel: LofKernel, answers: "multiprocessing.SimpleQueue[int]") -> None:  # noqa: UP037
    answers.put(int(kernel.valid().sum()))


def test_kernels_run_in_threads_at_once_and_after_a_fork() -> None:
    generator = np.random.default_rng(8)
    table = naive.random_table(generator, (14,), 300, np.round(generator.normal(0, 30, 300)))
    kernel = table.kernel(LocalOutlierFactor(k=3, threshold=1.1))
    expected = int(kernel.valid().sum())
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(int(kernel.valid().sum()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_judge_in_child, args=(kernel, answers))
    child.start()
    child.join()  # its answer is short enough to be sent before anybody reads it
    assert child.exitcode == 0
    assert answers.get() == expected


def _ragged(values: list[float], offsets: list[int]) -> Ragged:
    return Ragged(np.array(values), np.array(offsets))


def test_summaries_that_do_not_fit_are_refused() -> None:
    space = ContextSpace((2,), (0,))
    nothing = _ragged([], [0, 0, 0])
    for problem, values, offsets in [
        ("offsets", [1], [0, 1]),
        ("not decrease", [1], [0, 2, 1]),
        ("in order", [2, 1], [0, 2, 2]),
    ]:
        with pytest.raises(ValueError, match=problem):
            HistogramKernel(space, SortedValues(0, _ragged(values, offsets)), Histogram())
    with pytest.raises(TypeError, match="whole numbers"):
        GenericKernel(space, SortedValues(0, _ragged([0.5], [0, 1, 1])), Histogram())
    for problem, below, above in [
        ("lower side", _ragged([1], [0, 1, 1]), nothing),
        ("lower side", nothing, _ragged([0], [0, 1, 1])),
        ("coarser grid", _ragged([-(1 << 60)], [0, 1, 1]), nothing),
    ]:
        with pytest.raises(ValueError, match=problem):
            LofKernel(space, NearestValues(0, below, above), LocalOutlierFactor())
    with pytest.raises(ValueError, match="as many"):
        GrubbsKernel(space, DistanceSums(np.ones(1, np.int64), [1], [1]), Grubbs())
    for detector in DETECTORS:
        table = naive.Table(space, np.array([0, 1]), np.array([3, 4]), 0)
        with pytest.raises(IndexError, match="not all indices"):
            table.kernel(detector).valid_at([2])


@settings(max_examples=200, deadline=None)
@given(naive.tables(), st.sampled_from([LocalOutlierFactor(k=2), Grubbs(), Histogram(fraction=0.25)]))
def test_records_in_memory_give_the_same_verdicts(table: naive.Table, detector: Detector) -> None:
    cells, values = table.others()
    in_order = np.lexsort((values, cells))
    kind = kernel_type(detector)
    need = kind.needs(detector)
    made = need.of(cells[in_order], values[in_order], table.value, table.space.cells)
    assert kind(table.space, made, detector).valid().tolist() == table.naive(detector)


def test_more_contexts_than_the_limit_need_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generic, "MOST_CONTEXTS", 7)
    table = naive.Table(ContextSpace((4,), (0,)), np.array([0, 1]), np.array([3, 4]), 0)
    kernel = table.kernel(MedianAbsoluteDeviation())
    with pytest.raises(ValueError, match="mad tries each context: 8 are more than 7"):
        kernel.valid()
    assert not kernel.valid_at([3]).any()
    assert replace(MedianAbsoluteDeviation(), threshold=2.0).threshold == 2
