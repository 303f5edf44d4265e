# SPDX-License-Identifier: Apache-2.0
"""The table of scoring methods, and which of them ``auto`` is: a rule that looks at public facts alone."""

from __future__ import annotations

from collections.abc import Mapping

from anonymaly.score.grid import Grid
from anonymaly.score.marginals import Marginals
from anonymaly.score.method import Facts, Method

METHODS: Mapping[str, type[Method]] = {kind.name: kind for kind in (Grid, Marginals)}


def pick(facts: Facts) -> str:
    """Return the method for these facts."""
    return "grid" if facts.dimensions <= 2 else "marginals"
