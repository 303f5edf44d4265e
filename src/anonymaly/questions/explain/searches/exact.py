# SPDX-License-Identifier: Apache-2.0
"""Choose among all valid contexts by one draw: Algorithm 1 of Shafieinejad et al. 2021."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.questions.explain.searches.graph import SearchedContexts

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings


def search(
    contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
) -> int | None:
    """Choose among all valid contexts, or return None if there is none (Lemma 3).

    The only search that asks about all 2^F contexts. It uses none of the settings.

    Examples
    --------
    >>> from anonymaly.noise import Noise
    >>> from anonymaly.questions.explain.searches import SearchSettings
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> search(known, SearchSettings(), rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    every = np.arange(1 << contexts.free_bits, dtype=np.int64)
    valid, utilities = contexts.valid(every), contexts.utility(every)
    return noise.choose(utilities, rate, valid=valid) if valid.any() else None
