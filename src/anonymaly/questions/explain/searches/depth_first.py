# SPDX-License-Identifier: Apache-2.0
"""Go from neighbour to neighbour, by utility: Algorithm 4 of Shafieinejad et al. 2021."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.questions.explain.searches.graph import SearchedContexts, begin, choose, valid_neighbours

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings


def search(
    contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
) -> int | None:
    """Go from a valid context to valid neighbours chosen by utility, and choose one of those visited.

    Begins at one of up to ``starts`` contexts, chosen by utility: ``start`` if given, the others drawn
    blindly. Goes back by one when all valid neighbours of a context were visited, and at last to the other
    starts. Ends when ``samples`` contexts were visited, the start included, or all that can be reached.
    ``tries`` bounds the draws for starts.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.noise import Noise
    >>> from anonymaly.questions.explain.searches import SearchSettings
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> search(known, SearchSettings(start=1, starts=1), rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    opening = begin(contexts, settings, rate, noise)
    if opening is None:
        return None
    starts, first = opening
    visited = {first: None}
    # The starts, and of each context on the stack its neighbours.
    path = [starts, valid_neighbours(contexts, first)]
    while path and len(visited) < settings.samples:
        children = [context for context in path[-1] if context not in visited]
        if not children:
            path.pop()
            continue
        # One of at most samples - 1 choices behind the first; one more draw follows at the end (Lemma 7). The
        # paper makes one choice more, of a context that is never visited.
        chosen = choose(contexts, children, rate, noise)
        visited[chosen] = None
        path.append(valid_neighbours(contexts, chosen))
    return choose(contexts, list(visited), rate, noise)
