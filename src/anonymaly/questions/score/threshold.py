# SPDX-License-Identifier: Apache-2.0
"""A private threshold: the quantile of the reference records' scores, by permute-and-flip (Lemma 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.rate import noise_rate
from anonymaly.noise.checks import LARGEST_COUNT

if TYPE_CHECKING:
    from anonymaly.noise import Noise

CANDIDATES = 2**12
HALVINGS = 12


@dataclass(frozen=True)
class Quantile:
    """The threshold above which a share ``part`` of the records lies.

    With part = p/q, a candidate t is worth -|q·(records above t) - p·(all records)|, a whole number.
    """

    part: Fraction

    @property
    def unit(self) -> int:
        """The most by which one record that comes or goes changes a candidate's worth."""
        return max(self.part.numerator, self.part.denominator - self.part.numerator)

    def rate(self, share: int, changed: int) -> Fraction:
        """Return the rate of the draw: ``changed`` records may come or go, and worth may rise or fall."""
        return noise_rate(share, moves=2 * self.unit * changed)

    def worth(self, counts: Integers) -> npt.NDArray[np.object_]:
        """Return what each candidate is worth, given the counts between them: whole numbers of any length.

        The products need more than 64 bits where there are billions of records.

        Examples
        --------
        >>> Quantile(Fraction(1, 4)).worth(np.array([3, 0, 1])).tolist()
        [0, 0]
        """
        every, part = int(counts.sum()), self.part
        above = (every - np.cumsum(counts)[:-1]).tolist()
        worth = [-abs(part.denominator * number - part.numerator * every) for number in above]
        return np.array(worth, dtype=object)


def candidates(low: float, high: float) -> Floats:
    """Return the public candidates: each 0.2 % farther from the lowest score than the one before.

    So more of them are low. If many are equally good, as above a grid on which all reference records score
    0, a low one is then more likely to be chosen, and the oddest records are not missed.
    """
    return low + (high - low) * np.exp2(np.linspace(-HALVINGS, 0, CANDIDATES + 1)[:-1])


def release_threshold(
    counts: Integers, edges: Floats, quantile: Quantile, rate: Fraction, noise: Noise
) -> float:
    """Choose a candidate; those worth more are more likely."""
    worth = quantile.worth(counts)
    # Only how far behind the best counts, and what is 2^62 behind could not be farther. The number of records
    # decides no failure, and a cut does not raise what one of them changes (Lemma 7).
    behind = np.maximum(worth - worth.max(), -LARGEST_COUNT).astype(np.int64)
    return float(edges[noise.choose(behind, rate)])
