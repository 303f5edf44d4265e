# SPDX-License-Identifier: Apache-2.0
"""How well scores rank outliers above others: the paper's three measures.

Equal scores count as the mean over all their orders: a score that gives all records the same value must not
win by their order in a file. Written out, because a study takes them thousands of times and scikit-learn's
checks of their input took most of its time; the tests compare them with scikit-learn's.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from anonymaly.core.arrays import Booleans, Floats


def figures(odd: Booleans, scores: Floats) -> dict[str, float]:
    """Return all three measures.

    Examples
    --------
    >>> figures(np.array([False, True, True]), np.array([0.1, 0.9, 0.9]))
    {'auroc': 1.0, 'ap': 1.0, 'p@n': 1.0}
    """
    return {
        "auroc": roc_area(odd, scores),
        "ap": average_precision(odd, scores),
        "p@n": precision_at_n(odd, scores),
    }


def roc_area(odd: Booleans, scores: Floats) -> float:
    """Return the chance that an outlier scores above another record, a tie counting half.

    Examples
    --------
    >>> roc_area(np.array([False, True, False]), np.array([0.1, 0.5, 0.9]))
    0.5
    """
    outliers, others = int(odd.sum()), int((~odd).sum())
    above = float(rankdata(scores)[odd].sum()) - outliers * (outliers + 1) / 2
    return above / (outliers * others)


def average_precision(odd: Booleans, scores: Floats) -> float:
    """Return the mean precision over the outliers, each at its own score's threshold.

    Examples
    --------
    >>> average_precision(np.array([True, False, True]), np.array([0.9, 0.5, 0.1])).__round__(4)
    0.8333
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    # The last place of each run of equal scores: its threshold takes in all of them.
    ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    found = np.cumsum(odd[order])[ends]
    gained = np.diff(found, prepend=0)
    return float((gained * found / (ends + 1)).sum() / odd.sum())


def precision_at_n(odd: Booleans, scores: Floats) -> float:
    """Return which part of the n highest scores are outliers' when there are n of them.

    Examples
    --------
    >>> precision_at_n(np.array([True, False, False]), np.array([1.0, 1.0, 0.0]))
    0.5
    """
    wanted = int(odd.sum())
    edge = np.sort(scores)[-wanted]
    above, at_edge = scores > edge, scores == edge
    places = wanted - int(above.sum())
    return float((odd[above].sum() + places * odd[at_edge].mean()) / wanted)
