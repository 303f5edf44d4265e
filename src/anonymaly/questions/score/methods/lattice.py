# SPDX-License-Identifier: Apache-2.0
"""The lattice of cells: b on each of d axes, b^d in all, more than any list could hold.

A cell is a row of coordinates, or its index: the coordinates as digits of one number, the first axis first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.questions.score.methods.method import coordinate

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

Ranks = npt.NDArray[np.uint16]  # coordinates of cells

WORD_BITS = 62  # of an engine's 64-bit integers
# How a walk's keys are made of distances (see `kernels.walk`): places within a cell in steps, and the sum
# over axes of how many cells apart, which stays below 2^21; in steps below 2^41, together 62 bits.
STEP_BITS = 10
STEPS = 1 << STEP_BITS
APART_BITS = 21


@dataclass(frozen=True)
class Lattice:
    """``width`` cells on each of ``dimensions`` axes.

    Examples
    --------
    >>> lattice = Lattice(3, 10)
    >>> lattice.size, lattice.coordinates([407]).tolist(), lattice.indices(lattice.coordinates([407]))
    (1000, [[4, 0, 7]], [407])
    """

    dimensions: int
    width: int

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.width**self.dimensions  # type: ignore[no-any-return]

    @property
    def axes_in_word(self) -> int:
        """How many axes one word holds."""
        count = 1
        while self.width ** (count + 1) <= 2**WORD_BITS:
            count += 1
        return count

    @property
    def _groups(self) -> list[range]:
        step = self.axes_in_word
        return [range(first, min(first + step, self.dimensions)) for first in range(0, self.dimensions, step)]

    def count(self, cube: ir.Table) -> ir.Table:
        """Count the records of each cell that has any; its coordinates are packed into words."""
        import ibis  # noqa: PLC0415  (half a second that a preview does not need)

        words = {}
        for number, group in enumerate(self._groups):
            word: ir.IntegerValue = ibis.literal(0, "int64")
            for axis in group:
                position = (cube[coordinate(axis)] * float(self.width)).floor().cast("int64")
                # The upper bound itself belongs to the last cell.
                word = word * self.width + position.clip(upper=self.width - 1)
            words[f"word{number}"] = word
        packed = cube.select(**words)
        return packed.group_by(list(words)).agg(records=packed.count())

    def unpack(self, counts: pa.Table) -> tuple[Ranks, Integers]:
        """Return what was counted: each cell's coordinates and its count, in order of the cells."""
        cells = np.empty((len(counts), self.dimensions), np.uint16)
        for number, group in enumerate(self._groups):
            words = counts.column(f"word{number}").to_numpy().astype(np.int64)
            for axis in reversed(group):
                words, cells[:, axis] = np.divmod(words, self.width)
        records = counts.column("records").to_numpy().astype(np.int64)
        order = self.sorted(cells)
        return cells[order], records[order]

    def coordinates(self, indices: Any) -> Ranks:
        """Return the coordinates of cells given by index."""
        numbers = np.asarray(indices)
        if self.size > 2**63:
            numbers = np.array([int(index) for index in indices], dtype=object)
        cells = np.empty((len(numbers), self.dimensions), np.uint16)
        for axis in reversed(range(self.dimensions)):
            numbers, cells[:, axis] = numbers // self.width, numbers % self.width
        return cells

    def indices(self, cells: Ranks) -> list[int]:
        """Return the indices of cells, as Python's integers of any length."""
        total = np.zeros(len(cells), np.int64 if self.size <= 2**63 else object)
        for axis in range(self.dimensions):
            total = total * self.width + cells[:, axis].astype(total.dtype)
        return [int(index) for index in total]

    @staticmethod
    def sorted(cells: Ranks) -> npt.NDArray[np.intp]:
        """Return the order of cells by index."""
        return np.lexsort(cells.T[::-1])


def axes_in_index(width: int) -> int:
    """Return how many axes a held model may have: its cells' indices are three words of 32 bits.

    Examples
    --------
    >>> axes_in_index(2), axes_in_index(10)
    (96, 27)
    """
    return 3 * axes_in_32_bits(width)


def axes_in_32_bits(width: int) -> int:
    """Return how many coordinates fit into a word of 32 bits."""
    count = 1
    while width ** (count + 1) <= 2**32:
        count += 1
    return count
