# SPDX-License-Identifier: Apache-2.0
"""The numbers of a model that would give a wanted error are the best there are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from anonymaly import AnomalyModel, Identify, Interval
from anonymaly.declare.declaration import Declaration
from anonymaly.questions.identify.choices import Setting


def previewed(beta: int, k: int, epsilon: Fraction, bound: Any, rows: int) -> float:
    """Return the error that the question itself expects under such a rule."""
    declared = Declaration.read(
        name="t",
        columns={"age": Interval(0, 120)},
        rules={"rare": AnomalyModel(["age"], radius=2, beta=beta, k=k)},
        person=None if rows == 1 else "id",
        max_rows=None if rows == 1 else rows,
    )
    query = Identify(model="rare", record={"age": 9}, bound=bound, epsilon=str(float(epsilon)))
    measure = query.bind(declared).expectation.measure
    assert measure is not None
    return measure.number


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("bound", ["improved", "paper"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2)])
@pytest.mark.parametrize("wanted", [0.2, 0.01])
def test_one_less_of_beta_or_one_more_of_k_gives_a_larger_error(
    wanted: float, epsilon: Fraction, bound: Any, rows: int
) -> None:
    rate = epsilon / rows
    beta = Setting(1, 2, rows - 1, bound).least_beta(rate, wanted)
    assert beta is not None
    assert previewed(beta, 2, epsilon, bound, rows) <= wanted < previewed(beta - 1, 2, epsilon, bound, rows)
    k = Setting(400, 1, rows - 1, bound).largest_k(rate, wanted)
    assert k is not None
    assert previewed(400, k, epsilon, bound, rows) <= wanted < previewed(400, k + 1, epsilon, bound, rows)


def test_where_no_number_is_enough_there_is_none() -> None:
    assert Setting(40, 1, bound="differential").least_beta(Fraction(1, 10), 0.01) is None
    assert Setting(5, 1).largest_k(Fraction(1, 100), 0.01) is None
