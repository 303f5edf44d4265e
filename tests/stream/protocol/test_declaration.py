# SPDX-License-Identifier: Apache-2.0
"""What may be declared of a stream."""

from __future__ import annotations

import pytest

from anonymaly.errors import InputError
from anonymaly.stream import Declaration
from tests.stream.protocol.parties import CELSIUS


@pytest.mark.parametrize("precision", [1e-7, 1e-15])
def test_a_precision_that_shows_the_roots_last_digits_is_refused(precision: float) -> None:
    with pytest.raises(InputError, match="finer than 1e-06"):
        Declaration(columns=[CELSIUS], epsilon=1, window=10, layer=1, precision=precision)
    assert Declaration(columns=[CELSIUS], epsilon=1, window=10, layer=1, precision=1e-6).precision == 1e-6
