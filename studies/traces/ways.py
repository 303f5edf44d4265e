# SPDX-License-Identifier: Apache-2.0
"""Sequences of places of trajectories, how many have each, and the errors of released counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd

from anonymaly.core.arrays import Floats, Integers
from anonymaly.noise import Noise
from studies.traces.paper import FREQUENT, PLACES


def windows(rows: pd.DataFrame, length: int, whose: str) -> tuple[Integers, Integers]:
    """Return whose each sequence is, and its places as the digits of a number; rows are in order.

    Examples
    --------
    >>> rows = pd.DataFrame({"trajectory": [0, 0, 0, 1], "place": [1, 2, 1, 3]})
    >>> windows(rows, 2, "trajectory")
    (array([0, 0]), array([ 66, 129]))
    """
    owner, place = rows[whose].to_numpy(np.int64), rows["place"].to_numpy(np.int64)
    last = max(len(owner) - length + 1, 0)
    code = np.zeros(last, np.int64)
    for step in range(length):
        code = code * PLACES + place[step : step + last]
    whole = owner[:last] == owner[length - 1 :][:last]
    return owner[:last][whole], code[whole]


def distinct_pairs(first: Integers, second: Integers, bound: int) -> tuple[Integers, Integers]:
    """Return each pair once, in order; the second number of a pair is below a bound.

    Examples
    --------
    >>> distinct_pairs(np.array([1, 0, 1]), np.array([5, 2, 5]), 10)
    (array([0, 1]), array([2, 5]))
    """
    one, other = np.divmod(np.unique(first * bound + second), bound)
    return one, other


@dataclass(frozen=True)
class Ways:
    """The sequences of a length that somebody has, and how many trajectories have each.

    Attributes
    ----------
    length
        Places in a sequence.
    owner, place
        Each pair of a trajectory and a sequence of it once; sequences by their number among ``codes``.
    codes, counts
        The sequences in increasing order.
    """

    length: int
    owner: Integers
    place: Integers
    codes: Integers
    counts: Integers

    @classmethod
    def of(cls, rows: pd.DataFrame, length: int) -> Ways:
        """Count all sequences of rows in order."""
        owner, code = windows(rows, length, "trajectory")
        owner, code = distinct_pairs(owner, code, PLACES**length)
        codes, place, counts = np.unique(code, return_inverse=True, return_counts=True)
        return cls(length, owner, place.reshape(-1), codes, counts)

    def among(self, chosen: Integers) -> Floats:
        """Return the counts of some trajectories."""
        kept = np.isin(self.owner, chosen)
        return np.bincount(self.place[kept], minlength=len(self.codes)).astype(np.float64)

    def aligned(self, codes: Integers, counts: Integers) -> tuple[Floats, float]:
        """Return released counts of the sequences that exist, and the total of those that do not."""
        spot = np.searchsorted(self.codes, codes)
        real = (spot < len(self.codes)) & (self.codes[np.minimum(spot, len(self.codes) - 1)] == codes)
        found = np.zeros(len(self.codes))
        found[spot[real]] = counts[real]
        return found, float(counts[~real].sum())

    def truncated(self, most: int, noise: Noise) -> Integers:
        """Return the counts if of each trajectory some sequences count, drawn at random."""
        order = noise.permutation(len(self.owner))
        order = order[np.argsort(self.owner[order], kind="stable")]
        owner = self.owner[order]
        start = np.concatenate([[True], owner[1:] != owner[:-1]])
        rank = np.arange(len(owner)) - np.maximum.accumulate(np.where(start, np.arange(len(owner)), 0))
        kept = self.place[order[rank < most]]
        return np.bincount(kept, minlength=len(self.codes))

    def errors(self, found: Floats, beside: float) -> dict[str, float]:
        """Return mean relative errors (δ = 1): over sequences that exist, frequent ones, and all possible.

        ``beside`` is the total error of sequences that nobody has.
        """
        relative = np.abs(self.counts - found) / self.counts
        frequent = relative[self.counts >= FREQUENT]
        return {
            "held": float(relative.mean()),
            "frequent": float(frequent.mean()) if len(frequent) else 0.0,
            "possible": float((relative.sum() + beside) / float(PLACES) ** self.length),
        }

    def laplace(self, most: int, epsilon: str, noise: Noise) -> Mapping[str, float]:
        """Return the errors of two-sided noise on all sequences, at most some of each trajectory.

        It is the paper's baseline: no threshold, so nobody could list what it releases; what it adds to
        sequences that nobody has is computed, not drawn.
        """
        rate = Fraction(epsilon) / (2 * most)
        found = noise.add_two_sided_geometric(self.truncated(most, noise), rate)
        ratio = exp(-float(rate))
        empty = float(PLACES) ** self.length - len(self.codes)
        return self.errors(found.astype(np.float64), empty * 2 * ratio / (1 - ratio**2))
