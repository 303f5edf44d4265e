# SPDX-License-Identifier: Apache-2.0
"""Margins: what the compiled kernels make of them, and how much one row changes them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from anonymaly.declare.attributes import Attribute
from anonymaly.declare.domain import Bins, Interval
from anonymaly.noise import Noise
from anonymaly.questions.explain.everyone.axes import GroupAxis
from anonymaly.questions.explain.everyone.axes.intervals import IntervalAxis
from anonymaly.questions.explain.everyone.axes.nested import Dyadic, OwnOrAny
from anonymaly.questions.explain.everyone.axes.subsets import SubsetAxis
from anonymaly.questions.explain.everyone.choices import MARGIN_NAMES
from anonymaly.questions.explain.everyone.group_list import GroupList, GroupSample
from anonymaly.questions.explain.everyone.kernels.all_groups import all_margins
from anonymaly.questions.explain.everyone.kernels.margin import margin_of
from anonymaly.questions.explain.everyone.kernels.some_groups import sample_margins
from anonymaly.questions.explain.everyone.margins import MARGINS, Margin
from anonymaly.questions.explain.everyone.margins.window import WindowMargin
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.positions import positions_of
from anonymaly.questions.explain.everyone.summary import StepCounts
from anonymaly.questions.explain.everyone.why import quartile_spread, quartile_utilities
from tests.questions.explain.everyone import plain

KINDS: list[Margin] = [
    MARGINS["fence"](),
    MARGINS["rare"](radius=1.0, share=0.3),  # type: ignore[call-arg]
    MARGINS["histogram"](bins=3, share=0.25),  # type: ignore[call-arg]
]


def _axes(draw: np.random.Generator) -> list[GroupAxis]:
    """Return an axis of each kind, in any order, with the record's own value anywhere."""
    sizes = draw.integers(1, 5, 4)
    edges = [positions_of(Bins("b", list(range(int(size) + 2)))) for size in sizes]
    axes: list[GroupAxis] = [
        SubsetAxis(Attribute("a", tuple("abcd"[: sizes[0]])), int(draw.integers(sizes[0]))),
        IntervalAxis("b", edges[1], int(draw.integers(edges[1].size))),
        Dyadic("c", edges[2], int(draw.integers(edges[2].size))),
        OwnOrAny("d", "x", 5),
    ]
    return [axes[place] for place in draw.permutation(4)]


@pytest.mark.slow
@pytest.mark.parametrize("margin", KINDS, ids=lambda margin: margin.name)
def test_every_group_has_the_margin_of_its_rows(margin: Margin) -> None:
    draw = np.random.default_rng(7)
    for _ in range(12):
        axes = _axes(draw)
        grid = MetricGrid.of(Interval(0, 12), int(draw.integers(3, 13)))
        number, asked = int(draw.integers(0, 60)), int(draw.integers(grid.steps))
        codes = np.stack([draw.integers(0, axis.codes, number) for axis in axes], 1)
        steps = draw.normal(grid.steps / 3, 1.2, number).clip(0, grid.steps - 1).astype(int)
        counts = np.zeros([*(axis.codes for axis in axes), grid.steps], np.int32)
        np.add.at(counts, (*codes.T, steps), 1)
        value = grid.low + (asked + 0.5) * grid.unit
        found = all_margins(
            axes, margin.columns(counts.reshape(-1, grid.steps), grid, value), margin.rule(grid, value)
        )
        listed = GroupList(tuple(axes))
        assert len(found) == listed.size
        for index in range(listed.size):
            name = listed.name(index)
            inside = np.ones(number, bool)
            for place, (axis, option) in enumerate(zip(axes, name, strict=True)):
                inside &= axis.inside(option)[codes[:, place]]
            values = steps[inside].tolist()
            if isinstance(margin, WindowMargin):
                share, window = margin._share, margin.window(grid, value)
                assert found[index] == plain.rare(values, window, share.numerator, share.denominator)
            else:
                assert found[index] == plain.fence(values, asked, grid.steps)


def test_the_names_that_a_question_lists_are_those_of_the_margins_the_default_first() -> None:
    assert tuple(MARGINS) == MARGIN_NAMES
    assert MARGIN_NAMES[0] == "fence"


def test_no_group_is_in_the_list_twice_and_each_holds_the_record() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        for axis in _axes(draw):
            sets = {tuple(axis.inside(option).tolist()) for option in range(axis.options)}
            assert len(sets) == axis.options
            own = 0 if isinstance(axis, Dyadic | OwnOrAny) else axis.own  # type: ignore[attr-defined]
            assert all(held[own] for held in sets)
            # Records without a value are in "any", which is the last option, and in no other.
            last = [axis.inside(option)[-1] for option in range(axis.options)]
            assert last == [False] * (axis.options - 1) + [True]


