# SPDX-License-Identifier: Apache-2.0
"""The rule for a grid's parameters that were not given, from public facts alone.

The numbers were chosen on six public tables of 3 to 30 columns at ε from 0.15 to 5, by the area under the
curve of five splits. Distances from the point's own cell did better than from the point itself: with cells
as coarse as noise needs them, records in the corner of a crowded cell are far from its centre, and look odd.
"""

from __future__ import annotations

import math
from fractions import Fraction

from anonymaly.questions.score.methods.method import MethodFacts

NEIGHBOURS = 5
FALSE_CELLS = Fraction(1)  # published cells that hold nothing but noise, on average
MOST_CELLS_BY_RULE = 32


def cells_for(facts: MethodFacts) -> int:
    """Return the number of cells on an axis: (records · rate)^(1/max(3, d/2)), at least two.

    Half of the columns, because records spread along few of all directions; at least three, as for a
    histogram of one column, whose error is smallest at about the cube root.

    Examples
    --------
    >>> [cells_for(MethodFacts(8, Fraction(1), 400)), cells_for(MethodFacts(30, Fraction(1), 285))]
    [4, 2]
    """
    weight = float((facts.records or 1) * facts.rate)
    wanted = weight ** (1 / max(3.0, facts.dimensions / 2)) if weight > 1 else 1.0
    # A hair more, because the cube root of 27 is a hair below 3 in floats.
    return min(max(2, math.floor(wanted + 1e-9)), MOST_CELLS_BY_RULE)
