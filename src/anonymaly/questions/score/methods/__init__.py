# SPDX-License-Identifier: Apache-2.0
"""The table of scoring methods, and the rule by which ``auto`` picks one, which never looks at rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anonymaly.questions.score.methods.grid import GridMethod
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import ScoringMethod
from anonymaly.questions.score.methods.mixed import MixedMethod

METHODS: Mapping[str, type[ScoringMethod]] = {
    kind.name: kind for kind in (GridMethod, MarginalsMethod, MixedMethod)
}

# What is tried by default, in this order: histograms take every column, and came nearer to exact neighbours
# than the grid on average (docs/questions/score.md). ``auto`` is what the default was called before there was
# the first of them, and still means the others: an account's question stays what it was.
PREFERRED = (MixedMethod, MarginalsMethod, GridMethod)
AUTO = "auto"


def pick(options: Iterable[str], wanted: str | None = None) -> str:
    """Return the method for the parameters that were given: the first that takes all of them.

    Examples
    --------
    >>> pick([]), pick([], "auto"), pick(["neighbours", "cells"])
    ('mixed', 'marginals', 'grid')
    """
    given, kinds = set(options), PREFERRED if wanted is None else PREFERRED[1:]
    return next((kind.name for kind in kinds if given <= set(kind.options)), kinds[0].name)
