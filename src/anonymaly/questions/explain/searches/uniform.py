# SPDX-License-Identifier: Apache-2.0
"""Draw valid contexts blindly, then choose one: Algorithm 2 of Shafieinejad et al. 2021, made to end."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.questions.explain.searches.graph import SearchedContexts, choose, valid_contexts

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings


def search(
    contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
) -> int | None:
    """Draw contexts uniformly until ``samples`` different valid ones are found, and choose one of them.

    After ``tries`` draws it chooses among those found so far, and returns None if there are none. It does
    not use ``start`` and ``starts``.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymaly.noise import Noise
    >>> from anonymaly.questions.explain.searches import SearchSettings
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> settings = SearchSettings(samples=5, tries=100)
    >>> search(known, settings, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    # A set, as in the paper: a context that was drawn twice is no likelier for it. Bounded, unlike the
    # paper's loop, which goes on until n + 1 are found and never ends when fewer are valid.
    found: dict[int, None] = {}
    for context in valid_contexts(contexts, settings.tries, noise):
        found[context] = None
        if len(found) == settings.samples:
            break
    # The candidates are a function of validity and coins (Lemma 4), so one draw is all that costs (Lemma 5).
    return choose(contexts, list(found), rate, noise) if found else None
