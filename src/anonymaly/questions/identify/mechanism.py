# SPDX-License-Identifier: Apache-2.0
"""Construction 1 of the paper: an answer, flipped the more rarely the farther off the other one is.

It knows nothing of anomalies. Another anomaly model is one more file like ``model.py`` that makes
verdicts: a bit, and a number of steps that keeps the conditions of Lemma 1 of GUARANTEE.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.noise import ExactProbability, Noise


@dataclass(frozen=True)
class Verdicts:
    """For each record asked about the true answer g, and λ: how many steps away the other one is at least.

    Examples
    --------
    >>> Verdicts(np.array([True, False]), np.array([3, 1])).margins.tolist()
    [2, -1]
    """

    anomalous: Booleans
    steps: Integers

    @property
    def margins(self) -> Integers:
        """λ−1 where the answer is yes, −λ where it is no: one step of the table changes it by at most 1."""
        return np.where(self.anomalous, self.steps - 1, -self.steps)


def release_verdicts(verdicts: Verdicts, rate: Fraction, noise: Noise) -> Booleans:
    """Return the answers, each flipped with probability e^(−rate·(λ−1))/(1+e^rate), exactly (Lemma 2)."""
    return noise.add_two_sided_geometric(verdicts.margins, rate) >= 0


def flip_probability(rate: Fraction, steps: int) -> ExactProbability:
    """Return the probability that an answer is flipped that is λ = ``steps`` away from the other one.

    Examples
    --------
    >>> round(float(flip_probability(Fraction(1, 10), 1)), 3)
    0.475
    >>> f"{float(flip_probability(Fraction(1, 10), 480)):.4g}"
    '7.482e-22'
    """
    return ExactProbability.logistic(rate * steps, rate)
