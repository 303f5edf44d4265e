# SPDX-License-Identifier: Apache-2.0
"""From all that is known, to better contexts rather: 000's Algorithm 5."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches.graph import Oracle, begin, choose, valid_neighbours


def breadth_first(
    oracle: Oracle,
    *,
    rate: Fraction,
    noise: Noise,
    start: int | None = None,
    starts: int = 1,
    samples: int,
    tries: int,
) -> int | None:
    """Visit one after another of the known valid contexts, by utility, and choose one of those visited.

    Known are up to ``starts`` contexts to begin at, one of them ``start`` if given, the others drawn blindly,
    and the valid neighbours of the contexts visited before. Ends when ``samples`` contexts were
    visited, the starts among them, or all that can be reached. ``tries`` bounds the draws for starts.

    Examples
    --------
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> breadth_first(known, start=1, samples=5, tries=100, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    opening = begin(oracle, start, starts, tries, rate, noise)
    if opening is None:
        return None
    begun, chosen = opening
    visited = {chosen: None}
    utilities = oracle.utility(np.array(begun, np.int64))
    waiting = dict(zip(begun, utilities.tolist(), strict=True))  # context → utility, asked for once
    del waiting[chosen]
    while len(visited) < samples:
        fresh = [
            context
            for context in valid_neighbours(oracle, chosen)
            if context not in visited and context not in waiting
        ]
        utilities = oracle.utility(np.array(fresh, np.int64))
        waiting.update(zip(fresh, utilities.tolist(), strict=True))
        if not waiting:
            break
        # One of at most samples - 1 choices behind the first; one more draw follows at the end (Lemma 7).
        chosen = list(waiting)[noise.choose(list(waiting.values()), rate)]
        del waiting[chosen]
        visited[chosen] = None
    return choose(oracle, list(visited), rate, noise)
