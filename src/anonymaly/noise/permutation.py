# SPDX-License-Identifier: Apache-2.0
"""A uniform order of any number of things, in compiled code (Durstenfeld 1964)."""

from __future__ import annotations

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.noise import draws
from anonymaly.noise.chacha import Stream


@compiled
def shuffle(stream: Stream, output: Integers) -> None:
    """Put what the output holds into a uniform order: each place gets one of those not placed yet."""
    for last in range(len(output) - 1, 0, -1):
        chosen = draws.below(stream, last + 1)
        kept = output[last]
        output[last] = output[chosen]
        output[chosen] = kept
