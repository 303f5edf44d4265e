# SPDX-License-Identifier: Apache-2.0
"""Figures from a released histogram: intervals hold as often as they say, and all sums agree."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymaly as am
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError
from anonymaly.noise import Noise, laws
from anonymaly.questions.share_histogram.binding import bind
from anonymaly.questions.share_histogram.error_bars import Release
from anonymaly.questions.share_histogram.figures import Figure, QuantileFigure
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.value import ReleasedHistogram
from tests.questions.patients import declare

AGES = am.Bins("age", [0, 18, 65, 120])
WARD, AGE, NEW = (
    Attribute("ward", ("A", "B")),
    Attribute("age", AGES.labels, AGES),
    Attribute("new", (False, True)),
)
RATE = Fraction(1, 2)
RATES = {
    "geometric": {"two_sided": RATE},
    "one_sided": {"one_sided": RATE},
    "one_sided_l1": {"one_sided": RATE},
    "sample": {"left_out": RATE},
}
COUNTS = np.array([12, 0, 3, 40, 1, 7, 0, 0, 25, 5, 2, 31])


def three(estimates: Any = COUNTS, method: str = "geometric") -> ReleasedHistogram:
    return ReleasedHistogram([WARD, AGE, NEW], estimates, release=Release(method, RATES[method]))


def holds(figure: Figure | QuantileFigure, truth: float) -> bool:
    assert figure.low is not None
    assert figure.high is not None
    return bool(figure.low <= truth <= figure.high)


def outcomes(method: str, count: int) -> list[tuple[int, float]]:
    """Return what a cell may be released as, with its probability."""
    fade = math.exp(-float(RATE))
    if method == "sample":
        return [
            (kept, math.comb(count, kept) * (1 - fade) ** kept * fade ** (count - kept))
            for kept in range(count + 1)
        ]
    if method == "geometric":
        chances = [(count + step, laws.two_sided_geometric_mass(RATE, step)) for step in range(-50, 51)]
        return chances
    drawn = [(count - step, (1 - fade) * fade**step) for step in range(60)]
    if method == "one_sided":
        return drawn
    median = laws.one_sided_geometric_quantile(RATE, Fraction(1, 2))
    return [(number + median if number > 0 else 0, chance) for number, chance in drawn]


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("counts", [(0,), (1,), (3,), (20,), (0, 0), (0, 5), (2, 2)])
@pytest.mark.parametrize("method", RATES)
def test_an_interval_holds_the_true_sum_as_often_as_it_says(
    method: str, counts: tuple[int, ...], level: float
) -> None:
    release = Release(method, RATES[method])
    held = whole = 0.0
    for cells in itertools.product(*(outcomes(method, count) for count in counts)):
        chance = math.prod(each for _, each in cells)
        found = release.bounds(np.array([number for number, _ in cells]), (1 - level) / 2)
        assert found is not None
        whole += chance
        held += chance * (found[0] <= sum(counts) <= found[1])
    assert whole > 1 - 1e-9
    assert held >= level - 1e-9


@pytest.mark.parametrize("method", ["geometric", "one_sided", "sample"])
def test_the_estimate_of_a_sum_has_no_bias(method: str) -> None:
    release = Release(method, RATES[method])
    for count in (0, 4, 30):
        mean = sum(chance * release.estimate(np.array([cell])) for cell, chance in outcomes(method, count))
        assert mean == pytest.approx(count, abs=1e-6)


@pytest.mark.parametrize("method", RATES)
def test_sums_shares_and_quantiles_of_many_cells_hold_as_often_as_they_say(method: str) -> None:
    # 400 releases with fixed seeds; at 95 of 100, fewer than 361 hold once in 10^4 such tests at most.
    truth_share = COUNTS[:6].sum() / COUNTS.sum()
    by_age = COUNTS.reshape(2, 3, 2).sum(axis=(0, 2))
    median = int(np.flatnonzero(np.cumsum(by_age) >= by_age.sum() / 2)[0])
    held = np.zeros(3, int)
    for seed in range(400):
        released = METHODS[method].run(COUNTS, COUNTS, rates=RATES[method], noise=Noise.seeded(seed))
        histogram = three(released, method)
        held[0] += holds(histogram.range(age=(18, 120)), by_age[1:].sum())
        held[1] += holds(histogram.share(ward="A"), truth_share)
        middle = histogram.quantile("age", 0.5)
        held[2] += holds(middle, AGES.edges[median]) and holds(middle, AGES.edges[median + 1])
    assert (held >= 361).all(), held


def test_a_range_is_named_by_values_lists_and_edges() -> None:
    histogram = three()
    assert histogram.range().released == COUNTS.sum()
    assert histogram.range(ward="A", new=True).released == 0 + 40 + 7
    assert histogram.range(age=(0, 65), ward=["B", "A"]).released == 12 + 0 + 3 + 40 + 0 + 0 + 25 + 5
    assert histogram.range({"age": ["[0, 18)", "[65, 120]"]}, new=False).released == 12 + 1 + 0 + 2
    assert histogram.range(ward=[]).cells == 0
    assert (histogram.range(ward=[]).low, histogram.range(ward=[]).high) == (0, 0)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"age": (0, 60)}, "60 is not one of its edges"),
        ({"age": (65, 18)}, "nothing lies from 65 to 18"),
        ({"ward": "C"}, "'C' is not one of its values"),
        ({"new": 1}, "1 is not one of its values"),
        ({"wrad": "A"}, "'wrad' is not one of the histogram's columns"),
    ],
)
def test_a_range_that_is_no_sum_of_cells_is_refused(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        three().range(parts)


@pytest.mark.parametrize("level", [0, 1, True, "0.9", 95])
def test_a_level_is_between_0_and_1(level: Any) -> None:
    with pytest.raises(InputError, match="level"):
        three().range(level=level)


def test_roll_ups_agree_with_each_other_and_with_ranges() -> None:
    cells = COUNTS - 6  # negative ones, too
    histogram = three(cells)
    for columns in (("ward",), ("age",), ("new", "ward"), ("age", "new"), ("new", "age", "ward")):
        rolled = histogram.roll_up(*columns)
        assert [item.column for item in rolled.by] == list(columns)
        assert rolled.estimates.sum() == cells.sum()
        for row, figure in zip(rolled.rows(), rolled.cell_figures(), strict=True):
            where = {name: row[name] for name in columns}
            assert figure == histogram.range(where) == rolled.range(where)
            assert figure.released == row["estimate"]
        again = rolled.roll_up(columns[-1])
        assert again.estimates.tolist() == histogram.roll_up(columns[-1]).estimates.tolist()
        assert again.cell_figures() == histogram.roll_up(columns[-1]).cell_figures()


@pytest.mark.parametrize("columns", [(), ("ward", "ward"), ("sex",)])
def test_a_roll_up_names_columns_of_the_histogram_once(columns: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="columns"):
        three().roll_up(*columns)


def test_one_cell_is_a_histogram_like_others() -> None:
    everyone = am.Bins("age", [0, 120])
    one = ReleasedHistogram(
        [Attribute("age", everyone.labels, everyone)], [-3], release=Release("geometric", RATES["geometric"])
    )
    assert (one.range().low, one.range().estimate, one.range().high) == (0, -3, 3)
    assert one.roll_up("age").estimates.tolist() == [-3]
    share = one.share()
    assert math.isnan(share.estimate)
    assert (share.low, share.high) == (0, 1)
    with pytest.raises(InputError, match="no quantile"):
        one.quantile("age", 0.5)


def test_a_quantile_is_of_a_column_in_bins_and_of_a_part() -> None:
    histogram = three()
    assert histogram.quantile("age", 0.5).estimate == "[18, 65)"
    assert histogram.quantile("age", 0.05).estimate == "[0, 18)"
    assert histogram.quantile("age", 0.9, ward="B").estimate == "[65, 120]"
    for column, part, where in (("ward", 0.5, {}), ("age", 1, {}), ("age", 0.5, {"age": (0, 18)})):
        with pytest.raises(InputError):
            histogram.quantile(column, part, where)


@pytest.mark.parametrize("method", ["auto", "hybrid", "smoothed", "dawa", "dawaz"])
def test_where_smoothing_moves_sums_no_interval_is_claimed(method: str) -> None:
    rates = METHODS[method].rates(10**9, adjacency="replace", bins=12)
    histogram = ReleasedHistogram([WARD, AGE, NEW], COUNTS * 1.5, release=Release(method, rates))
    for figure in (histogram.range(ward="A"), histogram.share(ward="A"), histogram.quantile("age", 0.5)):
        assert figure.low is None
        assert figure.high is None
        assert f"{method} smooths" in str(figure)
    assert histogram.roll_up("ward").estimates.sum() == pytest.approx(COUNTS.sum() * 1.5)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("unit", [{}, {"person": "name", "max_rows": 3}])
@pytest.mark.parametrize("method", METHODS)
def test_an_answer_knows_its_rates_even_if_it_was_stored_before(
    tmp_path: Path, method: str, unit: dict[str, Any], adjacency: Any
) -> None:
    dataset = declare(**unit)
    query = am.ShareHistogram(by=["ward", AGES], policy="adults", method=method, epsilon=2)
    curator = am.Curator(dataset, budget=9, adjacency=adjacency, ledger=tmp_path / "patients.ledger")
    first = curator.ask(query)
    again = curator.answer(first.number or 0)
    # Public facts may decide auto's rates, and no interval needs them.
    rates = {} if method == "auto" else bind(query, dataset.with_adjacency(adjacency)).rates
    expected = Release(method, rates)
    assert first.value.release == again.value.release == expected
    # What is stored, and what is said of it, is what it was before anybody knew of intervals.
    assert set(again.to_dict()["value"]) == {"by", "estimates", *(["sums"] if method == "auto" else [])}
    rehearsed = curator.rehearse(query, rows=20, seed=1)
    assert rehearsed.value.release == expected
    curator.close()


def test_a_histogram_that_does_not_say_how_it_was_released_has_sums_without_intervals() -> None:
    read = ReleasedHistogram.of_dict(json.loads(json.dumps(three().to_dict())))
    assert read.range(ward="A").estimate == COUNTS[:6].sum()
    assert read.range(ward="A").low is None
    assert "does not say how it was released" in str(read.range())


def test_a_quantile_that_is_reached_just_so_is_not_missed_by_a_rounding() -> None:
    bins = am.Bins("x", [0, 1, 2])
    release = Release("geometric", {"two_sided": Fraction(40)})
    histogram = ReleasedHistogram([Attribute("x", bins.labels, bins)], [55, 45], release=release)
    found = histogram.quantile("x", 0.55)
    assert found.estimate == "[0, 1)"
    assert found.low == 0


@pytest.mark.parametrize("where", ["A", ["ward"], 7])
def test_parts_that_are_not_named_by_column_are_refused(where: Any) -> None:
    bins = am.Bins("x", [0, 1, 2])
    histogram = ReleasedHistogram([Attribute("x", bins.labels, bins)], [55, 45])
    with pytest.raises(InputError, match="by column"):
        histogram.range(where)
    with pytest.raises(InputError, match="not one of the histogram's columns"):
        histogram.roll_up(["x"])  # type: ignore[arg-type]
