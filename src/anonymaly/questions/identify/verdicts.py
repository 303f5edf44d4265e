# SPDX-License-Identifier: Apache-2.0
"""The (β, r)-anomaly: a record that is there, with at most β records within the radius r of it.

``own`` is how many records equal the one asked about, ``within`` how many are within the radius of it,
its own copies among them. All functions take whole arrays of both.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.questions.identify.mechanism import Verdicts

Bound = Literal["improved", "paper", "differential"]


def is_anomaly(own: Integers, within: Integers, beta: int) -> Booleans:
    """Say whether the record is there and has few neighbours: the answer g."""
    return (own >= 1) & (within <= beta)


def steps_to_change(bound: Bound, own: Integers, within: Integers, *, beta: int, k: int) -> Integers:
    """Return λ: a number of steps that no way to a table with the other answer falls short of.

    Parameters
    ----------
    bound : {"improved", "paper", "differential"}
        Which steps count. For differential privacy all do (Lemma 3); for sensitive privacy those in a
        record that is k-sensitive, where the improved bound (Lemma 4) is never below the paper's (Lemma 5).
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
            # Either enough others come near, or so many that the record's own copies may leave, and they do.
            anomalous = np.minimum(beta + 1 - within, own + np.maximum(0, own + few))
            sparse = np.where(own == 0, absent, anomalous)
            return np.where(np.where(own == 0, within >= beta, within > beta), crowded, sparse)


def judge(own: Integers, within: Integers, *, beta: int, k: int, bound: Bound, slack: int) -> Verdicts:
    """Return the verdicts for counts that may have been stopped at ``beta + slack``.

    A stopped count says no, ``slack`` steps from yes, whatever else is known of it (Lemma 6). It is
    never put into the formula: there it would be up to two steps off, and the loss twice what it should be.
    """
    stopped = within >= beta + slack
    return Verdicts(
        is_anomaly(own, within, beta) & ~stopped,
        np.where(stopped, slack, steps_to_change(bound, own, within, beta=beta, k=k)),
    )


def _steps_of_any_kind(own: Integers, within: Integers, beta: int) -> Integers:
    """Return the exact distance, records coming and going as they like, to a table with the other answer."""
    absent = np.where(within < beta, 1, within - beta + 2)
    present = np.where(within <= beta, np.minimum(own, beta + 1 - within), within - beta)
    return np.where(own == 0, absent, present)
