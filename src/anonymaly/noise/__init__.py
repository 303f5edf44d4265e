# SPDX-License-Identifier: Apache-2.0
"""Exact random draws in integers, and the only place where the package draws any."""

from anonymaly.noise.keyed import KeyedNoise
from anonymaly.noise.laws import (
    one_sided_geometric_quantile,
    partition_error,
    two_sided_geometric_deviation,
    two_sided_geometric_half_width,
    two_sided_geometric_mass,
    two_sided_geometric_mass_bounds,
)
from anonymaly.noise.probability import ExactProbability
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
