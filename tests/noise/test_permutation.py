# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from math import factorial

import numpy as np
import pytest
from scipy import stats

from anonymaly.errors import InputError
from anonymaly.noise import Noise


@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_order_is_as_likely_as_any_other(size: int) -> None:
    noise = Noise.seeded(size)
    drawn = Counter(tuple(noise.permutation(size).tolist()) for _ in range(600 * factorial(size)))
    assert len(drawn) == factorial(size)
    assert stats.chisquare(list(drawn.values())).pvalue > 1e-4


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_an_order_holds_every_number_once(size: int) -> None:
    order = Noise.system().permutation(size)
    assert np.array_equal(np.sort(order), np.arange(size))


def test_a_negative_number_of_things_is_refused() -> None:
    with pytest.raises(InputError, match="size"):
        Noise.system().permutation(-1)
