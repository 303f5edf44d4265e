# SPDX-License-Identifier: Apache-2.0
"""Grubbs's test of one record in every context, from the count and two sums of each base cell.

With S and Q the sums of a context's distances to V and of their squares, the verdict on its n records is
S²·(1 + c(n)) > c(n)·n·Q (see `anonymaly.detectors.grubbs`). Both sides are products of positive numbers, so
nothing cancels and doubles decide all but what lies within their rounding; that rest is settled with whole
numbers. The critical ratio c grows with n, so bounds of c over ranges of n decide nearly all contexts without
its value at every n.

Distances have a sign, so that sums of them cancel. They are added in two parts of 64 bits each,
S = 2^32·high + low: exactly, however many records there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Bytes, Floats, Integers
from anonymaly.core.compiled import compiled
from anonymaly.detectors import Grubbs
from anonymaly.detectors.grubbs import critical_ratios, exceeds
from anonymaly.questions.explain.kernels.cells import DistanceSums, Sums
from anonymaly.questions.explain.kernels.kernel import Kernel, Progress
from anonymaly.questions.explain.kernels.order import order_of, share_out
from anonymaly.questions.explain.kernels.populations import totals
from anonymaly.questions.explain.space import ContextSpace

UNDECIDED = 2
ROUNDING = 2.0**-52  # of each addition and product, with room
LOW_BITS = 32  # of a sum of distances; over 2^20 cells they sum to less than 2^53, and a double holds them
LOW_UNIT = float(1 << LOW_BITS)
STEPS = 64  # ranges of n per power of two: c changes by little over a sixty-fourth more records


class Totals(NamedTuple):
    """Counts, and sums of distances and of their squares: of each prefix and slot, or of each choice."""

    counts: Integers
    high: Integers
    low: Integers
    squares: Floats


class CriticalBounds(NamedTuple):
    """The least and the largest critical ratio in each range of counts, and the relative rounding."""

    lower: Floats
    upper: Floats
    margin: float


class GrubbsKernel(Kernel[DistanceSums, Grubbs]):
    """Says in which contexts a record is a Grubbs outlier.

    Parameters
    ----------
    space
        The contexts.
    cells
        Of each base cell its records, and the sums of their distances to the record and of the squares.
    detector
        The test's level.

    Examples
    --------
    >>> space = ContextSpace((2,), (0,))
    >>> others = np.array([0] * 6 + [1]), np.array([-30, -30, -30, -29, -29, -30, 0])
    >>> kernel = GrubbsKernel(space, DistanceSums.of(*others, 2), Grubbs())
    >>> kernel.valid().tolist()
    [True, False]
    >>> kernel.valid_at([0]).tolist()
    [True]
    """

    def __init__(self, space: ContextSpace, cells: DistanceSums, detector: Grubbs) -> None:
        self._space, self._detector = space, detector
        self._exact_squares = cells.squares
        # A sum over cells has fewer additions than there are cells; some products follow.
        self._margin = (space.cells + 16) * ROUNDING
        if not len(cells.counts) == len(cells.sums) == len(cells.squares) == space.cells:
            raise ValueError(f"{space.cells} base cells need as many counts, sums and squares")
        self._sums = Totals(
            cells.counts,
            np.array([total >> LOW_BITS for total in cells.sums], dtype=np.int64),
            np.array([total & (1 << LOW_BITS) - 1 for total in cells.sums], dtype=np.int64),
            np.array([float(square) for square in cells.squares]),
        )

    @classmethod
    def needs(cls, detector: Grubbs) -> Sums:
        """Sums decide the test."""
        return Sums()

    def valid(self, progress: Progress | None = None) -> Booleans:
        """Return the verdict for every context; ``progress`` gets how many are done."""
        order = order_of(self._space)
        sums = Totals(*(order.prefix_table(cells, np.add) for cells in self._sums))
        bounds = self._bounds(1 + int(self._sums.counts.sum()))
        verdicts = np.empty(self._space.size, dtype=np.uint8)

        def work(start: int, end: int) -> None:
            choices = 1 << order.inner.bits
            counts, high, low = np.empty((3, choices), np.int64)
            room = Totals(counts, high, low, np.empty(choices))
            _judge_prefixes(
                start, end, order.prefix_bases, order.inner.shift, order.inner.bits, sums, bounds, room,
                verdicts,
            )  # fmt: skip

        share_out(order, work, progress)
        result: Booleans = verdicts == 1
        doubtful = np.flatnonzero(verdicts == UNDECIDED)
        for part in np.array_split(doubtful, -(-len(doubtful) * self._space.cells // (1 << 24)) or 1):
            result[part] = self.valid_at(part)
        return result

    def valid_at(self, indices: npt.ArrayLike) -> Booleans:
        """Return the verdict for each of a few contexts."""
        chosen = self._space.checked(indices)
        counts, high, low, all_squares = (totals(self._space, chosen, values) for values in self._sums)
        counts += 1
        large = counts >= 3
        ratios = np.zeros(len(counts))
        if large.any():
            sizes, places = np.unique(counts[large], return_inverse=True)
            ratios[large] = critical_ratios(sizes, self._detector.alpha)[places]
        left = (high * LOW_UNIT + low) ** 2 * (1 + ratios)
        right = ratios * counts * all_squares
        result: Booleans = large & (left > right)
        for place in np.flatnonzero(large & (np.abs(left - right) <= right * self._margin)):
            inside = self._space.members(chosen[place])[0]
            squares = sum(self._exact_squares[cell] for cell in np.flatnonzero(inside).tolist())
            total = (int(high[place]) << LOW_BITS) + int(low[place])
            result[place] = exceeds(int(counts[place]), total, squares, self._detector.alpha)
        return result

    def _bounds(self, members: int) -> CriticalBounds:
        """Return bounds of the critical ratio for up to as many records as there are."""
        last = _range(members)
        starts = np.array([_first_of(number) for number in range(3, last + 2)], dtype=np.int64)
        ratios = critical_ratios(starts, self._detector.alpha)
        lower, upper = np.zeros(last + 1), np.zeros(last + 1)
        lower[3:] = ratios[:-1]
        # A range of one count needs no room above.
        upper[3:] = np.where(np.diff(starts) == 1, ratios[:-1], ratios[1:])
        return CriticalBounds(lower, upper, self._margin)


@compiled
def _range(count: int) -> int:
    """Return the number of the range that a count is in: counts below 2·STEPS are ranges of their own."""
    shift = 0
    while count >> shift >= 2 * STEPS:
        shift += 1
    return shift * STEPS + (count >> shift)


def _first_of(number: int) -> int:
    """Return the first count in a range."""
    shift = max(0, number // STEPS - 1)
    return (number - shift * STEPS) << shift


@compiled
def _judge_prefixes(
    start: int, end: int, bases: Integers, shift: int, bits: int,
    sums: Totals, bounds: CriticalBounds, room: Totals, verdicts: Bytes,
) -> None:  # fmt: skip
    """Judge all contexts of a range of prefixes from the sums of each value of the last field."""
    counts, high, low, squares = room
    lower, upper, margin = bounds
    for prefix in range(start, end):
        counts[0] = 1 + sums.counts[prefix, 0]
        high[0] = sums.high[prefix, 0]
        low[0] = sums.low[prefix, 0]
        squares[0] = sums.squares[prefix, 0]
        for bit in range(bits):
            half = 1 << bit
            for choice in range(half):
                counts[half + choice] = counts[choice] + sums.counts[prefix, bit + 1]
                high[half + choice] = high[choice] + sums.high[prefix, bit + 1]
                low[half + choice] = low[choice] + sums.low[prefix, bit + 1]
                squares[half + choice] = squares[choice] + sums.squares[prefix, bit + 1]
        for choice in range(1 << bits):
            count = counts[choice]
            verdict = 0
            if count >= 3:
                number = _range(count)
                # Both parts are exact as doubles, so that their sum is rounded once, whatever cancels.
                square = (high[choice] * LOW_UNIT + low[choice]) ** 2
                spread = count * squares[choice]
                # S²(1+c) − c·n·Q falls in c, because S² ≤ n·Q.
                if square * (1 + upper[number]) > upper[number] * spread * (1 + margin):
                    verdict = 1
                elif square * (1 + lower[number]) * (1 + margin) >= lower[number] * spread:
                    verdict = UNDECIDED
            verdicts[bases[prefix] | choice << shift] = verdict
