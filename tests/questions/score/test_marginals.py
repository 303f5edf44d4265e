# SPDX-License-Identifier: Apache-2.0
"""Histograms of columns and pairs: exact counts, noise on every cell, and scores from what was released."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

import anonymaly as am
from anonymaly.errors import InputError
from anonymaly.noise import Noise, laws
from anonymaly.questions.score.methods import pick
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import Body, MethodFacts, coordinate

METHOD = MarginalsMethod(3, bins=4, pair_bins=2)
RANDOM = np.random.default_rng(3)
POINTS = np.vstack([RANDOM.random((200, 3)), np.zeros(3), np.ones(3), [0.25, 0.5, 0.75]])


def cube(points: np.ndarray) -> ibis.Table:
    names = [coordinate(axis) for axis in range(points.shape[1])]
    return ibis.memtable(pa.table({name: points[:, axis] for axis, name in enumerate(names)}))


def counted(method: MarginalsMethod, points: np.ndarray) -> pa.Table:
    return method.count(cube(points)).to_pyarrow()


def naive(method: MarginalsMethod, points: np.ndarray) -> dict[tuple[int, ...], int]:
    """Count each record in each histogram, one at a time: (axis, bin) or (left, right, bin, bin)."""
    found: Counter[tuple[int, ...]] = Counter()
    for point in points:
        coarse = [min(math.floor(value * method.pair_bins), method.pair_bins - 1) for value in point]
        for axis, value in enumerate(point):
            found[axis, min(math.floor(value * method.bins), method.bins - 1)] += 1
            for right in range(axis):
                found[axis, right, coarse[axis], coarse[right]] += 1
    return dict(found)


def as_naive(body: Body) -> dict[tuple[int, ...], int]:
    columns = {(axis, at): int(count) for (axis, at), count in np.ndenumerate(body["columns"])}
    order = [(left, right) for left in range(METHOD.dimensions) for right in range(left)]
    pairs = {(*order[number], *at): int(count) for (number, *at), count in np.ndenumerate(body["pairs"])}
    return {cell: count for cell, count in {**columns, **pairs}.items() if count}


def test_the_engine_counts_what_counting_one_by_one_counts() -> None:
    assert as_naive(METHOD.without_noise(counted(METHOD, POINTS))) == naive(METHOD, POINTS)


def test_the_engine_counts_in_one_aggregate() -> None:
    assert ibis.to_sql(METHOD.count(cube(POINTS))).count("GROUP BY") == 1


def test_postgresql_counts_the_same(postgres: str) -> None:
    connection = ibis.connect(postgres)
    connection.create_table("points", cube(POINTS).to_pyarrow())
    counts = METHOD.count(connection.table("points")).to_pyarrow()
    assert as_naive(METHOD.without_noise(counts)) == naive(METHOD, POINTS)
    connection.disconnect()


coordinates = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@given(point=coordinates)
@settings(max_examples=20, deadline=None)
def test_one_record_changes_one_cell_of_each_histogram_by_one(point: list[float]) -> None:
    before = METHOD.without_noise(counted(METHOD, POINTS))
    after = METHOD.without_noise(counted(METHOD, np.vstack([POINTS, point])))
    assert np.abs(after["columns"] - before["columns"]).sum(axis=1).tolist() == [1] * 3
    assert np.abs(after["pairs"] - before["pairs"]).sum(axis=(1, 2)).tolist() == [1] * 3


@given(
    dimensions=st.integers(2, 60),
    pair_bins=st.sampled_from([0, 5]),
    nano=st.integers(10**4, 10**12),
    rows=st.integers(1, 10**4),
)
def test_the_rates_of_all_histograms_spend_the_rate_and_never_more(
    dimensions: int, pair_bins: int, nano: int, rows: int
) -> None:
    rate = Fraction(nano, 10**9 * rows)
    method = MarginalsMethod(dimensions, bins=4, pair_bins=pair_bins)
    column_rate, pair_rate = method.rates(rate)
    spent = dimensions * column_rate + method.pairs * pair_rate
    assert spent <= rate
    # What rounding leaves unspent is one step for each histogram.
    assert rate - spent <= Fraction(dimensions + method.pairs, 2**50)


def test_noise_has_the_law_of_its_histogram_and_empty_cells_get_it_too() -> None:
    method, rate, draws = MarginalsMethod(2, bins=2, pair_bins=2), Fraction(2), 4000
    empty = pa.table({"place": pa.array([], pa.int64()), "records": pa.array([], pa.int64())})
    noise = Noise.seeded(11)
    bodies = [method.release(empty, rate, noise) for _ in range(draws)]
    column_rate, pair_rate = method.rates(rate)
    assert (column_rate, pair_rate) == (Fraction(1, 2), Fraction(1))
    for name, cells, rate_of_cell in (("columns", 4, column_rate), ("pairs", 4, pair_rate)):
        values = np.array([body[name] for body in bodies]).reshape(draws, cells)
        for cell in range(cells):
            inner = range(-3, 4)
            masses = [laws.two_sided_geometric_mass(rate_of_cell, value) for value in inner]
            seen = [int((values[:, cell] == value).sum()) for value in inner]
            expected = np.array([*masses, 1 - sum(masses)]) * draws
            # Eight tests with fixed seeds; a false alarm would have had a chance of 8·10⁻⁴.
            assert chisquare([*seen, draws - sum(seen)], expected).pvalue > 1e-4


def test_cells_have_noise_of_their_own() -> None:
    empty = pa.table({"place": pa.array([], pa.int64()), "records": pa.array([], pa.int64())})
    body = MarginalsMethod(20, bins=20, pair_bins=5).release(empty, Fraction(1, 10), Noise.seeded(2))
    drawn = body["columns"].ravel()
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.2
    assert (body["pairs"] != 0).mean() > 0.9


def naive_score(body: Body, point: np.ndarray) -> float:
    """The formula of GUARANTEE.md and the documentation, cell by cell."""
    score = 0.0
    deviation, pair_deviation = body["deviations"]
    for axis, counts in enumerate(body["columns"]):
        bins = len(counts)
        near = [
            max(0.0, (counts[max(at - 1, 0)] + 2 * counts[at] + counts[min(at + 1, bins - 1)]) / 4)
            for at in range(bins)
        ]
        floor = 1 + deviation * math.sqrt(3 / 8)
        held = near[min(int(point[axis] * bins), bins - 1)]
        score += math.log((sum(near) / bins + floor) / (held + floor))
    number = 0
    for left in range(len(point)):
        for right in range(left):
            table = np.maximum(body["pairs"][number], 0)
            side = len(table)
            row, column = (min(int(point[axis] * side), side - 1) for axis in (left, right))
            usual = table[row].sum() * table[:, column].sum() / max(table.sum(), 1)
            ratio = (usual + 1 + pair_deviation) / (table[row, column] + 1 + pair_deviation)
            score += min(1, 4 / len(point)) * math.log(ratio)
            number += 1
    return score


def test_a_score_is_the_formula_and_lies_in_the_range() -> None:
    body = METHOD.release(counted(METHOD, POINTS), Fraction(1), Noise.seeded(4))
    scores = METHOD.scorer(body)(POINTS)
    assert scores == pytest.approx([naive_score(body, point) for point in POINTS])
    low, high = METHOD.score_range(body)
    assert low <= scores.min() <= scores.max() <= high


def test_without_pairs_only_columns_count() -> None:
    method = MarginalsMethod(3, bins=4, pair_bins=0)
    body = method.release(counted(method, POINTS), Fraction(1), Noise.seeded(4))
    assert body["pairs"].size == 0
    assert method.scorer(body)(POINTS) == pytest.approx(
        [naive_score({**body, "pairs": np.zeros((3, 2, 2), np.int64)}, point) for point in POINTS]
    )
    low, high = method.score_range(body)
    assert low <= method.scorer(body)(POINTS).min() <= high


def test_pairs_find_records_whose_columns_are_usual_one_by_one() -> None:
    line = np.repeat(np.linspace(0, 1, 500)[:, None], 2, axis=1)
    method = MarginalsMethod.plan({}, MethodFacts(2, Fraction(1), 500))
    assert method.pair_bins >= 5
    score = method.scorer(method.release(counted(method, line), Fraction(1), Noise.seeded(1)))
    assert score(np.array([[0.1, 0.9]])) > score(line).max()


class TestTheRule:
    def test_it_needs_records_only_where_something_is_left_to_choose(self) -> None:
        assert MarginalsMethod.needs_records({})
        assert MarginalsMethod.needs_records({"bins": 5, "pair_bins": None})
        assert not MarginalsMethod.needs_records({"bins": 5, "pair_bins": 0})
        assert MarginalsMethod.plan(
            {"bins": 5, "pair_bins": 0}, MethodFacts(3, Fraction(1))
        ) == MarginalsMethod(3, 5, 0)
        with pytest.raises(InputError, match="records"):
            MarginalsMethod.plan({}, MethodFacts(3, Fraction(1)))

    @given(records=st.integers(-100, 10**9), dimensions=st.integers(1, 200), nano=st.integers(1, 10**11))
    def test_it_always_gives_a_method_and_more_records_never_coarser_bins(
        self, records: int, dimensions: int, nano: int
    ) -> None:
        rate = Fraction(nano, 10**9)
        fewer, more = (
            MarginalsMethod.plan({"pair_bins": 0}, MethodFacts(dimensions, rate, count))
            for count in (records, 2 * records)
        )
        assert 4 <= min(fewer.bins, more.bins) <= 256
        assert (more.bins >= fewer.bins) == (records >= 0 or more.bins == fewer.bins)
        chosen = MarginalsMethod.plan({}, MethodFacts(dimensions, rate, records)).pair_bins
        assert chosen == 0 or (5 <= chosen <= 16 and 2 <= dimensions <= 40)

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"bins": 1}, "bins"),
            ({"bins": True}, "bins"),
            ({"bins": 10**6}, "bins"),
            ({"pair_bins": 1}, "pair_bins"),
            ({"pair_bins": 4096}, "pair_bins"),
        ],
    )
    def test_bins_that_cannot_be_are_refused(self, options: dict[str, object], field: str) -> None:
        with pytest.raises(InputError) as caught:
            MarginalsMethod.plan(options, MethodFacts(5, Fraction(1), 100))
        assert caught.value.field == field

    def test_one_column_has_no_pairs(self) -> None:
        assert MarginalsMethod.plan({}, MethodFacts(1, Fraction(1), 10**9)).pair_bins == 0
        with pytest.raises(InputError, match="no pairs"):
            MarginalsMethod.plan({"pair_bins": 5}, MethodFacts(1, Fraction(1), 100))


@pytest.mark.parametrize(
    "change",
    [
        {"columns": np.zeros((3, 5), np.int64)},
        {"columns": np.zeros((3, 4))},
        {"pairs": np.zeros((3, 2, 3), np.int64)},
        {"deviations": np.array([1.0, np.nan])},
        {"deviations": np.array([1.0, -1.0])},
        {"more": np.zeros(2)},
    ],
)
def test_arrays_of_another_shape_are_not_this_methods(change: dict[str, np.ndarray]) -> None:
    body = METHOD.without_noise(counted(METHOD, POINTS))
    METHOD.check(body)
    with pytest.raises(InputError):
        METHOD.check({**body, **change})
    with pytest.raises(InputError):
        METHOD.check({name: array for name, array in body.items() if name != "pairs"})


def test_parameters_restore_the_method() -> None:
    assert MarginalsMethod.restore(3, METHOD.parameters()) == METHOD
    with pytest.raises(TypeError):
        MarginalsMethod.restore(3, {**METHOD.parameters(), "other": 1})


def test_thirty_columns_at_epsilon_one_tell_malignant_from_benign() -> None:
    data = load_breast_cancer()
    low, high = data.data.min(axis=0), data.data.max(axis=0)
    points, malignant = (data.data - low) / (high - low), data.target == 0
    benign = points[~malignant]
    areas = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(benign))
        reference, rest = benign[order[:285]], benign[order[285:]]
        method = MarginalsMethod.plan({}, MethodFacts(30, Fraction(1), 285))
        score = method.scorer(method.release(counted(method, reference), Fraction(1), Noise.seeded(seed)))
        tested = np.vstack([rest, points[malignant]])
        areas.append(roc_auc_score(np.arange(len(tested)) >= len(rest), score(tested)))
    assert np.mean(areas) > 0.91  # non-private 5-NN: 0.93


class TestAuto:
    def test_it_is_the_histograms_unless_parameters_of_the_grid_are_given(self) -> None:
        assert pick([], "auto") == pick(["bins"], "auto") == "marginals"
        assert pick([]) == pick(["bins"]) == pick(["adaptive"]) == "mixed"
        assert pick(["cells"]) == pick(["form", "neighbours"]) == pick(["cells"], "auto") == "grid"

    def test_parameters_of_both_are_refused_by_name(self) -> None:
        data = am.Dataset(pa.table({"a": [0.5]}), name="a", columns={"a": am.Interval(0, 1)}, public=True)
        with pytest.raises(InputError, match="not a parameter of the method mixed"):
            am.simulate(am.Score(columns=["a"], bins=4, cells=4, epsilon=1), data, seed=0)
