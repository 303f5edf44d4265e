# SPDX-License-Identifier: Apache-2.0
"""The parts of a score of the marginals: one for each column and for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.questions.score.methods.parts import Axes, Cell

if TYPE_CHECKING:
    from anonymaly.questions.score.methods.marginals import MarginalsMethod
    from anonymaly.questions.score.methods.method import Body


class MarginalParts:
    """The tables of one released model."""

    def __init__(self, method: MarginalsMethod, body: Body) -> None:
        self.method, self.body = method, body
        self.columns, self.pairs = method.tables(body)

    @property
    def axes(self) -> list[Axes]:
        """Which columns each part is about."""
        return [*((axis,) for axis in range(self.method.dimensions)), *self._pairs]

    @property
    def _pairs(self) -> list[Axes]:
        axes = range(self.method.dimensions)
        return [(left, right) for left in axes for right in range(left)] if self.method.pair_bins else []

    def of(self, points: Floats, *, skip: bool = True) -> Floats:
        """Return the parts of points, none of which may be missing."""
        places, sides = (_places(points, cells) for cells in (self.method.bins, self.method.pair_bins))
        columns = [self.columns[axis, places[:, axis]] for axis in range(self.method.dimensions)]
        pairs = [
            self.pairs[number, sides[:, left], sides[:, right]]
            for number, (left, right) in enumerate(self._pairs)
        ]
        return np.column_stack([*columns, *pairs])

    def cell(self, part: int, point: Floats) -> Cell | None:
        """Return the cell of one point in one part."""
        axes, paired = self.axes[part], part >= self.method.dimensions
        cells = self.method.pair_bins if paired else self.method.bins
        places = [int(_places(point[None, [axis]], cells)[0, 0]) for axis in axes]
        number = part - self.method.dimensions if paired else part
        noisy = self.body["pairs" if paired else "columns"][number]
        spans = tuple((place / cells, (place + 1) / cells) for place in places)
        return found_cell(noisy, tuple(places), float(self.body["deviations"][int(paired)]), spans)


def _places(points: Floats, cells: int) -> Integers:
    return np.minimum((points * cells).astype(np.int64), max(cells - 1, 0))


def found_cell(
    noisy: Integers,
    place: tuple[int, ...],
    deviation: float,
    spans: tuple[tuple[float, float] | None, ...],
) -> Cell:
    """Return a cell of a histogram of one or two columns, by its released counts.

    Examples
    --------
    >>> found_cell(np.array([[8, 0], [0, 8]]), (0, 1), 0.0, (None, None))
    Cell(share=0.0, believed=0.0, expected=0.25, spans=(None, None))
    """
    held = np.maximum(noisy, 0).astype(np.float64)
    total = max(float(held.sum()), 1.0)
    expected = None
    if held.ndim == 2:
        expected = float(held[place[0]].sum() * held[:, place[1]].sum()) / total**2
    return Cell(float(held[place]) / total, 2 * deviation / total, expected, spans)
