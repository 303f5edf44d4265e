# SPDX-License-Identifier: Apache-2.0
"""Visit the known contexts one by one, by utility: Algorithm 5 of Shafieinejad et al. 2021."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.questions.explain.searches.graph import SearchedContexts, begin, choose, valid_neighbours

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings


def search(
    contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
) -> int | None:
    """Visit one after another of the known valid contexts, by utility, and choose one of those visited.

    Known are up to ``starts`` contexts to begin at, one of them ``start`` if given, the others drawn blindly,
    and the valid neighbours of the contexts visited before. Ends when ``samples`` contexts were
    visited, the starts among them, or all that can be reached. ``tries`` bounds the draws for starts.

    Examples
    --------
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
    starts, chosen = opening
    visited = {chosen: None}
    utilities = contexts.utility(np.array(starts, np.int64))
    waiting = dict(zip(starts, utilities.tolist(), strict=True))  # context → utility, asked for once
    del waiting[chosen]
    while len(visited) < settings.samples:
        fresh = [
            context
            for context in valid_neighbours(contexts, chosen)
            if context not in visited and context not in waiting
        ]
        utilities = contexts.utility(np.array(fresh, np.int64))
        waiting.update(zip(fresh, utilities.tolist(), strict=True))
        if not waiting:
            break
        # One of at most samples - 1 choices behind the first; one more draw follows at the end (Lemma 7).
        chosen = list(waiting)[noise.choose(list(waiting.values()), rate)]
        del waiting[chosen]
        visited[chosen] = None
    return choose(contexts, list(visited), rate, noise)
