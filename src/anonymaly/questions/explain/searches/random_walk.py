# SPDX-License-Identifier: Apache-2.0
"""Walk blindly over valid contexts, then choose one: Algorithm 3 of Shafieinejad et al. 2021, made to end."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.questions.explain.searches.graph import (
    SearchedContexts,
    choose,
    starting_context,
    valid_neighbours,
)

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings


def search(
    contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
) -> int | None:
    """Walk from a valid context to random valid neighbours, and choose one of the contexts met.

    The walk ends when it has met ``samples`` different contexts, the start included, after ``tries`` steps,
    or when no context is left that it could meet. Without a start, ``tries`` also bounds the search for one.
    It begins at one context, whatever ``starts`` says: a blind walk cannot know which of several is best.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.noise import Noise
    >>> from anonymaly.questions.explain.searches import SearchSettings
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> search(known, SearchSettings(start=1), rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    >>> search(known, SearchSettings(start=0), rate=Fraction(1, 2), noise=Noise.seeded(1)) is None
    True
    """
    context = starting_context(contexts, settings, noise)
    if context is None:
        return None
    met: dict[int, list[int]] = {}  # context → its valid neighbours, found once
    waiting: set[int] = set()  # known neighbours that were not met yet
    for _ in range(settings.tries + 1):
        if context not in met:
            met[context] = valid_neighbours(contexts, context)
            waiting.update(met[context])
            waiting.difference_update(met)
        # Nothing here looks at a utility or a clock: the walk is a function of validity and coins (Lemma 6).
        if len(met) >= settings.samples or not waiting:
            break
        # The paper draws neighbours without replacement until one is valid: a uniform valid one. As printed
        # it puts the rejected ones back at each turn, and never leaves a start without a valid neighbour.
        neighbours = met[context]
        context = neighbours[noise.uniform(len(neighbours))]
    return choose(contexts, list(met), rate, noise)
