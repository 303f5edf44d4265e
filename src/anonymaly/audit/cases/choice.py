# SPDX-License-Identifier: Apache-2.0
"""The exact law of permute-and-flip, for questions that choose by it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np


def choice_law(utilities: Mapping[str, int], rate: float) -> dict[str, float]:
    """Return the law of permute-and-flip: Pr[i] = p_i · ∫ Π (1 − t·p_j) dt over t in 0..1 and all j ≠ i.

    With each candidate at an independent uniform time t in the order, i is chosen if its coin of chance
    p = e^(−rate·(max u − u)) succeeds and no earlier one did.
    """
    best = max(utilities.values())
    coins = {bits: math.exp(-rate * (best - utility)) for bits, utility in utilities.items()}
    law = {}
    for bits, coin in coins.items():
        failing = np.polynomial.Polynomial([1.0])
        for other, chance in coins.items():
            if other != bits:
                failing *= np.polynomial.Polynomial([1.0, -chance])
        law[bits] = coin * float(failing.integ()(1.0))
    return law
