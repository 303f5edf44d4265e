# SPDX-License-Identifier: Apache-2.0
"""The pieces of a column that boxes are made of: halves of halves, down to single cells.

Pieces have 1, 2, 4, ... cells, or fewer at the ends of the column. Those of one length follow each other, and
each is made of one or two of half that length. All of them may begin earlier, by a third of every length or
by two thirds: then no two neighbours are kept apart by all three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Integers

PLACES = 3
BEGIN, END, LEFT, RIGHT = 0, 1, 2, 3  # of a piece: its cells, and its halves


@dataclass(frozen=True)
class Pieces:
    """All pieces of a column.

    Parameters
    ----------
    table : array of int
        A row for each piece, the shortest first, the whole column last. Row 0 is the empty piece, which
        stands for a half that there is not.
    starts : tuple of int
        The first row of each length, and the number of rows.
    """

    table: Integers
    starts: tuple[int, ...]


def cut(size: int, place: int) -> Pieces:
    """Return the pieces of a column of so many cells, cut at one of three places.

    Examples
    --------
    >>> for place in range(PLACES):
    ...     pieces = cut(5, place)
    ...     pieces.table[pieces.starts[1] : pieces.starts[2], :2].tolist()
    [[0, 2], [2, 4], [4, 5]]
    [[0, 2], [2, 4], [4, 5]]
    [[0, 1], [1, 3], [3, 5]]
    """
    # In binary a third is 0.0101...: modulo any power of 2 it is about a third of that, or two thirds.
    moved = (place << (size - 1).bit_length()) // PLACES
    parts, starts = [np.zeros((1, 4), np.int64)], [1]
    before, length = 0, 0  # the number of the first piece of half the length, and the length's logarithm
    while True:
        first, last = moved >> length, (moved + size - 1) >> length
        numbers = np.arange(first, last + 1)
        part = np.zeros((len(numbers), 4), np.int64)
        part[:, BEGIN] = np.maximum((numbers << length) - moved, 0)
        part[:, END] = np.minimum(((numbers + 1) << length) - moved, size)
        if length:
            left = starts[-2] + 2 * numbers - before
            part[:, LEFT] = np.where(left >= starts[-2], left, 0)
            part[:, RIGHT] = np.where(left + 1 < starts[-1], left + 1, 0)
        parts.append(part)
        starts.append(starts[-1] + len(part))
        if first == last:
            return Pieces(np.concatenate(parts), tuple(starts))
        before, length = first, length + 1
