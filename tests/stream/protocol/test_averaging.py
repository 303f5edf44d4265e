# SPDX-License-Identifier: Apache-2.0
"""The printed numbers about a reading that stays the same, against servers that do just that.

Each share is of 2,000 trials: six standard deviations are 0.067, a false-alarm rate of 2e-9 for each.
"""

from __future__ import annotations

import numpy as np
import pytest

from anonymaly import Interval
from anonymaly.noise import Noise
from anonymaly.stream import Column, Declaration
from anonymaly.stream.protocol.averaging import Averaged, times_to_half_a_step
from anonymaly.stream.protocol.perturb import Perturbed, perturb
from anonymaly.stream.protocol.promise import StreamPromise

TRIALS = 2000
ALARM = 6 * (0.25 / TRIALS) ** 0.5
CELSIUS = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=0.01)
HUMIDITY = Column("humidity", range=Interval(20, 60), outer=Interval(0, 100), step=0.5, centre=45, scale=30)


FINE = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=0.0001)


def stream(epsilon: str, *columns: Column, precision: float = 0.001) -> Declaration:
    return Declaration(columns=columns, epsilon=epsilon, window=500, layer=40, precision=precision)


def sent(declared: Declaration, reading: list[float], times: int) -> Perturbed:
    return perturb(declared, np.tile(reading, (TRIALS * times, 1)), Noise.seeded(7))


def distance(declared: Declaration, reading: list[float]) -> float:
    points = [
        column.to_grid(np.array([value])) for column, value in zip(declared.columns, reading, strict=True)
    ]
    return float(declared.distances(np.column_stack(points))[0])


@pytest.mark.parametrize(("epsilon", "times"), [("1", 1000), ("0.1", 1000), ("2", 100), ("5", 1)])
def test_the_detector_comes_as_near_as_is_printed_half_of_the_time(epsilon: str, times: int) -> None:
    declared = stream(epsilon, CELSIUS)
    values = 18 + CELSIUS.step * sent(declared, [23.5], times).values.reshape(TRIALS, times)
    near = np.abs(np.median(values, axis=1) - 23.5) <= Averaged.of(declared, times).detector["celsius"]
    assert near.mean() == pytest.approx(0.5, abs=ALARM)


@pytest.mark.parametrize(("epsilon", "times"), [("1", 1000), ("0.1", 1000), ("1", 100)])
@pytest.mark.parametrize("columns", [(CELSIUS,), (CELSIUS, HUMIDITY)], ids=len)
def test_the_corrector_comes_as_near_as_is_printed_at_least_half_of_the_time(
    columns: tuple[Column, ...], epsilon: str, times: int
) -> None:
    declared = stream(epsilon, *columns)
    printed = Averaged.of(declared, times).corrector / (8 if len(columns) == 1 else 1)
    farthest, middle = [26.0, 20.0][: len(columns)], [22.1, 44.5][: len(columns)]
    for reading in (farthest, middle):
        moves = sent(declared, reading, times).shifts.reshape(TRIALS, times) * declared.precision
        near = np.abs(-moves.min(axis=1) - distance(declared, reading)) <= printed
        assert near.mean() >= 0.5 - ALARM


def test_the_corrector_does_not_come_much_nearer_by_that_way_than_is_printed() -> None:
    declared = stream("1", FINE, precision=1e-6)
    moves = sent(declared, [26.0], 1000).shifts.reshape(TRIALS, 1000) * declared.precision
    near = np.abs(-moves.min(axis=1) - 0.5) <= Averaged.of(declared, 1000).corrector / 8
    assert near.mean() == pytest.approx(0.5, abs=ALARM)


def test_half_a_step_is_reached_after_the_number_of_times_that_is_printed() -> None:
    coarse = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=1)
    declared = stream("1", coarse)
    times = times_to_half_a_step(coarse, declared.nano)
    assert times == 117
    assert Averaged.of(declared, times).detector["celsius"] == 0.5
    assert Averaged.of(declared, times - 20).detector["celsius"] > 0.5
    medians = np.median(sent(declared, [23.0], times).values.reshape(TRIALS, times), axis=1)
    # Values lie on the grid, so the nearest one is hit more often than a value between would be.
    assert (np.abs(medians - 5) <= 0.5).mean() >= 0.5 - ALARM


def test_nothing_is_known_better_than_the_grid_and_worse_than_the_range_says() -> None:
    declared = stream("1", CELSIUS)
    assert Averaged.of(declared, 10**12).detector["celsius"] == 0.005
    assert Averaged.of(declared, 10**12).corrector == pytest.approx(0.005 + 8 * 0.001 / 2)
    assert Averaged.of(stream("0.001", CELSIUS), 1).detector["celsius"] == 4
    many = stream("0.001", *(Column(f"x{i}", Interval(0, 1), Interval(0, 1), 0.1) for i in range(1024)))
    assert Averaged.of(many, 1).corrector == pytest.approx(8)  # half of the farthest: √1024 · ½


def test_the_promise_prints_them() -> None:
    promise = StreamPromise(stream("1", CELSIUS), readings=60, readings_a_day=1440)
    said = promise.describe()
    assert "Sent 1,000 times it is known, half of the time or more often:" in said
    assert "to the detector within 0.171 celsius (within half a step after about 1,200,000 times)" in said
    assert "to the corrector, its distance from the centre within 0.0181 celsius" in said
    assert "ε = 60, which is 60 times 1." in said
    assert "ε = 1440 a day, 525600 a year" in said
    plain = promise.to_dict()
    assert plain["by_time"] == {"day": "1440", "year": "525600"}
    assert plain["averaged"]["detector"]["celsius"] == pytest.approx(0.1706, abs=1e-4)
    assert StreamPromise(stream("1", CELSIUS), readings=60).to_dict()["by_time"] is None
    assert "units of the scales" in StreamPromise(stream("1", CELSIUS, HUMIDITY), readings=0).describe()