def test_a_sample_is_drawn_without_rows_holds_the_simple_groups_and_has_the_same_margins() -> None:
    axes = (
        SubsetAxis(Attribute("a", tuple(range(9))), 4),
        SubsetAxis(Attribute("b", tuple(range(7))), 0),
    )
    sample = GroupSample.draw(axes, Noise.seeded(1))
    assert {(0, 0), (0, 63), (255, 0), (255, 63)} <= set(map(tuple, sample.names.tolist()))
    draw = np.random.default_rng(1)
    grid = MetricGrid.of(Interval(0, 64), 64)
    cells, steps = draw.integers(0, 80, 3000), draw.normal(20, 4, 3000).clip(0, 63).astype(int)
    pairs, counts = np.unique(np.stack([cells, steps], 1), axis=0, return_counts=True)
    summary = StepCounts(pairs[:, 0].copy(), pairs[:, 1].copy(), counts)
    for margin in KINDS:
        every = all_margins(
            axes, margin.columns(summary.by_cell(80, 64), grid, 60.0), margin.rule(grid, 60.0)
        ).reshape(256, 64)
        some = sample_margins(sample, summary, margin, grid, 60.0)
        assert some.tolist() == every[sample.names[:, 0], sample.names[:, 1]].tolist()
        assert margin.name == "histogram" or some.max() > 0


@pytest.mark.parametrize("steps", [6, 7])
def test_a_row_more_changes_the_margin_of_a_fence_by_minus_three_to_one_quarters(steps: int) -> None:
    changes: set[int] = set()
    for asked in (0, steps // 2, steps - 1):
        for number in range(5):
            for values in itertools.combinations_with_replacement(range(steps), number):
                before = plain.fence(values, asked, steps)
                changes |= {plain.fence((*values, more), asked, steps) - before for more in range(steps)}
    assert changes == {-3, -2, -1, 0, 1}


@pytest.mark.parametrize(("numerator", "denominator"), [(1, 4), (1, 2), (3, 10)])
def test_a_row_more_changes_the_margins_of_rare_in_one_direction(numerator: int, denominator: int) -> None:
    for near in range(6):
        for others in range(12):
            here = plain.rare([5] * near + [0] * others, (5, 5), numerator, denominator)
            closer = plain.rare([5] * (near + 1) + [0] * others, (5, 5), numerator, denominator)
            farther = plain.rare([5] * near + [0] * (others + 1), (5, 5), numerator, denominator)
            assert numerator - denominator <= closer - here <= 0 <= farther - here <= numerator


@pytest.mark.parametrize("quarter", [1, 2, 3])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_spread_of_a_quartiles_utilities_is_the_declared_one_and_attained(
    quarter: int, adjacency: Any
) -> None:
    edges, widest = 5, 0
    for number in range(8):
        for values in itertools.combinations_with_replacement(range(edges - 1), number):
            before = np.array(plain.quartile(values, quarter, edges))
            left = [values[:place] + values[place + 1 :] for place in range(number)]
            for base in [values] if adjacency == "add_remove" else left:
                for more in range(edges - 1):
                    change = np.array(plain.quartile((*base, more), quarter, edges)) - before
                    widest = max(widest, int(change.max() - change.min()))
    assert widest == quartile_spread(quarter, 1, adjacency)


def test_a_quartiles_utilities_are_those_of_the_counts() -> None:
    values = [0, 0, 1, 3, 3, 3, 2]
    for quarter in (1, 2, 3):
        found = quartile_utilities(np.bincount(values, minlength=4), quarter)
        assert tuple(found.tolist()) == plain.quartile(values, quarter, 5)


def test_a_value_at_the_end_of_its_step_is_beyond_the_fence_too() -> None:
    # The record's whole step must be beyond, and the quartiles' whole steps inside. With 30 records in step 4
    # the fence is at 5 + 1.5, so 6.4 does not stand out, nor does 6.6, whose step begins at 6.
    grid = MetricGrid.of(Interval(0, 10), 10)
    fence = MARGINS["fence"]()
    counts = np.zeros((1, 10), np.int64)
    counts[0, 4] = 30
    for value, stands_out in (
        (6.4, False),
        (6.6, False),
        (7.0, True),
        (3.0, False),
        (2.5, False),
        (1.9, True),
    ):
        numbers = fence.columns(counts, grid, value)
        (found,) = all_margins([OwnOrAny("d", "x", 1)], np.repeat(numbers, 2, 0), fence.rule(grid, value))[:1]
        assert (found > 0) == stands_out, value


@pytest.mark.parametrize(
    "method", ["linear", "inverted_cdf", "averaged_inverted_cdf", "lower", "higher", "midpoint"]
)
def test_quartiles_that_the_guarantee_names_are_such_as_lemma_1_means(method: Any) -> None:
    for rows in range(1, 50):
        first, third = np.percentile(np.arange(1, rows + 1), [25, 75], method=method)
        assert first >= math.ceil(rows / 4)
        assert third <= 3 * rows // 4 + 1


@pytest.mark.parametrize(("margin", "share"), [(KINDS[1], 0.3), (KINDS[2], 0.25)], ids=str)
def test_fewer_rows_have_to_be_replaced_than_to_be_added_near_a_rare_value(
    margin: WindowMargin, share: float
) -> None:
    """Not a quarter of the margin's units, as for a fence."""
    grid = MetricGrid.of(Interval(0, 12), 12)
    rows = 100

    def margin_with(far: int, near: int) -> int:
        counts = np.zeros((1, 12), np.int64)
        counts[0, [0, 9]] = far, near
        return max(0, int(margin_of(margin.columns(counts, grid, 9.5).ravel(), 0, margin.rule(grid, 9.5))))

    asked = margin_with(rows, 0)
    added = next(number for number in range(rows) if not margin_with(rows, number))
    replaced = next(number for number in range(rows) if not margin_with(rows - number, number))
    assert added == math.ceil(asked / margin.unit)
    assert replaced == math.ceil(round(asked / margin.unit * (1 - share), 9)) <= asked / 4
