# SPDX-License-Identifier: Apache-2.0
"""`GroupAxis`, an attribute as groups see it.

Every record has a *code* of the attribute; the last code is that of records without a declared value. A group
chooses one of the attribute's *options*, each a set of codes that holds the record's own. The last option is
"any", which holds all codes; no other holds the last one. All of it follows from the declaration and the
asked record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.questions.explain.everyone.value import GroupPart

if TYPE_CHECKING:
    import ibis.expr.types as ir


class Steps(NamedTuple):
    """An order of all options in which each is made of the one before by adding or taking away a few codes.

    ``options[k]`` is made by the codes and signs from ``starts[k]`` up to before ``starts[k + 1]``.
    """

    options: Integers
    starts: Integers
    codes: Integers
    signs: Integers


class GroupAxis(ABC):
    """The options of one attribute."""

    column: str

    @property
    @abstractmethod
    def codes(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def options(self) -> int:
        """How many options there are."""

    @abstractmethod
    def inside(self, option: int) -> Booleans:
        """Return which codes an option holds."""

    @abstractmethod
    def part(self, option: int) -> GroupPart:
        """Return an option in words."""

    @abstractmethod
    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return the code of every row; none is null."""

    @abstractmethod
    def weights(self) -> Integers:
        """Return how many declared values each code stands for: 0 for the last one."""

    def shared(self, options: Integers, option: int) -> Floats:
        """Return how many declared values each of some options has in common with another one."""
        weights = np.where(self.inside(option), self.weights(), 0)
        held = np.array([float(weights[self.inside(other)].sum()) for other in range(self.options)])
        return held[options]

    def steps(self) -> Steps:
        """Return an order of the options, from the one with the fewest codes on."""
        return steps_between([(option, self.inside(option)) for option in self.in_order()])

    def in_order(self) -> list[int]:
        """Return the options in an order in which neighbours differ little."""
        return list(range(self.options))


def steps_between(options: list[tuple[int, Booleans]]) -> Steps:
    """Return what must be added and taken away on the way through some sets of codes.

    Examples
    --------
    >>> first, second = np.array([True, False, False]), np.array([False, True, True])
    >>> found = steps_between([(7, first), (9, second)])
    >>> found.starts.tolist(), found.codes.tolist(), found.signs.tolist()
    ([0, 1, 4], [0, 0, 1, 2], [1, -1, 1, 1])
    """
    starts, codes, signs = [0], [], []
    before = np.zeros_like(options[0][1])
    for _, inside in options:
        changed = np.flatnonzero(inside != before)
        codes += changed.tolist()
        signs += [1 if inside[code] else -1 for code in changed]
        starts.append(len(codes))
        before = inside
    numbers = [number for number, _ in options]
    return Steps(*(np.array(item, np.int64) for item in (numbers, starts, codes, signs)))
