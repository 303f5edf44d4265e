# SPDX-License-Identifier: Apache-2.0
"""How a grid's parameters are chosen where nobody gave them: from public facts alone."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.score.method import Facts

NEIGHBOURS = 5
FALSE_CELLS = Fraction(1)


def cells_for(facts: Facts) -> int:
    """Return the number of cells on an axis."""
    return 2
