# SPDX-License-Identifier: Apache-2.0
"""Balls are refused where distances would not be ordinary numbers."""

from __future__ import annotations

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.questions.identify.balls import Balls


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("metric", (np.zeros((1, 1)), 1.0, "cosine", 1)),
        ("radius", (np.zeros((1, 1)), 1e-200, "euclidean", 1)),
        ("radius", (np.zeros((1, 1)), -1.0, "euclidean", 1)),
        ("radius", (np.zeros((1, 1)), float("nan"), "euclidean", 1)),
        ("record", (np.full((1, 1), 1e200), 1.0, "euclidean", 1)),
    ],
)
def test_balls_without_ordinary_distances_are_refused(field: str, arguments: tuple) -> None:
    with pytest.raises(InputError) as refused:
        Balls(*arguments)
    assert refused.value.field == field
