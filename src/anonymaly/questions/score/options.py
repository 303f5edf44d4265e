# SPDX-License-Identifier: Apache-2.0
"""The options of ``score``: which method takes which, their limits, and the share of each stage."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

Distance = Literal["manhattan", "euclidean"]
Origin = Literal["point", "cell"]
Form = Literal["published", "held"]

MOST_CELLS = 1024  # on an axis
MOST_NEIGHBOURS, HIGHEST_THRESHOLD = 10**9, 2**60

METHOD_OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "grid": ("neighbours", "cells", "weighted", "distance", "origin", "depth", "threshold", "form"),
        "marginals": ("bins", "pair_bins"),
        "mixed": ("bins", "pair_bins", "adaptive"),
    }
)

# The default shares of ε of the stages before and after the model.
SHARES = {"bounds": Fraction(1, 5), "records": Fraction(1, 50), "threshold": Fraction(1, 10)}
