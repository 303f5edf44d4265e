# SPDX-License-Identifier: Apache-2.0
"""The true answer for each record, and how many steps of the table the other answer is away.

A (β, r)-anomaly is a record that is in the table and has at most β records within the radius r of it. ``own``
is how many records equal the one asked about, ``within`` how many are within the radius of it, its own copies
among them. All functions take whole arrays of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.noise.probability import ExactProbability

StepBound = Literal["improved", "paper", "differential"]


@dataclass(frozen=True)
class Verdicts:
    """For each record asked about the true answer g, and λ: at least how many steps away the other one is.

    Examples
    --------
    >>> Verdicts(np.array([True, False]), np.array([3, 1])).margins.tolist()
    [2, -1]
    """

    anomalous: Booleans
    steps: Integers

    @property
    def margins(self) -> Integers:
        """λ−1 where the answer is yes, −λ where it is no: one step changes it by at most 1 (Lemma 1)."""
        return np.where(self.anomalous, self.steps - 1, -self.steps)


def is_anomaly(own: Integers, within: Integers, beta: int) -> Booleans:
    """Say whether the record is in the table and has few neighbours: the answer g."""
    return (own >= 1) & (within <= beta)


def steps_to_change(bound: StepBound, own: Integers, within: Integers, *, beta: int, k: int) -> Integers:
    """Return λ: every way to a table with the other answer takes at least as many steps.

    Parameters
    ----------
    bound : {"improved", "paper", "differential"}
        Which steps count. For differential privacy all do (Lemma 3); for sensitive privacy those in a
        record that is k-sensitive, where the improved bound (Lemma 4) is never below the one of
        Asif et al. 2021 (Lemma 5).
    own, within : arrays of int
        The exact counts.
    beta, k : int
        The model's numbers; differential privacy makes no use of ``k``.

    Examples
    --------
    >>> own, within = np.array([1, 1, 0, 0]), np.array([1, 18, 18, 30])
    >>> steps_to_change("improved", own, within, beta=18, k=2).tolist()
    [17, 1, 2, 14]
    >>> steps_to_change("differential", own, within, beta=18, k=2).tolist()
    [1, 1, 2, 14]
    """
    few = beta - k - within  # how many records are missing until one in the record itself is protected
    match bound:
        case "differential":
            return _steps_of_any_kind(own, within, beta)
        case "paper":
            far = beta + 1 - within + np.minimum(0, own - k)
            return np.where(few >= 0, far, _steps_of_any_kind(own, within, beta))
        case "improved":
            crowded = np.where(own == 0, within - beta + 2, within - beta)
            absent = 1 + np.maximum(0, few)
            # Either enough others come near to make it normal, or enough that its own copies may leave,
            # and they do.
            anomalous = np.minimum(beta + 1 - within, own + np.maximum(0, own + few))
            sparse = np.where(own == 0, absent, anomalous)
            return np.where(np.where(own == 0, within >= beta, within > beta), crowded, sparse)


def judge(own: Integers, within: Integers, *, beta: int, k: int, bound: StepBound, slack: int) -> Verdicts:
    """Return the verdicts for counts that may have been stopped at ``beta + slack``.

    A stopped count says no, ``slack`` steps from yes, whatever else is known of it (Lemma 6). It is
    never put into the formula: there it would be up to two steps off, and the loss twice what it should be.
    """
    stopped = within >= beta + slack
    return Verdicts(
        is_anomaly(own, within, beta) & ~stopped,
        np.where(stopped, slack, steps_to_change(bound, own, within, beta=beta, k=k)),
    )


def flip_probability(rate: Fraction, steps: int) -> ExactProbability:
    """Return the probability that an answer λ = ``steps`` away from the other one is flipped (Lemma 2).

    Examples
    --------
    >>> round(float(flip_probability(Fraction(1, 10), 1)), 3)
    0.475
    >>> f"{float(flip_probability(Fraction(1, 10), 480)):.4g}"
    '7.482e-22'
    """
    return ExactProbability.logistic(rate * steps, rate)


def _steps_of_any_kind(own: Integers, within: Integers, beta: int) -> Integers:
    """Return the exact distance, over steps of any kind, to a table with the other answer."""
    absent = np.where(within < beta, 1, within - beta + 2)
    present = np.where(within <= beta, np.minimum(own, beta + 1 - within), within - beta)
    return np.where(own == 0, absent, present)
