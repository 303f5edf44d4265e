# SPDX-License-Identifier: Apache-2.0
"""Which places are sensitive, so that a wanted share of trajectories, or rows, avoids them: section 6.1.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.declare.rules import Policy
from anonymaly.noise import Noise

NEAR = 0.002  # how far below the wanted share a policy may be


@dataclass(frozen=True)
class Places:
    """The sensitive places, and the share of what is protected that has been in none of them.

    Examples
    --------
    >>> Places((3, 5), 0.9).rule.text
    'not place in [3, 5]'
    """

    sensitive: tuple[int, ...]
    share: float

    @property
    def rule(self) -> Policy:
        """The policy by which a row is not sensitive; a person is sensitive if one of their rows is."""
        return Policy(f"not place in {list(self.sensitive)}")


def choose_places(visits: Booleans, share: float, seed: int) -> Places:
    """Return places that leave about a share of the lines of a matrix (by place) without a visit.

    Places are tried in a random order, and each is taken that does not leave too few.

    Examples
    --------
    >>> visits = np.eye(4, dtype=bool)[[0, 0, 1, 1, 2, 2, 3, 3]]
    >>> choose_places(visits, 0.5, seed=1).share
    0.5
    """
    untouched = np.ones(len(visits), bool)
    taken: list[int] = []
    for place in Noise.seeded(seed).permutation(visits.shape[1]).tolist():
        left = untouched & ~visits[:, place]
        if left.mean() >= share - NEAR and left.sum() < untouched.sum():
            untouched, taken = left, [*taken, place]
    if not taken:  # a policy must name some place: the one that the fewest visit
        taken = [int(visits.sum(axis=0).argmin())]
        untouched = ~visits[:, taken[0]]
    return Places(tuple(sorted(taken)), float(untouched.mean()))
