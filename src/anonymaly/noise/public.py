# SPDX-License-Identifier: Apache-2.0
"""Public coins: numbers that look random and follow from a seed alone. They hide nothing.

A model that anybody may compute again from what was released must come out the same in every version of every
library, which NumPy does not promise of its generators. These are the words of SplitMix64 (Steele, Lea and
Flood 2014).
"""

from __future__ import annotations

import math

import numpy as np

from anonymaly.core.arrays import Floats, Integers

STEP = np.uint64(0x9E3779B97F4A7C15)


class PublicCoins:
    """Numbers for what is computed from released numbers, one after another; never for a release.

    Examples
    --------
    >>> PublicCoins(7).even(3).round(4).tolist()
    [0.3898, 0.0168, 0.9008]
    >>> PublicCoins(7).places([0, 1, 3], 5).tolist()
    [2, 1, 2, 2, 2]
    """

    def __init__(self, seed: int) -> None:
        self._seed = np.uint64(seed % 2**64)
        self._taken = 0

    def even(self, count: int) -> Floats:
        """Return numbers between 0 and 1, all equally likely; neither end is among them."""
        places = np.arange(self._taken + 1, self._taken + count + 1, dtype=np.uint64)
        self._taken += count
        words = places * STEP + self._seed
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words = words ^ (words >> np.uint64(31))
        numbers: Floats = ((words >> np.uint64(12)).astype(np.float64) + 0.5) / 2**52
        return numbers

    def normal(self, count: int) -> Floats:
        """Return normal numbers of mean 0 and deviation 1."""
        length, angle = self.even(count), self.even(count)
        numbers: Floats = np.sqrt(-2 * np.log(length)) * np.cos(2 * math.pi * angle)
        return numbers

    def places(self, mass: Floats | list[float], count: int) -> Integers:
        """Return places in a list, each as often as its mass says; all alike where no mass is above 0."""
        held = np.maximum(np.asarray(mass, np.float64), 0.0)
        steps = np.cumsum(held if held.sum() > 0 else np.ones_like(held))
        chosen = np.searchsorted(steps, self.even(count) * steps[-1], "right")
        places: Integers = np.minimum(chosen, len(held) - 1).astype(np.int64)
        return places
