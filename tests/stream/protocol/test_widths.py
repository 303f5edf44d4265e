# SPDX-License-Identifier: Apache-2.0
"""Ranges are written as decimal numbers and held as binary ones; the noise covers what is held."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly import Interval
from anonymaly.core.epsilon import NANO
from anonymaly.errors import InputError
from anonymaly.stream import Column, Declaration

# low, high, step, the width as written, the width in the doubles that hold it
WIDER = [
    (1000000000000000.1, 1000000000000000.2, 0.01, 10, 12),
    (1700000000002.232, 1700000000002.332, 1e-4, 1000, 1001),  # milliseconds since 1970
    (1000000000000009.8, 1000000000000012.2, 0.15, 16, 17),  # the step is no finer than doubles are
]


def column(low: float, high: float, step: float) -> Column:
    """Return a column without asking whether it may be declared."""
    ends = Interval(low, high)
    return Column.model_construct(name="x", range=ends, outer=ends, step=step, centre=None, scale=None)


def exact_loss(column: Column, nano: int) -> Fraction:
    """The rate by which the noise is drawn, times the distance of the ends on the grid: both are exact."""
    low, high = column.to_grid(np.array([column.range.low, column.range.high], np.float64))
    return column.rate(nano) * int(high - low)


@pytest.mark.parametrize(("low", "high", "step", "written", "held"), WIDER)
def test_a_grid_that_is_wider_than_written_loses_no_more_than_epsilon(
    low: float, high: float, step: float, written: int, held: int
) -> None:
    wider = column(low, high, step)
    assert Fraction(held, written) > 1
    assert (wider.steps, wider.worst_steps) == (held, held)
    assert exact_loss(wider, NANO) <= 1


@pytest.mark.parametrize(("low", "high", "step", "written", "held"), WIDER)
def test_it_cannot_be_declared_because_its_accounts_were_charged_by_the_width_as_written(
    low: float, high: float, step: float, written: int, held: int
) -> None:
    ends = Interval(low, high)
    with pytest.raises(InputError, match=r"x\.step: .*Subtract a constant") as refusal:
        Column("x", range=ends, outer=ends, step=step)
    apart = math.ulp(high)
    if apart > step:
        assert f"{apart:g} apart, and the step is {step:g}" in str(refusal.value)
    else:
        assert f"{written:,} steps wide as written and {held:,}" in str(refusal.value)
        assert "open another account" in str(refusal.value)
    moved = Interval(0, float(Fraction(repr(high)) - Fraction(repr(low))))
    assert Column("x", range=moved, outer=moved, step=step).steps == written  # what the advice leads to


def test_the_outer_domain_decides_whether_doubles_can_hold_the_grid() -> None:
    near = Interval(0, 1)
    for far in (Interval(0, 2**40 * 0.001), Interval(-5, 5)):
        assert Column("x", range=near, outer=far, step=0.001).steps == 1000
    moved = Interval(1e13, 1e13 + 1)  # 0.002 apart
    with pytest.raises(InputError, match=r"numbers near 1e\+13 are 0\.00195312 apart"):
        Column("x", range=moved, outer=moved, step=0.001)


@settings(max_examples=400, deadline=None)
@given(
    offset=st.sampled_from([0.0, 1e3, 1e6, 1.7e9, 1.7e12, 1e15, -1.7e12]),
    more=st.integers(0, 10**6),
    digits=st.integers(0, 7),
    parts=st.integers(1, 3000),
    step=st.sampled_from([1e-8, 1e-7, 3e-7, 1e-4, 3e-4, 5e-4, 1e-3, 0.01, 0.1, 0.15, 0.3, 0.5, 1, 7]),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=6),
)
def test_whatever_may_be_declared_loses_at_most_epsilon_between_readings_in_range(
    offset: float, more: int, digits: int, parts: int, step: float, shares: list[float]
) -> None:
    low = round(offset + more / 10**digits, digits)
    high = round(low + parts * step, 8)
    if not low < high:
        return
    try:
        declared = Column("x", range=Interval(low, high), outer=Interval(low, high), step=step)
    except InputError:
        declared = column(low, high, step)
    assert exact_loss(declared, NANO) <= 1
    inside = np.clip(np.array([low + share * (high - low) for share in shares]), low, high)
    points = declared.to_grid(np.array([low, *inside, high]))
    assert int(points.max() - points.min()) <= declared.steps


@settings(max_examples=200, deadline=None)
@given(
    low=st.decimals(-(10**6), 10**6, places=3),
    parts=st.integers(1, 10**5),
    step=st.sampled_from(["0.001", "0.003", "0.01", "0.25", "0.1", "0.7", "1", "5"]),
)
def test_an_ordinary_column_keeps_the_width_that_its_account_was_charged_by(
    low: Fraction, parts: int, step: str
) -> None:
    high = Fraction(str(low)) + parts * Fraction(step)
    ends = Interval(float(low), float(high))
    declared = Column("x", range=ends, outer=ends, step=float(step))
    assert declared.steps == declared.written_steps == parts


def test_a_declaration_with_such_a_column_is_refused_when_it_is_read() -> None:
    ends = {"type": "interval", "low": 1000000000000009.8, "high": 1000000000000012.2}
    with pytest.raises(InputError, match="17 as numbers of 64 bits"):
        Declaration.read(
            {
                "columns": [{"name": "x", "range": ends, "outer": ends, "step": 0.15}],
                "epsilon": "1",
                "window": 4,
                "layer": 1,
            }
        )
