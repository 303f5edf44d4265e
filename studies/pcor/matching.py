# SPDX-License-Identifier: Apache-2.0
"""Tables 12 and 13: whether a record stands out in the same contexts when other records are left out.

The paper does not say how it measures a match. Two readings are measured: the mean of (contexts valid in both
tables) / (valid in either), and the share of neighbours with exactly the same valid contexts, on which the
promise of ``explain`` rests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.noise import Noise
from studies.journal import Journal
from studies.pcor.neighbours import Neighbours
from studies.pcor.outliers import measure_outliers
from studies.pcor.paper import CHANGES
from studies.progress import Progress
from studies.seeds import seed_of


def measure_matches(
    asking: Neighbours, outliers: int, neighbours: int, journal: Journal, progress: Progress, seed: int
) -> None:
    """Leave 1, 5, 10 and 25 random other records out, several times for each outlier."""
    measure_outliers(
        asking.name,
        asking.rows,
        outliers,
        journal,
        progress,
        seed,
        lambda row: _match_one(asking, row, neighbours, progress, seed),
    )


def _match_one(
    asking: Neighbours, row: int, neighbours: int, progress: Progress, seed: int
) -> dict[str, Any] | None:
    validity = asking.validity(row)
    if not validity.any():
        return None
    entry: dict[str, Any] = {"row": row, "contexts": len(validity), "valid": int(validity.sum())}
    noise = Noise.seeded(seed_of(seed, row, "neighbours"))
    entry["match"], entry["equal"] = {}, {}
    for number, change in enumerate(CHANGES):
        matches = []
        for neighbour in range(neighbours):
            others = asking.validity(row, without=_others(noise, row, asking.rows, change))
            matches.append(match(validity, others))
            progress.contexts(number * neighbours + neighbour + 1, len(CHANGES) * neighbours)
        entry["match"][str(change)] = float(np.mean(matches))
        entry["equal"][str(change)] = float(np.mean([value == 1 for value in matches]))
    return entry


def match(first: Booleans, second: Booleans) -> float:
    """Return what share of the contexts valid in either table are valid in both.

    Examples
    --------
    >>> match(np.array([True, True, False]), np.array([True, False, False]))
    0.5
    """
    either = int((first | second).sum())
    return int((first & second).sum()) / either if either else 1.0


def _others(noise: Noise, row: int, rows: int, number: int) -> list[int]:
    """Draw a number of different rows, not the record's."""
    chosen: set[int] = set()
    while len(chosen) < number:
        drawn = noise.uniform(rows)
        if drawn != row:
            chosen.add(drawn)
    return sorted(chosen)
