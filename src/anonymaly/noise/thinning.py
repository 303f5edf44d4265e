# SPDX-License-Identifier: Apache-2.0
"""Many exact binomial draws with one probability, in compiled code.

The algorithm is that of `binomial`: all trials of a count reveal their uniform numbers together, digit by
digit. About two random bits are used for each trial. Trials that are level with the probability in all the
digits of the table are left to `binomial`, which goes on with as many as it takes: nothing is rounded,
however near to 0 or 1 the probability is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.noise.arrays import Span, at_chunk
from anonymaly.noise.chacha import FAILED, Stream, next_word
from anonymaly.noise.probability import Bounds, floor_of

Digits = npt.NDArray[np.int64]

DIGITS = 252  # in the table; a trial is level with all of them with probability 2^-252
COUNTED = 2**22  # a larger number of trials is drawn by rejection, in `binomial`


def digits_of(bounds: Bounds) -> Digits:
    """Return the first binary digits of a probability below 1."""
    number, _ = floor_of(bounds, DIGITS)
    return np.array([number >> (DIGITS - 1 - place) & 1 for place in range(DIGITS)], np.int64)


@inlined
def heads(stream: Stream, tosses: int) -> int:
    """Return the number of heads in fair tosses, thirty-two at a time."""
    total = 0
    while tosses > 0:
        word = next_word(stream)
        if tosses < 32:
            word >>= 32 - tosses
        # Sums of neighbouring bits, then of neighbouring pairs, and so on.
        word -= (word >> 1) & 0x55555555
        word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
        word = (word + (word >> 4)) & 0x0F0F0F0F
        total += ((word * 0x01010101) & 0xFFFFFFFF) >> 24
        tosses -= 32
    return total


@compiled
def thin(
    stream: Stream, span: Span, output: Integers, level: Integers, counts: Integers, digits: Digits
) -> bool:
    """Fill with the number of successes among each count's trials, and with the trials left undecided.

    Of a count that is too large all trials are left.
    """
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        trials, successes = counts[position], 0
        output[position] = 0
        level[position] = trials
        if trials > COUNTED:
            continue
        for place in range(len(digits)):
            if trials == 0:
                break
            ones = heads(stream, trials)
            if digits[place] == 1:
                successes += trials - ones
                trials = ones
            else:
                trials -= ones
        output[position] = successes
        level[position] = trials
    return stream[FAILED] == 0  # type: ignore[no-any-return]
