# SPDX-License-Identifier: Apache-2.0
"""The parts of a mixed model's score: one for each column, each pair and all directions together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.questions.score.methods import mixed_tables as tables
from anonymaly.questions.score.methods.marginal_parts import found_cell
from anonymaly.questions.score.methods.mixed_layout import FINE
from anonymaly.questions.score.methods.nearest_counts import nearest_counts
from anonymaly.questions.score.methods.parts import Axes, Cell

if TYPE_CHECKING:
    from anonymaly.questions.score.methods.method import Body
    from anonymaly.questions.score.methods.mixed import MixedMethod

BLOCK = 65_536  # points at a time


class MixedParts:
    """The tables of one released model.

    Parameters
    ----------
    method, body
        What was released.
    """

    def __init__(self, method: MixedMethod, body: Body) -> None:
        self.method, self.layout = method, method.layout
        self.deviations = [float(number) for number in body["deviations"]]
        ends = np.cumsum(method.cells)[:-1]
        self.columns: list[Integers] = np.split(body["columns"], ends)
        sizes = np.cumsum([left * right for left, right in self.layout.pair_shapes])
        flat = np.split(body["pairs"], sizes)[: len(self.layout.pairs)]
        self.pairs: list[Integers] = [
            cells.reshape(shape) for cells, shape in zip(flat, self.layout.pair_shapes, strict=True)
        ]
        self.sketches = body["sketches"].reshape(method.sketches, method.side**2)

    @property
    def axes(self) -> list[Axes]:
        """Which columns each part is about."""
        alone: list[Axes] = [(axis,) for axis in range(self.method.dimensions)]
        return [*alone, *self.layout.pairs, *([tuple(self.layout.numbers)] if self.method.sketches else [])]

    def edges(self, axis: int) -> Integers:
        """Return the edges of a number's bins."""
        return np.array(self.method.edges_of(axis))

    @cached_property
    def column_tables(self) -> list[Floats]:
        """The parts of each column: numbers on the lattice, labels by place; missing comes last."""
        found = []
        for axis, (number, noisy) in enumerate(zip(self.method.labels, self.columns, strict=True)):
            if number:
                found.append(tables.label_table(noisy, self.deviations[0]))
            else:
                edges = self.edges(axis)
                found.append(tables.on_lattice(tables.number_table(noisy, edges, self.deviations[0]), edges))
        return found

    @cached_property
    def pair_tables(self) -> list[Floats]:
        """The parts of each pair."""
        columns, deviation = self.method.dimensions, self.deviations[1]
        adaptive = self.method.adaptive
        return [tables.pair_table(noisy, deviation, columns, adaptive=adaptive) for noisy in self.pairs]

    @cached_property
    def sketch_tables(self) -> Floats:
        """What each cell of each sketch adds, on the scale of columns and pairs."""
        held = np.maximum(self.sketches, 0).astype(np.float64)
        plain: Floats = -np.log(held + 1.0 + self.deviations[2])
        if not len(plain):
            return plain
        # On points drawn from the model, so that both spread alike for records as they are.
        points = self.draw(tables.DRAWN)
        others = self._lookup(points, skip=True).sum(axis=1)
        sums = self._summed(points, plain)
        scale = tables.SKETCH_WEIGHT * float(others.std()) / max(float(sums.std()), 1e-9)
        scaled: Floats = scale * (plain - sums.mean() / len(plain))
        return scaled

    def draw(self, count: int, seed: int = 0) -> Floats:
        """Return points like those that the model was made of."""
        masses = [
            nearest_counts(noisy) if number else tables.fine_mass(noisy, self.edges(axis))
            for axis, (number, noisy) in enumerate(zip(self.method.labels, self.columns, strict=True))
        ]
        return tables.draw(self.layout, masses, self.pairs, count, seed)

    def of(self, points: Floats, *, skip: bool = True) -> Floats:
        """Return the parts of points, one column of numbers for each of ``axes``.

        Parameters
        ----------
        points
            Coordinates, NaN where a value is missing.
        skip
            Whether what is missing adds nothing; otherwise it is a value like others.
        """
        found = self._lookup(points, skip=skip)
        if not self.method.sketches:
            return found
        return np.column_stack([found, self._summed(points, self.sketch_tables)])

    def cell(self, part: int, point: Floats) -> Cell | None:
        """Return the cell of one point in one part; the random directions have no single one."""
        axes = self.axes[part]
        if part < self.method.dimensions:
            axis = axes[0]
            place, span = self._bin(axis, float(point[axis]))
            return found_cell(self.columns[axis], (place,), self.deviations[0], (span,))
        number = part - self.method.dimensions
        if number >= len(self.pairs):
            return None
        sides = self.method.pair_bins
        places = [int(self.layout.code(point[[axis]], axis, sides)[0]) for axis in axes]
        spans = tuple(
            None if self.method.labels[axis] or place == sides else (place / sides, (place + 1) / sides)
            for axis, place in zip(axes, places, strict=True)
        )
        return found_cell(self.pairs[number], tuple(places), self.deviations[1], spans)

    def _bin(self, axis: int, value: float) -> tuple[int, tuple[float, float] | None]:
        cells = self.method.cells[axis] - 1
        if np.isnan(value) or self.method.labels[axis]:
            return (cells if np.isnan(value) else int(value)), None
        edges = self.method.edges_of(axis)
        place = int(np.searchsorted(edges, min(int(value * FINE), FINE - 1), "right")) - 1
        return place, (edges[place] / FINE, edges[place + 1] / FINE)

    def score(self, points: Floats, *, skip: bool = True) -> Floats:
        """Return the sums of all parts."""
        scores = np.empty(len(points))
        for first in range(0, len(points), BLOCK):
            block = slice(first, first + BLOCK)
            scores[block] = self.of(points[block], skip=skip).sum(axis=1)
        return scores

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of all scores, with what is missing left out or not."""
        every = [*self.column_tables, *self.pair_tables, *self.sketch_tables]
        low = sum(min(float(table.min()), 0.0) for table in every)
        return low, sum(max(float(table.max()), 0.0) for table in every)

    def _lookup(self, points: Floats, *, skip: bool) -> Floats:
        codes, lost = self.layout.codes(points, FINE), np.isnan(points)
        found = np.empty((len(points), len(self.column_tables) + len(self.pair_tables)))
        for axis, table in enumerate(self.column_tables):
            found[:, axis] = np.where(lost[:, axis] & skip, 0.0, table[codes[:, axis]])
        if self.pair_tables:
            sides = self.layout.codes(points, self.method.pair_bins)
            first = len(self.column_tables)
            for number, ((left, right), table) in enumerate(
                zip(self.layout.pairs, self.pair_tables, strict=True)
            ):
                left_out = (lost[:, left] | lost[:, right]) & skip
                found[:, first + number] = np.where(left_out, 0.0, table[sides[:, left], sides[:, right]])
        return found

    def _summed(self, points: Floats, found: Floats) -> Floats:
        total = np.zeros(len(points))
        for table, places in zip(found, self.layout.sketched(points), strict=True):
            total += table[places]
        return total
