# SPDX-License-Identifier: Apache-2.0
"""A blind walk over valid contexts and one draw among those it met: 000's Algorithm 3, made to end."""

from __future__ import annotations

from fractions import Fraction

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches.graph import Oracle, choose, starting_context, valid_neighbours


def random_walk(
    oracle: Oracle,
    *,
    rate: Fraction,
    noise: Noise,
    start: int | None = None,
    starts: int = 1,
    samples: int,
    tries: int,
) -> int | None:
    """Walk from a valid context to random valid neighbours, and choose one of the contexts met.

    The walk ends when it has met ``samples`` different contexts, the start included, after ``tries`` steps,
    or when no context is left that it could meet. Without a start, ``tries`` also bounds the search for one.
    It begins at one context, whatever ``starts`` says: a blind walk cannot tell which of several is best.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> random_walk(known, start=1, samples=5, tries=100, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    >>> random_walk(known, start=0, samples=5, tries=100, rate=Fraction(1, 2), noise=Noise.seeded(1)) is None
    True
    """
    context = starting_context(oracle, start, tries, noise)
    if context is None:
        return None
    met: dict[int, list[int]] = {}  # context → its valid neighbours, found once
    waiting: set[int] = set()  # known neighbours that were not met yet
    for _ in range(tries + 1):
        if context not in met:
            met[context] = valid_neighbours(oracle, context)
            waiting.update(met[context])
            waiting.difference_update(met)
        # Nothing here looks at a utility or a clock: the walk is a function of validity and coins (Lemma 6).
        if len(met) >= samples or not waiting:
            break
        # The paper draws neighbours without replacement until one is valid: a uniform valid one. As printed
        # it puts the rejected ones back at each turn, and never leaves a start without a valid neighbour.
        neighbours = met[context]
        context = neighbours[noise.uniform(len(neighbours))]
    return choose(oracle, list(met), rate, noise)
