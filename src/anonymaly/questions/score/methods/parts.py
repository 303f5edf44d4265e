# SPDX-License-Identifier: Apache-2.0
"""What a score is the sum of: the interface between methods that have parts and the reasons made of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from anonymaly.core.arrays import Floats

Axes = tuple[int, ...]  # one column, two of a pair, or more where all of them are looked at together


class Cell(NamedTuple):
    """The cell that a record has in one histogram, by released numbers alone.

    ``share`` is its part of the records, ``believed`` what a share must reach to be more than noise, and
    ``expected`` the share that it would have if its columns were unrelated; ``spans`` has, for each column
    that is a number with a value, the two ends of the cell, from 0 to 1.
    """

    share: float
    believed: float
    expected: float | None
    spans: tuple[tuple[float, float] | None, ...]


class Parts(Protocol):
    """The parts of one released model's scores."""

    @property
    def axes(self) -> list[Axes]:
        """Which columns each part is about."""

    def of(self, points: Floats, *, skip: bool = True) -> Floats:
        """Return the parts of points, one column of numbers for each of ``axes``; they sum to the score."""

    def cell(self, part: int, point: Floats) -> Cell | None:
        """Return the cell of one point in one part; None where a part has no single cell."""
