# SPDX-License-Identifier: Apache-2.0
"""Some valid contexts drawn blindly and one draw among them: 000's Algorithm 2, with bounded tries."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches.graph import Oracle, choose, valid_contexts


def uniform(
    oracle: Oracle,
    *,
    rate: Fraction,
    noise: Noise,
    start: int | None = None,
    starts: int = 1,
    samples: int,
    tries: int,
) -> int | None:
    """Draw contexts uniformly until ``samples`` different valid ones are found, and choose one of them.

    After ``tries`` draws it chooses among those found so far, and returns none if there are none. It has no
    use for ``start`` and ``starts``.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> uniform(known, samples=5, tries=100, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    # A set, as in the paper: a context that was drawn twice is no likelier for it. Bounded, unlike the
    # paper's loop, which goes on until n + 1 are found and never ends when fewer are valid.
    found: dict[int, None] = {}
    for context in valid_contexts(oracle, tries, noise):
        found[context] = None
        if len(found) == samples:
            break
    # The candidates are a function of validity and coins (Lemma 4), so one draw is all that costs (Lemma 5).
    return choose(oracle, list(found), rate, noise) if found else None
