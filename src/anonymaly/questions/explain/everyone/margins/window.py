# SPDX-License-Identifier: Apache-2.0
"""Rare values: at most a share of the group lies near the record's value, or in its bin."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency, rows_moved
from anonymaly.detectors.detector import is_number
from anonymaly.questions.explain.everyone.margins.margin import Margin, read_decimal
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.rule import MarginRule


class WindowMargin(Margin):
    """At most a share a/b of the group is in a window of the grid; the margin is a·n − b·(records in it)."""

    share: float

    @abstractmethod
    def window(self, grid: MetricGrid, value: float) -> tuple[int, int]:
        """Return the first and the last step of the window."""

    @property
    def _share(self) -> Fraction:
        return read_decimal(self.share, "the share", 0, 0.5)

    @property
    def unit(self) -> int:
        """What a record in the window takes away."""
        return self._share.denominator - self._share.numerator

    def spread(self, rows: int, adjacency: Adjacency) -> int:
        """Return the larger of b − a, for a row in the window, and a, for another one (Lemma 3)."""
        return max(self._share.numerator, self.unit) * rows_moved(rows, adjacency)

    def rule(self, grid: MetricGrid, value: float) -> MarginRule:
        """Return the share."""
        return MarginRule.of_share(self._share.numerator, self._share.denominator)

    def columns(self, counts: Integers, grid: MetricGrid, value: float) -> Integers:
        """Return how many records lie in the window, and how many there are."""
        first, last = self.window(grid, value)
        parts = [counts[:, first : last + 1].sum(axis=1), counts.sum(axis=1)]
        return np.stack(parts, axis=1).astype(counts.dtype)


@dataclass(frozen=True)
class Rare(WindowMargin):
    """At most a share of the group is within a radius of the value: in a step that the radius reaches.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> Rare(radius=5).window(MetricGrid.of(Interval(0, 100), 10), 90)
    (8, 9)
    """

    radius: float
    share: float = 0.01

    name: ClassVar[str] = "rare"
    asks: ClassVar[str] = "with few others near"

    def __post_init__(self) -> None:
        if not (is_number(self.radius) and 0 <= float(self.radius) < float("inf")):
            raise ValueError("the radius should be a number from 0 on")
        assert self._share  # noqa: S101 - raises an error of its own if it does not fit

    def window(self, grid: MetricGrid, value: float) -> tuple[int, int]:
        """Return the steps that values within the radius may lie in."""
        return grid.step(float(value) - float(self.radius)), grid.step(float(value) + float(self.radius))


@dataclass(frozen=True)
class BinMargin(WindowMargin):
    """At most a share of the group is in the value's bin: ``bins`` public ones, of nearly equal width.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> BinMargin(bins=3).window(MetricGrid.of(Interval(0, 100), 10), 90)
    (7, 9)
    """

    bins: int = 20
    share: float = 0.01

    name: ClassVar[str] = "histogram"
    asks: ClassVar[str] = "in a nearly empty bin"

    def __post_init__(self) -> None:
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or not 2 <= self.bins <= 1 << 16:
            raise ValueError("bins should be a whole number from 2 to 65,536")
        assert self._share  # noqa: S101 - raises an error of its own if it does not fit

    def window(self, grid: MetricGrid, value: float) -> tuple[int, int]:
        """Return the steps of the bin; bins are cut at steps, and there are no more of them."""
        bins = min(self.bins, grid.steps)
        number = grid.step(value) * bins // grid.steps
        return -(-number * grid.steps // bins), -(-(number + 1) * grid.steps // bins) - 1
