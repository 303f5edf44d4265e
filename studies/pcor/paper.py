# SPDX-License-Identifier: Apache-2.0
"""What Shafieinejad et al. 2021 (PCOR) print, Tables 2 to 13, and their accounting of ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True)
class Times:
    """The shortest, longest and mean run time, in seconds."""

    least: float
    most: float
    mean: float


@dataclass(frozen=True)
class Utility:
    """The mean ratio to the best valid context, with its 90 % confidence interval."""

    mean: float
    low: float
    high: float


TIMES: Mapping[int, Mapping[str, Times]] = {
    2: {
        "uniform": Times(7 * MINUTE, 24 * HOUR, 97 * MINUTE),
        "random_walk": Times(15, 109, 51),
        "depth_first": Times(8 * MINUTE, 80 * MINUTE, 40 * MINUTE),
        "breadth_first": Times(6 * MINUTE, 61 * MINUTE, 37 * MINUTE),
        # Section 6.2: making the reference file is also the run time of the direct approach, for all records.
        "exact": Times(72 * HOUR, 72 * HOUR, 72 * HOUR),
    },
    4: {
        "depth_first": Times(3 * MINUTE, 47 * MINUTE, 19 * MINUTE),
        "breadth_first": Times(5 * MINUTE, 48 * MINUTE, 20 * MINUTE),
    },
    6: {
        "grubbs": Times(0.5 * MINUTE, 1 * MINUTE, 0.8 * MINUTE),
        "histogram": Times(2 * MINUTE, 4 * MINUTE, 3.4 * MINUTE),
    },
    8: {
        "0.05": Times(2 * MINUTE, 29 * MINUTE, 15 * MINUTE),
        "0.1": Times(2 * MINUTE, 29 * MINUTE, 16 * MINUTE),
        "0.2": Times(3 * MINUTE, 30 * MINUTE, 17 * MINUTE),
        "0.4": Times(3 * MINUTE, 30 * MINUTE, 17 * MINUTE),
    },
    10: {
        "25": Times(1 * MINUTE, 14 * MINUTE, 7 * MINUTE),
        "50": Times(3 * MINUTE, 29 * MINUTE, 16 * MINUTE),
        "100": Times(6 * MINUTE, 61 * MINUTE, 37 * MINUTE),
        "200": Times(21 * MINUTE, 163 * MINUTE, 99 * MINUTE),
    },
}

UTILITIES: Mapping[int, Mapping[str, Utility]] = {
    3: {
        "uniform": Utility(0.65, 0.64, 0.67),
        "random_walk": Utility(0.57, 0.55, 0.60),
        "depth_first": Utility(0.88, 0.85, 0.90),
        "breadth_first": Utility(0.90, 0.88, 0.93),
    },
    5: {"depth_first": Utility(0.88, 0.86, 0.91), "breadth_first": Utility(0.97, 0.95, 0.98)},
    7: {"grubbs": Utility(0.86, 0.84, 0.89), "histogram": Utility(0.89, 0.87, 0.91)},
    9: {
        "0.05": Utility(0.67, 0.62, 0.71),
        "0.1": Utility(0.82, 0.78, 0.85),
        "0.2": Utility(0.90, 0.88, 0.93),
        "0.4": Utility(0.92, 0.90, 0.94),
    },
    11: {
        "25": Utility(0.85, 0.81, 0.88),
        "50": Utility(0.88, 0.85, 0.91),
        "100": Utility(0.90, 0.88, 0.93),
        "200": Utility(0.84, 0.81, 0.87),
    },
}

CHANGES = (1, 5, 10, 25)  # ΔD: records in which neighbours differ

# How far the sets of valid contexts agree, for each ΔD.
MATCHES: Mapping[int, Mapping[str, tuple[float, float, float, float]]] = {
    12: {
        "grubbs": (0.998, 0.969, 0.945, 0.919),
        "lof": (0.89, 0.879, 0.867, 0.857),
        "histogram": (0.955, 0.821, 0.708, 0.588),
    },
    13: {
        "grubbs": (1.0, 1.0, 1.0, 0.978),
        "lof": (0.999, 0.995, 0.987, 0.977),
        "histogram": (0.985, 0.852, 0.693, 0.533),
    },
}

EPSILON = "0.2"
EPSILONS = ("0.05", "0.1", "0.2", "0.4")
SAMPLES = 50
SAMPLE_NUMBERS = (25, 50, 100, 200)
OUTLIERS = 200
MATCH_OUTLIERS, MATCH_NEIGHBOURS = 100, 50

_STEERED = ("depth_first", "breadth_first")


def paper_rate(search: str, epsilon: str, samples: int = SAMPLES) -> Fraction:
    """Return the paper's ε1: it charges 2·ε1 for a draw, and 2n + 2 draws' worth where utility steers.

    Population sizes all move the same way when a record comes or goes, so a draw at ε1 costs ε1 and a steered
    search of n samples n·ε1: for the same total our draws are sharper.

    Examples
    --------
    >>> paper_rate("random_walk", "0.2"), paper_rate("breadth_first", "0.2")
    (Fraction(1, 10), Fraction(1, 510))
    """
    return Fraction(epsilon) / (2 * samples + 2 if search in _STEERED else 2)
