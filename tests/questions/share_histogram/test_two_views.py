# SPDX-License-Identifier: Apache-2.0
"""One release in two views: sums, shares, quantiles and roll-ups are of one, bars and rows of the other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import anonymaly as am
from anonymaly.declare.attributes import Attribute
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.error_bars import EITHER, EVERY, Release
from anonymaly.questions.share_histogram.methods import BEFORE, CHOOSING
from anonymaly.questions.share_histogram.methods.method import Facts
from anonymaly.questions.share_histogram.value import ReleasedHistogram, recalled
from tests.questions.patients import declare

AGES = am.Bins("age", [0, 18, 65, 120])
WARD, AGE = Attribute("ward", ("A", "B")), Attribute("age", AGES.labels, AGES)
CELLS = [9, 0, 0, 0, 40, 0]
SUMS = [8.25, 1.5, -0.5, 2.5, 38.75, 9.5]


def both() -> ReleasedHistogram:
    return ReleasedHistogram([WARD, AGE], CELLS, SUMS, release=Release("auto", {}))


def test_sums_shares_and_quantiles_are_taken_of_the_view_for_sums() -> None:
    histogram = both()
    assert histogram.range().estimate == histogram.range().released == sum(SUMS)
    assert histogram.range(ward="A", age=(0, 65)).estimate == 8.25 + 1.5
    assert histogram.share(ward="A").estimate == pytest.approx(9.25 / 60)
    assert histogram.share(ward="A").released == pytest.approx(9.25 / 60)
    # In the view for cells nobody is above 65.
    assert histogram.quantile("age", 0.9).estimate == "[65, 120]"
    assert [figure.estimate for figure in histogram.cell_figures()] == SUMS


def test_roll_ups_of_two_views_agree_with_each_other_and_with_ranges() -> None:
    histogram = both()
    wards, ages = histogram.roll_up("ward"), histogram.roll_up("age")
    assert wards.estimates.tolist() == [9.25, 50.75]
    assert wards.estimates.sum() == pytest.approx(ages.estimates.sum())
    for rolled, name in ((wards, "ward"), (ages, "age")):
        for row, figure in zip(rolled.rows(), rolled.cell_figures(), strict=True):
            where = {name: row[name]}
            assert row["estimate"] == pytest.approx(histogram.range(where).released)
            assert figure == histogram.range(where) == rolled.range(where)
        assert rolled.for_sums().tolist() == rolled.to_array().tolist()


def test_columns_in_another_order_keep_both_views() -> None:
    turned = both().roll_up("age", "ward")
    assert turned.to_array().tolist() == np.reshape(CELLS, (2, 3)).T.tolist()
    assert turned.for_sums().tolist() == np.reshape(SUMS, (2, 3)).T.tolist()
    assert turned.roll_up("ward").estimates.tolist() == both().roll_up("ward").estimates.tolist()


def test_bars_and_drawn_rows_show_the_view_for_cells() -> None:
    histogram = both()
    lines = histogram.chart().splitlines()
    assert [line.split()[-1] for line in lines[1:7]] == [str(cell) for cell in CELLS]
    drawn = histogram.draw(500, seed=1).to_pandas()
    assert set(zip(drawn["ward"], drawn["age"] < 18, strict=True)) == {("A", True), ("B", False)}


def test_bars_that_are_sums_show_the_view_for_sums() -> None:
    wide = am.Bins("age", list(range(62)))
    by = [Attribute("age", wide.labels, wide)]
    histogram = ReleasedHistogram(by, [0] * 61, [2.0] * 61, release=Release("auto", {}))
    assert [line.split()[-1] for line in histogram.chart().splitlines()[1:-1]] == ["4"] * 30 + ["2"]


def test_two_views_claim_no_interval_and_say_why() -> None:
    histogram = both()
    for figure in (histogram.range(ward="A"), histogram.share(ward="A"), histogram.quantile("age", 0.5)):
        assert figure.low is None
        assert figure.high is None
        assert "gives sums back what is too large to be noise" in str(figure)
        assert "ask by geometric, one_sided or sample" in str(figure)
        assert figure.covers == EVERY


def test_an_answer_of_before_says_whom_auto_counted_then() -> None:
    dataset = declare()
    cut = am.Bins("age", list(range(121)))
    query = am.ShareHistogram(by=["ward", cut], policy="adults", epsilon=1)
    guarantee = query.bind(dataset.with_adjacency("replace")).guarantee
    by = [Attribute("ward", ("A", "B", "C")), Attribute("age", cut.labels, cut)]
    before = recalled(ReleasedHistogram(by, [1] * 360), query.to_dict(), guarantee)
    assert before.release is not None
    assert before.release.rates == BEFORE.rates(10**9, adjacency="replace", bins=360)
    assert before.range().covers == EITHER
    now = recalled(ReleasedHistogram(by, [1] * 360, [1.0] * 360), query.to_dict(), guarantee)
    assert now.range().covers == EVERY
    assert before.range().why_no_interval != now.range().why_no_interval


def test_two_views_of_an_answer_are_summed_alike_from_every_side() -> None:
    dataset = declare(public=True)
    query = am.ShareHistogram(by=["ward", AGES], policy="adults", epsilon=1)
    value = am.simulate(query, dataset, seed=3).value
    array = value.for_sums()
    for first, last in itertools.combinations(range(4), 2):
        edges = AGES.edges[first], AGES.edges[last]
        assert value.range(age=edges).estimate == pytest.approx(array[:, first:last].sum())


def test_the_sum_of_all_cells_is_right_on_average_where_totals_matter_however_few_records_there_are() -> None:
    # Fewer than the noise of all cells together, and a number of cells that is no power of two.
    every = np.zeros(100, np.int64)
    every[:30] = 15
    rates = CHOOSING["totals"].rates(10**8, adjacency="add_remove", bins=every.size)
    facts = Facts(every.shape, plain=False)
    found = [
        CHOOSING["totals"].views(every, 0 * every, rates=rates, noise=Noise.seeded(seed), facts=facts).sums
        for seed in range(200)
    ]
    totals = np.array([view.sum() for view in found if view is not None])
    assert abs(totals.mean() - 450) < 4 * totals.std() / math.sqrt(len(totals))


def test_sums_are_not_all_zero_where_cells_are_not() -> None:
    every = np.full(100, 3, np.int64)
    method = CHOOSING["cells"]
    rates = method.rates(10**8, adjacency="add_remove", bins=every.size)
    for seed in range(40):
        views = method.views(
            every, 0 * every, rates=rates, noise=Noise.seeded(seed), facts=Facts(every.shape)
        )
        assert views.sums is not None
        assert views.sums.any() == views.cells.any()


def test_what_is_given_back_to_sums_goes_to_no_cell_that_the_policys_text_decides() -> None:
    every = np.full(256, 3, np.int64)
    harmless = np.arange(256) % 2 == 0
    part = np.where(harmless, every, 0)
    method = CHOOSING["totals"]
    rates = method.rates(5 * 10**8, adjacency="add_remove", bins=every.size)
    facts = Facts(every.shape, harmless, plain=False)
    found = [
        method.views(every, part, rates=rates, noise=Noise.seeded(seed), facts=facts).sums
        for seed in range(100)
    ]
    totals = np.array([view.sum() for view in found if view is not None])
    assert abs(totals.mean() - every.sum()) < 4 * totals.std() / math.sqrt(len(totals))
