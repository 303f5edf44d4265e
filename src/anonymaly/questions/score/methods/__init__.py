# SPDX-License-Identifier: Apache-2.0
"""The table of scoring methods, and the rule by which ``auto`` picks one, which never looks at rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import ScoringMethod

METHODS: Mapping[str, type[ScoringMethod]] = {kind.name: kind for kind in (GridMethod, MarginalsMethod)}

# What ``auto`` tries, in this order. Measured (docs/questions/score.md): on 2 to 30 columns and 4 to 40,000
# records × ε, histograms of columns and pairs came nearer to exact neighbours than the grid on average, with
# one tie (three columns, 30 to 100), and far nearer where columns are skewed.
PREFERRED = (MarginalsMethod, GridMethod)


def pick(options: Iterable[str]) -> str:
    """Return the method for the parameters that were given: the first that takes all of them.

    Examples
    --------
    >>> pick([]), pick(["neighbours", "cells"])
    ('marginals', 'grid')
    """
    given = set(options)
    return next((kind.name for kind in PREFERRED if given <= set(kind.options)), PREFERRED[0].name)
