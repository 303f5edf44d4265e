# SPDX-License-Identifier: Apache-2.0
"""All sequences of some lengths, numbered: more than any list could hold, each of them one number.

A sequence's number is its places as digits, after all shorter sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sequences:
    """Sequences of ``shortest`` up to ``length`` of ``places`` places.

    Examples
    --------
    >>> some = Sequences(10, 3)
    >>> some.size, some.cell((4, 0, 7)), some.codes(some.cell((4, 0, 7)))
    (1110, 517, (4, 0, 7))
    >>> Sequences(10, 3, shortest=3).size
    1000
    """

    places: int
    length: int
    shortest: int = 1

    @property
    def size(self) -> int:
        """How many there are, of all lengths together."""
        return self.first(self.length + 1)

    def first(self, length: int) -> int:
        """Return the number of the first sequence of a length: how many shorter ones there are."""
        return sum(self.places**shorter for shorter in range(self.shortest, length))

    def cell(self, codes: Sequence[int]) -> int:
        """Return the number of a sequence."""
        found = 0
        for code in codes:
            found = found * self.places + code
        return self.first(len(codes)) + found

    def codes(self, cell: int) -> tuple[int, ...]:
        """Return the places of a sequence."""
        length = self.shortest
        while cell >= self.first(length + 1):
            length += 1
        rest, found = cell - self.first(length), []
        for _ in range(length):
            rest, code = divmod(rest, self.places)
            found.append(code)
        return tuple(reversed(found))


def lengths(shortest: int, longest: int) -> str:
    """Say how many places sequences have.

    Examples
    --------
    >>> lengths(1, 3), lengths(2, 3), lengths(4, 4)
    ('up to 3', '2 to 3', '4')
    """
    if shortest == longest:
        return str(longest)
    return f"up to {longest}" if shortest == 1 else f"{shortest} to {longest}"
