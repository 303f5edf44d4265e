# SPDX-License-Identifier: Apache-2.0
"""Which points have enough others within a radius: compiled, and no longer than until the answer is known.

Points are sorted into squares along their first two columns. Squares that lie within the radius of a whole
other square are counted by their sizes alone, the others point by point until there are enough.
The lists of neighbours that DBSCAN is usually computed from (5,000 for each of 100,000 points in the data
of Böhler et al. 2017) are never made.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Floats
from anonymaly.core.compiled import compiled

Numbers = npt.NDArray[np.int64]

MOST_SQUARES = 2**30  # along one column; beyond, squares are made wider
WIDER = 1 + 1e-9  # so that no rounding decides whether a square is near
PARTS = 6  # squares in a radius where many neighbours are counted
MANY = 100


class Squares:
    """Points by the square they lie in.

    Parameters
    ----------
    places
        The points, one row each.
    radius
        How far is near.
    number
        How many points near a place will be asked for.

    Examples
    --------
    >>> squares = Squares(np.array([[0.0], [0.4], [5.0]]), radius=0.5, number=2)
    >>> squares.reach(np.array([[0.2], [9.0]])).tolist()
    [True, False]
    """

    def __init__(self, places: Floats, radius: float, number: int) -> None:
        self._radius, self._number = radius, number
        self._columns = places.shape[1]
        flat = places[:, :2]
        self._low = flat.min(axis=0) if len(places) else np.zeros(flat.shape[1])
        high = flat.max(axis=0) if len(places) else self._low
        finest = float((high - self._low).max()) / MOST_SQUARES
        self._side = max(WIDER * radius / (PARTS if number >= MANY and self._columns <= 2 else 1), finest)
        keys = _keys(self._squares(places))
        order = np.argsort(keys, kind="stable")
        self._places = np.ascontiguousarray(places[order])
        self._keys, starts = np.unique(keys[order], return_index=True)
        self._starts = np.append(starts, len(places)).astype(np.int64)

    def reach(self, places: Floats) -> Booleans:
        """Say for each place whether at least that number of points lie within the radius, edge included."""
        enough = np.zeros(len(places), np.bool_)
        if len(self._places) < self._number or len(places) == 0:
            return enough
        squares, members = np.unique(self._squares(places), axis=0, return_inverse=True)
        whole, partly = self._offsets()
        sizes = np.append(np.diff(self._starts), 0)  # square -1, which is none, is empty
        sure = np.zeros(len(squares), np.int64)
        for offset in whole:
            sure += sizes[self._find(squares + offset)]
        near = np.column_stack([self._find(squares + offset) for offset in partly])
        _count(
            np.ascontiguousarray(places), members.ravel(), sure, near, self._starts, self._places,
            self._radius**2, self._number, enough,
        )  # fmt: skip
        return enough

    def _offsets(self) -> tuple[list[Numbers], list[Numbers]]:
        """Return which squares around one lie within the radius of all of it, and which of some of it."""
        most = int(np.ceil(self._radius / self._side)) + 1
        across = range(-most, most + 1) if self._columns > 1 else range(1)
        whole, partly = [], []
        for i, j in sorted(
            itertools.product(range(-most, most + 1), across), key=lambda at: at[0] ** 2 + at[1] ** 2
        ):
            offset = np.array([i, j])
            used = np.abs(offset[: min(self._columns, 2)])
            nearest = self._side * np.sqrt((np.maximum(used - 1, 0) ** 2).sum())
            farthest = self._side * np.sqrt(((used + 1) ** 2).sum())
            if self._columns <= 2 and farthest * WIDER <= self._radius:
                whole.append(offset)
            elif nearest <= self._radius * WIDER:
                partly.append(offset)
        return whole, partly

    def _find(self, squares: Numbers) -> Numbers:
        keys = _keys(squares)
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[found] == keys, found, -1)

    def _squares(self, places: Floats) -> Numbers:
        squares = np.floor((places[:, :2] - self._low) / self._side)
        squares = np.clip(squares, -64, MOST_SQUARES + 64).astype(np.int64)
        return squares if squares.shape[1] == 2 else np.column_stack([squares, np.zeros_like(squares)])


def _keys(squares: Numbers) -> Numbers:
    return np.asarray(squares[:, 0] * (2 * MOST_SQUARES) + squares[:, 1])


@compiled
def _count(
    places: Floats,
    members: Numbers,
    sure: Numbers,
    near: Numbers,
    starts: Numbers,
    others: Floats,
    square: float,
    number: int,
    enough: Booleans,
) -> None:
    """Count until the number is reached, square by square."""
    for point in range(len(places)):
        home = members[point]
        count = sure[home]
        index = 0
        while count < number and index < near.shape[1]:
            place = near[home, index]
            index += 1
            if place < 0:
                continue
            for other in range(starts[place], starts[place + 1]):
                distance = 0.0
                for column in range(places.shape[1]):
                    difference = places[point, column] - others[other, column]
                    distance += difference * difference
                if distance <= square:
                    count += 1
                    if count >= number:
                        break
        enough[point] = count >= number
