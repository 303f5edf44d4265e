# SPDX-License-Identifier: Apache-2.0
"""The table of scoring methods, and which of them ``auto`` is: a rule that looks at public facts alone."""

from __future__ import annotations

from collections.abc import Mapping

from anonymaly.score.grid import Grid
from anonymaly.score.marginals import Marginals
from anonymaly.score.method import Facts, Method

METHODS: Mapping[str, type[Method]] = {kind.name: kind for kind in (Grid, Marginals)}


# Measured (docs/questions/score.md): histograms of columns and pairs come nearer to exact neighbours, and far
# nearer where columns are skewed. Only for three columns and few records for ε is one histogram of all of
# them as good or better: with two columns their pair is the grid, with four the grid is too empty.
GRID_COLUMNS = 3
GRID_MOST = 100  # records × rate


def pick(facts: Facts) -> str:
    """Return the method for these facts.

    Examples
    --------
    >>> from fractions import Fraction
    >>> pick(Facts(3, Fraction(1, 2), records=113)), pick(Facts(3, Fraction(1, 2), records=10_000))
    ('grid', 'marginals')
    """
    if facts.dimensions != GRID_COLUMNS or facts.records is None:
        return "marginals"
    return "grid" if facts.records * facts.rate < GRID_MOST else "marginals"
