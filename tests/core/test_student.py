# SPDX-License-Identifier: Apache-2.0
"""Far quantiles are SciPy's, nearly to the last place, and exact where a formula is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from anonymaly.core.student import write_shares


def shares(freedoms: list[int], chances: list[float]) -> np.ndarray:
    found = np.empty(len(freedoms))
    write_shares(np.array(freedoms), np.array(chances), found)
    return found


@pytest.mark.parametrize("alpha", [1e-9, 1e-6, 0.01, 0.05, 0.5])
def test_quantiles_are_those_of_scipy(alpha: float) -> None:
    freedoms = np.unique(np.concatenate([np.arange(1, 3000), np.logspace(3, 9, 3000).astype(np.int64)]))
    chances = alpha / (freedoms + 2)
    squared = special.stdtrit(freedoms.astype(np.float64), chances / 2) ** 2
    found = shares(freedoms.tolist(), chances.tolist())
    np.testing.assert_allclose(found, squared / (freedoms + squared), rtol=1e-14)


@pytest.mark.parametrize("chance", [0.5, 0.1, 1e-3, 1e-12])
def test_one_and_two_degrees_of_freedom_have_formulas(chance: float) -> None:
    # Cauchy's: |T| exceeds t with chance 1 - 2/π·arctan t. With two: 1 - t/√(2 + t²).
    one, two = shares([1, 2], [chance, chance])
    assert one == pytest.approx(np.sin(np.pi / 2 * (1 - chance)) ** 2, rel=1e-14)
    assert two == pytest.approx((1 - chance) ** 2, rel=1e-14)


def test_each_quantile_is_the_same_alone_and_among_others() -> None:
    freedoms = list(range(1, 400))
    chances = [0.05 / (freedom + 2) for freedom in freedoms]
    alone = [shares([freedom], [chance])[0] for freedom, chance in zip(freedoms, chances, strict=True)]
    assert (shares(freedoms, chances) == alone).all()
