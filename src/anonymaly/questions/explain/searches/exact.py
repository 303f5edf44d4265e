# SPDX-License-Identifier: Apache-2.0
"""All valid contexts and one draw: 000's Algorithm 1, the direct approach."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.noise import Noise
from anonymaly.questions.explain.searches.graph import Oracle


def choose_valid(validity: Booleans, utilities: Integers, rate: Fraction, noise: Noise) -> int | None:
    """Choose among all valid contexts, given the validity and utility of every context (Lemma 3).

    Parameters
    ----------
    validity : array of bool
        For each context, in order, whether the record stands out in it.
    utilities : array of int
        For each context its utility; those of other contexts do not matter.
    rate : Fraction
        ε1, from ``Search.rate``.
    noise : Noise
        Where the draw comes from.

    Examples
    --------
    >>> validity = np.array([False, True, True, False])
    >>> choose_valid(validity, np.array([1, 90, 2, 99]), Fraction(1, 2), Noise.seeded(1))
    1
    """
    if not validity.any():
        return None
    return noise.choose(utilities, rate, valid=validity)


def exact(
    oracle: Oracle,
    *,
    rate: Fraction,
    noise: Noise,
    start: int | None = None,
    starts: int = 1,
    samples: int = 1,
    tries: int = 1,
) -> int | None:
    """Choose among all valid contexts, or return none if there is none.

    The only search that asks about all 2^F contexts. It has no use for the parameters of the others.

    Examples
    --------
    >>> from anonymaly.questions.explain.searches.graph import KnownContexts
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
    >>> exact(known, rate=Fraction(1, 2), noise=Noise.seeded(1))
    3
    """
    every = np.arange(1 << oracle.free_bits, dtype=np.int64)
    return choose_valid(oracle.valid(every), oracle.utility(every), rate, noise)
