# SPDX-License-Identifier: Apache-2.0
"""The exact law on all small tables and their neighbours: it loses at most ε; with half the spread, more."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from anonymaly.core.rate import rows_moved
from anonymaly.questions.explain.everyone.binding import none_at
from anonymaly.questions.explain.everyone.margins import MARGINS, Margin
from anonymaly.questions.explain.everyone.margins.window import WindowMargin
from tests.questions.explain.everyone import plain

STEPS, ASKED, CODES = 7, 6, 2
EPSILON = Fraction(1, 2)
FENCE, RARE = MARGINS["fence"](), MARGINS["rare"](radius=0.0, share=0.25)  # type: ignore[call-arg]


@cache
def _margins(table: plain.Table, margin: Margin) -> tuple[int, ...]:
    """Return the margins of the record's own value, and of any."""
    groups = [[step for code, step in table if code == 0], [step for _, step in table]]
    if isinstance(margin, WindowMargin):
        return tuple(plain.rare(values, (ASKED, ASKED), 1, 4) for values in groups)
    return tuple(plain.fence(values, ASKED, STEPS) for values in groups)


def _worst(margin: Margin, rows: int, adjacency: Any, most: int, spread: int, none: int) -> float:
    """Return the largest loss over all tables and their neighbours; ``none`` is lower than it would be."""
    rate = float(EPSILON / spread)
    worst = 0.0
    known: dict[plain.Table, tuple[float, ...]] = {}

    def law(table: plain.Table) -> tuple[float, ...]:
        if table not in known:
            known[table] = plain.law((*_margins(table, margin), none), rate)
        return known[table]

    for table in plain.tables(CODES, STEPS, most):
        for other in plain.neighbours(table, CODES, STEPS, rows, adjacency == "replace"):
            worst = max(worst, plain.loss(law(table), law(other)))
    return worst


CASES = [
    (FENCE, 1, "add_remove", 4, 0.75),
    (FENCE, 1, "replace", 4, 0.5),
    (FENCE, 2, "add_remove", 3, 0.45),
    (RARE, 1, "add_remove", 4, 0.75),
    (RARE, 1, "replace", 4, 0.6),
    (RARE, 2, "add_remove", 3, 0.45),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("margin", "rows", "adjacency", "most", "reached"),
    CASES,
    ids=lambda item: str(getattr(item, "name", item)),
)
def test_on_all_small_tables_the_loss_is_at_most_epsilon_and_comes_near_it(
    margin: Margin, rows: int, adjacency: Any, most: int, reached: float
) -> None:
    spread = margin.spread(rows, adjacency)
    # Any public number may stand for none; a low one lets small tables lose the most.
    for none in (0, 1, 3):
        worst = _worst(margin, rows, adjacency, most, spread, none)
        assert worst <= float(EPSILON) * (1 + 1e-9)
        if none == 0:
            assert worst >= reached * float(EPSILON)


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_half_the_spread_loses_more_than_epsilon(adjacency: Any) -> None:
    half = RARE.spread(1, adjacency) // 2 or 1
    assert _worst(RARE, 1, adjacency, 4, half, 0) > float(EPSILON)


def test_the_spread_is_four_quarters_a_row_and_twice_that_for_a_replacement() -> None:
    for rows in (1, 3):
        for adjacency in ("add_remove", "replace"):
            moved = rows_moved(rows, adjacency)  # type: ignore[arg-type]
            assert FENCE.spread(rows, adjacency) == 4 * moved  # type: ignore[arg-type]
            assert RARE.spread(rows, adjacency) == 3 * moved  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1, 10**9), Fraction(3)])
@pytest.mark.parametrize("groups", [1, 2, 4_194_304])
def test_none_is_where_a_wrong_group_has_at_most_a_twentieth(rate: Fraction, groups: int) -> None:
    found = none_at(rate, groups)
    assert math.log(groups * 20) <= float(rate * found) * (1 + 1e-12)
    assert math.log(groups * 20) > float(rate * (found - 1)) * (1 - 1e-12)


def test_an_ordinary_record_gets_a_wrong_group_in_at_most_a_twentieth_of_draws() -> None:
    for groups in (1, 3, 12):
        for rate in (Fraction(1, 4), Fraction(1, 40)):
            law = plain.law((*[0] * groups, none_at(rate, groups)), float(rate))
            assert sum(law[:-1]) <= 0.05


def test_a_clear_record_is_said_to_stand_out_nowhere_hardly_ever() -> None:
    rate, groups = Fraction(1, 4), 8
    none = none_at(rate, groups)
    for more in (0, 4, 12, 40):
        law = plain.law((none + more, *[0] * (groups - 1), none), float(rate))
        assert law[-1] <= math.exp(-float(rate) * more) + 1e-12
