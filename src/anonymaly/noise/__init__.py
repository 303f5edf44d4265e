# SPDX-License-Identifier: Apache-2.0
"""Exact random draws in integers: all the randomness that any release has.

The laws of the noise (`laws`) need no compiled code, which is loaded when `Noise` is first used: a preview
draws nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from anonymaly.noise.laws import (
    one_sided_geometric_quantile,
    partition_error,
    two_sided_geometric_deviation,
    two_sided_geometric_half_width,
    two_sided_geometric_mass,
    two_sided_geometric_mass_bounds,
)
from anonymaly.noise.probability import ExactProbability

if TYPE_CHECKING:
    from anonymaly.noise.keyed import KeyedNoise
    from anonymaly.noise.source import Noise

__all__ = [
    "ExactProbability",
    "KeyedNoise",
    "Noise",
    "one_sided_geometric_quantile",
    "partition_error",
    "two_sided_geometric_deviation",
    "two_sided_geometric_half_width",
    "two_sided_geometric_mass",
    "two_sided_geometric_mass_bounds",
]

_DRAWING = {"KeyedNoise": "anonymaly.noise.keyed", "Noise": "anonymaly.noise.source"}


def __getattr__(name: str) -> Any:
    if name not in _DRAWING:
        raise AttributeError(f"module 'anonymaly.noise' has no attribute {name!r}")
    return getattr(importlib.import_module(_DRAWING[name]), name)
