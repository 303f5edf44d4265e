# SPDX-License-Identifier: Apache-2.0
"""All sets of values that hold the record's own: the contexts of Shafieinejad et al. 2021."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.questions.explain.everyone.axes.axis import GroupAxis, Steps
from anonymaly.questions.explain.everyone.value import Part

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class SubsetAxis(GroupAxis):
    """An option's bits choose among the other values, in their order; with all of them it is any.

    Examples
    --------
    >>> axis = SubsetAxis(Attribute("job", ("Nurse", "Clerk", "Cook", "Pilot")), 1)
    >>> axis.options, axis.inside(0b101).tolist()
    (8, [True, True, False, True, False])
    >>> [str(axis.part(option)) for option in (0, 0b101, 0b111)]
    ['job = Clerk', 'job all but Cook', 'any job']
    """

    attribute: Attribute
    own: int

    @property
    def column(self) -> str:  # type: ignore[override]  # a field of the others
        """The attribute's column."""
        return self.attribute.column

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.attribute.values)

    @property
    def codes(self) -> int:
        """The values, and none."""
        return self.size + 1

    @property
    def options(self) -> int:
        """Two for each other value."""
        return 1 << (self.size - 1)

    def mask(self, option: int) -> int:
        """Return an option as bits of all codes, the own one's and, for any, the last one's among them."""
        low = option & ((1 << self.own) - 1)
        mask = low | 1 << self.own | (option ^ low) << 1
        return mask | 1 << self.size if option == self.options - 1 else mask

    def inside(self, option: int) -> Booleans:
        """Return which codes an option holds."""
        return np.array([self.mask(option) >> code & 1 for code in range(self.codes)], np.bool_)

    def steps(self) -> Steps:
        """Return the options in Gray's order, in which one value comes or goes at a time."""
        number = np.arange(1, self.options, dtype=np.int64)
        options = np.append(0, number ^ number >> 1)
        lowest = number & -number
        bit = np.round(np.log2(lowest)).astype(np.int64)  # exact: powers of two below 2^53
        codes = np.append(self.own, bit + (bit >= self.own))
        signs = np.append(1, np.where(options[1:] & lowest, 1, -1))
        counts = np.ones(len(options), np.int64)
        if self.options > 1:
            # With all values the option is any, which holds the last code too, up to the next step.
            full = int(np.flatnonzero(options == self.options - 1)[0])
            codes, signs = np.insert(codes, full + 1, self.size), np.insert(signs, full + 1, 1)
            counts[full] = 2
            if full + 1 < len(options):
                codes, signs = np.insert(codes, full + 2, self.size), np.insert(signs, full + 2, -1)
                counts[full + 1] = 2
        else:
            codes, signs, counts = np.array([self.own, self.size]), np.array([1, 1]), np.array([2])
        return Steps(options, np.append(0, np.cumsum(counts)), codes.astype(np.int64), signs.astype(np.int64))

    def part(self, option: int) -> Part:
        """Return an option in words: by what it leaves out, if that is less."""
        if option == self.options - 1:
            return Part(self.column)
        mask, values = self.mask(option), self.attribute.values
        chosen = tuple(value for number, value in enumerate(values) if mask >> number & 1)
        others = tuple(value for number, value in enumerate(values) if not mask >> number & 1)
        bins = self.attribute.bins
        return Part(self.column, "values", chosen, others if len(others) < len(chosen) else (), bins)

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return the number of each row's value."""
        from anonymaly.declare.readings import code  # noqa: PLC0415  (Ibis, when rows are read)

        return code(self.attribute, table).fill_null(self.size)

    def shared(self, options: Integers, option: int) -> Floats:
        """Return how many values each of some options has in common with another one."""
        common: Floats = np.bitwise_count(options & option).astype(np.float64) + 1
        return common

    def weights(self) -> Integers:
        """Return one for each value."""
        return np.append(np.ones(self.size, np.int64), 0)
