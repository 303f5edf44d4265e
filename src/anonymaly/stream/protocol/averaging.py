# SPDX-License-Identifier: Apache-2.0
"""What each server learns of a reading that stays the same: noise that is drawn anew averages out.

ε counts this, T·d·ε for T readings, but hardly anybody reads it out of that number. So it is said in the
units of the readings: two ways to use many noisy values of one reading, and how well they do (GUARANTEE,
"What averages out"; the tests try both). A server may know a better way, or something else besides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from anonymaly.stream.protocol.declaration import Column, PerturbedColumns

TIMES = 1000  # a number of times to speak of
_QUARTILE = NormalDist().inv_cdf(0.75)  # half of all draws lie within so many standard deviations


@dataclass(frozen=True)
class Averaged:
    """How near the servers come, half of the time or more often, to a reading in range.

    Parameters
    ----------
    times : int
        How often the reading was sent.
    detector : dict
        Each column → how near the detector comes to its value.
    corrector : float
        How near the corrector comes to the distance of the reading's grid point from the centre: with one
        column in its unit, with several in units of their scales.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Declaration
    >>> celsius = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=0.01)
    >>> room = Declaration(columns=[celsius], epsilon=1, window=500, layer=40)
    >>> found = Averaged.of(room, times=1000)
    >>> round(found.detector["celsius"], 3), round(found.corrector, 3)
    (0.171, 0.018)
    """

    times: int
    detector: dict[str, float]
    corrector: float

    @classmethod
    def of(cls, declaration: PerturbedColumns, times: int = TIMES) -> Averaged:
        """Return how near the servers come to a reading that is sent so many times."""
        nearest = {column.name: _median(column, declaration.nano, times) for column in declaration.columns}
        return cls(times, nearest, _lower_end(declaration, times))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"times": self.times, "detector": self.detector, "corrector": self.corrector}


def times_to_half_a_step(column: Column, nano: int) -> int:
    """Return after how many times the detector knows a value to half a step: as well as the grid allows.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> celsius = Column("celsius", range=Interval(18, 26), outer=Interval(-50, 400), step=0.01)
    >>> times_to_half_a_step(celsius, 10**9)
    1164638
    """
    return math.ceil((2 * _QUARTILE / float(column.rate(nano))) ** 2)


def _median(column: Column, nano: int, times: int) -> float:
    """The median of the perturbed values: its standard deviation is that of the noise by √(2·times)."""
    scale = column.step / float(column.rate(nano))
    near = _QUARTILE * scale / math.sqrt(times)
    # The middle of the range is as near without any reading.
    return min(max(near, column.step / 2), column.range.width / 2)


def _lower_end(declaration: PerturbedColumns, times: int) -> float:
    """The largest move inward: no reading moves farther inward than its own distance from the centre."""
    columns = declaration.columns
    number = len(columns)
    # The noise puts a reading within r of the centre with a probability of about (the ball's volume) ×
    # (the density there), which is smallest for the reading that is farthest away. One of ``times`` draws
    # does so half of the time when that probability is ln 2 / times. In logarithms: the number of columns
    # may be large.
    logarithm = math.log(math.log(2) / times) - number / 2 * math.log(math.pi) + math.lgamma(number / 2 + 1)
    farthest = grid = 0.0
    for column in columns:
        noise = column.step / float(column.rate(declaration.nano))
        away = max(abs(column.range.low - column.middle), abs(column.range.high - column.middle))
        logarithm += math.log(2 * noise / column.unit) + away / noise
        farthest = math.hypot(farthest, away / column.unit)
        grid = math.hypot(grid, column.step / column.unit / 2)
    # A ball that is larger by half a cell's diagonal holds as many grid points as the volume says.
    near = math.exp(min(logarithm / number, 700.0)) + grid + declaration.precision / 2
    found = min(near, farthest / 2)
    return found * columns[0].unit if number == 1 else found
