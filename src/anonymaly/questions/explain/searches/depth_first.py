# SPDX-License-Identifier: Apache-2.0
"""Depth first, to better neighbours rather: 000's Algorithm 4."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches.graph import Oracle, begin, choose, valid_neighbours


def depth_first(
    oracle: Oracle,
    *,
    rate: Fraction,
    noise: Noise,
    start: int | None = None,
    starts: int = 1,
    samples: int,
    tries: int,
) -> int | None:
    """Go from a valid context to valid neighbours chosen by utility, and choose one of those visited.

    Begins at one of up to ``starts`` contexts, chosen by utility: ``start`` if given, the others drawn
    blindly. Goes back by one when all valid neighbours of a context were visited, and at last to the other
    starts. Ends when ``samples`` contexts were visited, the start included, or all that can be reached.
    ``tries`` bounds the draws for starts.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> depth_first(known, start=1, samples=5, tries=100, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    opening = begin(oracle, start, starts, tries, rate, noise)
    if opening is None:
        return None
    begun, first = opening
    visited = {first: None}
    path = [begun, valid_neighbours(oracle, first)]  # the starts; of each context on the stack its neighbours
    while path and len(visited) < samples:
        children = [context for context in path[-1] if context not in visited]
        if not children:
            path.pop()
            continue
        # One of at most samples - 1 choices behind the first; one more draw follows at the end (Lemma 7). The
        # paper makes one choice more, of a context that is never visited.
        chosen = choose(oracle, children, rate, noise)
        visited[chosen] = None
        path.append(valid_neighbours(oracle, chosen))
    return choose(oracle, list(visited), rate, noise)
