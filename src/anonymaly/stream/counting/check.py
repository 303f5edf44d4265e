# SPDX-License-Identifier: Apache-2.0
"""The check that two shares add up to a unit vector or to zero, without learning which (GUARANTEE, lemma C2).

Boneh et al. 2021; Poplar1 in the draft of verifiable distributed aggregation functions. With r the check's
random numbers, one for each cell, and shares x of the vector and y of the vector times the sensor's secret k,
each server makes its shares of three numbers, hidden by the sensor's masks a, b and c:

    first round     z0 = a + Σ r·x,   z1 = b + Σ r²·x,   z2 = c + Σ r·y
    second round    z0² - z1 - z2 + A·z0 + B,   with A = k - 2a and B = a² + b - k·a + c

which is 0 for a unit vector and for zero, and for any other vector with a probability of at most 2/p.
"""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.noise import Noise
from anonymaly.noise.chacha import Stream, check, next_word, open_stream, set_nonce
from anonymaly.stream.counting.point_function import Expansion
from anonymaly.stream.counting.prime_field import PRIME, add, multiply

CHECK_KEY_BYTES = 32
NONCE_BYTES = 12
MASKS = 5  # a, b, c, A, B
ROUND = 3  # z0, z1, z2


@compiled
def _sketch(stream: Stream, data: Integers, proof: Integers, output: Integers) -> None:
    """Add Σ r·x, Σ r²·x and Σ r·y to three numbers."""
    first, squares, proved = output[0], output[1], output[2]
    for cell in range(len(data)):
        number = (next_word(stream) | (next_word(stream) << 32)) & PRIME
        number = 0 if number == PRIME else number
        once = multiply(number, data[cell])
        first = add(first, once)
        squares = add(squares, multiply(number, once))
        proved = add(proved, multiply(number, proof[cell]))
    output[0] = first
    output[1] = squares
    output[2] = proved


def make_masks(secret: int, noise: Noise) -> tuple[Integers, Integers]:
    """Return both servers' shares of a, b, c, A and B, for the sensor's secret k."""
    first, second, third = (int(number) for number in noise.uniform(PRIME, 3))
    masks = [first, second, third, secret - 2 * first, first * first + second - secret * first + third]
    share = noise.uniform(PRIME, MASKS)
    other = np.array([(mask - int(part)) % PRIME for mask, part in zip(masks, share, strict=True)], np.int64)
    return share, other


def first_round(expansion: Expansion, masks: Integers, check_key: bytes, nonce: bytes) -> Integers:
    """Return a server's shares of z0, z1 and z2; the check's numbers come from its key and the nonce."""
    stream = open_stream(check_key)
    set_nonce(stream, *(int.from_bytes(nonce[place : place + 4], "little") for place in (0, 4, 8)))
    output = masks[:ROUND].copy()
    _sketch(stream, expansion.data, expansion.proof, output)
    check(stream)
    return output


def second_round(party: int, masks: Integers, seen: Integers) -> int:
    """Return a server's share of the number that must be 0; ``seen`` are z0, z1 and z2."""
    first, squares, proved = (int(number) for number in seen)
    share = int(masks[3]) * first + int(masks[4])
    return (share + (first * first - squares - proved if party == 0 else 0)) % PRIME
