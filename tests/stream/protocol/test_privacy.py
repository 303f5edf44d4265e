# SPDX-License-Identifier: Apache-2.0
"""The detector's view of two readings keeps the stated ε: the exact law, and that it is drawn from."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anonymaly import Interval
from anonymaly.errors import InputError
from anonymaly.noise import Noise, two_sided_geometric_mass, two_sided_geometric_mass_bounds
from anonymaly.stream import Column, Declaration
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.promise import StreamPromise

SMALL = Column("celsius", range=Interval(10, 14), outer=Interval(6, 20), step=0.5)
OTHER = Column("watt", range=Interval(0, 3), outer=Interval(-1, 7), step=1)
STREAM = Declaration(columns=[SMALL, OTHER], epsilon="0.75", window=10, layer=1)


def loss_between(column: Column, first: float, second: float) -> float:
    """Return the largest log-ratio of probabilities of any output, from exact bounds on each of them."""
    rate = column.rate(STREAM.nano)
    ends = [int(column.to_grid(np.array([value]))[0]) for value in (first, second)]
    ratios = []
    for output in range(min(ends) - 3, max(ends) + 4):  # beyond both ends the ratio stays what it is there
        low, _ = two_sided_geometric_mass_bounds(rate, output - ends[1])
        _, high = two_sided_geometric_mass_bounds(rate, output - ends[0])
        ratios.append(math.log(high / low))
    return max(ratios)


@pytest.mark.parametrize("column", STREAM.columns, ids=lambda column: column.name)
def test_between_readings_in_range_the_loss_is_at_most_epsilon_and_attained(column: Column) -> None:
    grid = np.arange(column.range.low, column.range.high + 0.01, column.step / 2)
    losses = [loss_between(column, first, second) for first, second in itertools.product(grid, grid)]
    assert max(losses) == pytest.approx(0.75, abs=1e-12)
    assert min(losses) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("column", STREAM.columns, ids=lambda column: column.name)
def test_beyond_the_range_the_loss_is_at_most_epsilon_times_outer_by_width(column: Column) -> None:
    values = [-1e9, column.outer.low, column.range.low, column.range.high, column.outer.high, 1e9, math.inf]
    losses = [loss_between(column, first, second) for first, second in itertools.product(values, values)]
    assert max(losses) == pytest.approx(0.75 * column.outer.width / column.range.width, abs=1e-12)


def test_the_promise_states_these_numbers() -> None:
    promise = StreamPromise(STREAM, readings=40)
    assert promise.reading.epsilon == "1.5"  # two columns
    assert promise.together is not None
    assert promise.together.epsilon == "60"
    assert promise.beyond.epsilon == "4.625"  # 0.75·14/4 + 0.75·8/3
    said = promise.describe()
    assert "ε = 1.5" in said
    assert "ε = 60" in said
    assert "Not covered by ε" in said
    assert promise.to_dict()["not_covered"] in said
    for server in ("Honest but curious servers", "A server that deviates", "Both servers together"):
        assert f"\n{server}" in said
    assert "ε = 4.625 against any other reading" in said
    assert "nothing away" not in said
    assert StreamPromise(STREAM, readings=0).together is None


def test_the_sensor_draws_from_that_law_in_every_column() -> None:
    rows = np.tile([12.2, 2.0], (40_000, 1))
    values = perturb(STREAM, rows, Noise.seeded(5)).values
    for index, (column, exact) in enumerate(zip(STREAM.columns, (4, 2), strict=True)):
        rate = column.rate(STREAM.nano)
        around = np.arange(-12, 13)  # each expected at least ten times
        expected = [two_sided_geometric_mass(rate, int(value)) for value in around]
        observed = [int((values[:, index] - exact == value).sum()) for value in around]
        observed.append(len(rows) - sum(observed))
        expected.append(1 - sum(expected))
        assert stats.chisquare(observed, np.array(expected) * len(rows)).pvalue > 1e-9
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.03  # the columns' noise is independent


@settings(max_examples=200, deadline=None)
@given(
    low=st.integers(-1000, 1000),
    width=st.integers(1, 1000),
    more=st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    step=st.sampled_from([1, 2, 3, 7, 10, 0.5, 0.1, 0.01, 0.3]),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=10),
)
def test_readings_are_never_farther_apart_on_the_grid_than_is_charged_for(
    low: int, width: int, more: tuple[int, int], step: float, shares: list[float]
) -> None:
    high = low + width
    outer = Interval(low - more[0], high + more[1])
    column = Column("x", range=Interval(low, high), outer=outer, step=step)
    inside = np.array([low + share * width for share in shares] + [low, high], np.float64)
    points = column.to_grid(np.clip(inside, low, high))
    assert points.max() - points.min() <= column.steps
    exact = Fraction(width) / Fraction(repr(step))
    assert column.steps == (exact if exact.denominator == 1 else math.floor(exact) + 1)
    anywhere = column.to_grid(np.array([-1e12, 1e12, *(outer.low + share * outer.width for share in shares)]))
    assert anywhere.max() - anywhere.min() <= column.worst_steps


def test_shifts_lie_on_a_public_grid_that_hides_the_last_bits() -> None:
    made = perturb(STREAM, np.array([[12.0, 1.0], [13.5, 3.0]]), Noise.seeded(1))
    assert made.shifts.dtype == np.int64
    exact = np.column_stack([SMALL.to_grid(np.array([12.0, 13.5])), OTHER.to_grid(np.array([1.0, 3.0]))])
    moved = STREAM.distances(made.values) - STREAM.distances(exact)
    assert np.abs(moved - made.shifts * STREAM.precision).max() <= STREAM.precision / 2 + 1e-12


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"columns": []}, "columns"),
        ({"columns": [SMALL, SMALL]}, "names a column twice"),
        ({"epsilon": 0}, "positive"),
        ({"epsilon": "1e-10"}, "nine decimals"),
        ({"window": 0}, "window"),
        ({"window": 2**20 + 1}, "window"),
        ({"layer": -1}, "layer"),
        ({"model": "magic"}, "One of dbscan"),
        ({"precision": 0}, "precision"),
    ],
)
def test_a_wrong_declaration_is_refused(changes: dict[str, object], said: str) -> None:
    fields = {"columns": [SMALL], "epsilon": 1, "window": 10, "layer": 1, **changes}
    with pytest.raises(InputError, match=said):
        Declaration(**fields)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="does not contain the range"):
        Column("x", range=Interval(0, 5), outer=Interval(1, 9), step=1)
    with pytest.raises(InputError, match=r"2\^40"):
        Column("x", range=Interval(0, 5), outer=Interval(0, 10**9), step=1e-6)


def test_a_declaration_is_read_back_from_plain_data() -> None:
    assert Declaration.read(STREAM.to_dict()) == STREAM
    assert STREAM.to_dict()["epsilon"] == "0.75"
