# SPDX-License-Identifier: Apache-2.0
"""All sequences of up to n places, numbered: more than any list could hold, each of them one number.

A sequence's number is its places as digits, after all shorter sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sequences:
    """Sequences of 1 up to ``length`` of ``places`` places.

    Examples
    --------
    >>> some = Sequences(10, 3)
    >>> some.size, some.cell((4, 0, 7)), some.codes(some.cell((4, 0, 7)))
    (1110, 517, (4, 0, 7))
    """

    places: int
    length: int

    @property
    def size(self) -> int:
        """How many there are, of all lengths together."""
        return self.first(self.length + 1)

    def first(self, length: int) -> int:
        """Return the number of the first sequence of a length: how many shorter ones there are."""
        return sum(self.places**shorter for shorter in range(1, length))

    def cell(self, codes: Sequence[int]) -> int:
        """Return the number of a sequence."""
        found = 0
        for code in codes:
            found = found * self.places + code
        return self.first(len(codes)) + found

    def codes(self, cell: int) -> tuple[int, ...]:
        """Return the places of a sequence."""
        length = 1
        while cell >= self.first(length + 1):
            length += 1
        rest, found = cell - self.first(length), []
        for _ in range(length):
            rest, code = divmod(rest, self.places)
            found.append(code)
        return tuple(reversed(found))
