# SPDX-License-Identifier: Apache-2.0
"""The ChaCha20 stream cipher (RFC 8439), sixteen blocks at a time.

A stream is a tuple of three arrays, so that compiled functions can pass it on without allocating:

- state: the sixteen 32-bit words of RFC 8439 section 2.3, counter at position 12, nonce at 13 to 15;
- buffer: the key stream of up to sixteen blocks;
- cursor: next unread word, end of the valid words, spare single bits, how many of those are left.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from anonymaly.noise._compile import compiled

Words32 = npt.NDArray[np.uint32]
Words64 = npt.NDArray[np.uint64]
Cursor = npt.NDArray[np.int64]
Stream = tuple[Words32, Words32, Cursor]

LANES = 16  # blocks made at once: two full AVX2 registers, or one AVX-512 register, per row
BLOCK = 16  # 32-bit words in a block
BUFFER = LANES * BLOCK
LAST_COUNTER = 2**32 - LANES  # a stream ends before its 32-bit counter can wrap and repeat
LOW = 0xFFFFFFFF
COUNTER_SPENT = "the noise stream is used up"


@compiled
def _quarter_round(rows: Words32, a: int, b: int, c: int, d: int) -> None:
    """Mix four rows in every lane; the loop over lanes is what the compiler turns into vector code."""
    for lane in range(LANES):
        w = rows[a + lane]
        x = rows[b + lane]
        y = rows[c + lane]
        z = rows[d + lane]
        # numba widens 32-bit sums to 64 bits, so each is cut back before it is rotated.
        w = np.uint32(w + x)
        z = np.uint32(z ^ w)
        z = np.uint32((z << np.uint32(16)) | (z >> np.uint32(16)))
        y = np.uint32(y + z)
        x = np.uint32(x ^ y)
        x = np.uint32((x << np.uint32(12)) | (x >> np.uint32(20)))
        w = np.uint32(w + x)
        z = np.uint32(z ^ w)
        z = np.uint32((z << np.uint32(8)) | (z >> np.uint32(24)))
        y = np.uint32(y + z)
        x = np.uint32(x ^ y)
        x = np.uint32((x << np.uint32(7)) | (x >> np.uint32(25)))
        rows[a + lane] = w
        rows[b + lane] = x
        rows[c + lane] = y
        rows[d + lane] = z


@compiled
def blocks(initial: Words32, output: Words32) -> None:
    """Write the sixteen blocks whose initial states stand side by side in `initial`, one block after another."""
    rows = initial.copy()
    for _ in range(10):
        for column in range(4):
            at = column * LANES
            _quarter_round(rows, at, at + 4 * LANES, at + 8 * LANES, at + 12 * LANES)
        _quarter_round(rows, 0, 5 * LANES, 10 * LANES, 15 * LANES)
        _quarter_round(rows, LANES, 6 * LANES, 11 * LANES, 12 * LANES)
        _quarter_round(rows, 2 * LANES, 7 * LANES, 8 * LANES, 13 * LANES)
        _quarter_round(rows, 3 * LANES, 4 * LANES, 9 * LANES, 14 * LANES)
    for row in range(BLOCK):
        for lane in range(LANES):
            output[lane * BLOCK + row] = np.uint32(rows[row * LANES + lane] + initial[row * LANES + lane])


@compiled
def spread(state: Words32, initial: Words32) -> None:
    """Copy one state into every lane."""
    for row in range(BLOCK):
        for lane in range(LANES):
            initial[row * LANES + lane] = state[row]


@compiled
def refill(stream: Stream) -> None:
    """Fill the buffer with the stream's next sixteen blocks."""
    state, buffer, cursor = stream
    counter = np.int64(state[12])
    if counter > LAST_COUNTER:
        raise OverflowError(COUNTER_SPENT)
    initial = np.empty(BUFFER, np.uint32)
    spread(state, initial)
    for lane in range(LANES):
        initial[12 * LANES + lane] = np.uint32(counter + lane)
    blocks(initial, buffer)
    # The last batch leaves the counter at 2^32, which 32 bits cannot hold: it stays where it is refused.
    state[12] = np.uint32(min(counter + LANES, LOW))
    cursor[0] = 0
    cursor[1] = BUFFER


@compiled
def open_stream(key: Words32, first: int, second: int, third: int) -> Stream:
    """Start the stream of a key and a 96-bit nonce given as three 32-bit words."""
    state = np.empty(BLOCK, np.uint32)
    # "expand 32-byte k", the constant of every 256-bit ChaCha.
    state[0] = np.uint32(0x61707865)
    state[1] = np.uint32(0x3320646E)
    state[2] = np.uint32(0x79622D32)
    state[3] = np.uint32(0x6B206574)
    state[4:12] = key
    state[12] = np.uint32(0)
    state[13] = np.uint32(first)
    state[14] = np.uint32(second)
    state[15] = np.uint32(third)
    return state, np.empty(BUFFER, np.uint32), np.zeros(4, np.int64)


@compiled
def next_word(stream: Stream) -> int:
    """Return the next 32 bits of the stream as a number from 0 to 2^32 - 1."""
    cursor = stream[2]
    if cursor[0] == cursor[1]:
        refill(stream)
    at = cursor[0]
    cursor[0] = at + 1
    return np.int64(stream[1][at])  # type: ignore[return-value]


@compiled
def next_bit(stream: Stream) -> int:
    """Return one bit; a word is taken for every thirty-two of them."""
    cursor = stream[2]
    if cursor[3] == 0:
        cursor[2] = next_word(stream)
        cursor[3] = 32
    bits = cursor[2]
    cursor[2] = bits >> 1
    cursor[3] -= 1
    return bits & 1  # type: ignore[no-any-return]


def key_words(key: bytes) -> Words32:
    """Read a 32-byte key as eight little-endian words."""
    words = np.frombuffer(key, dtype="<u4").astype(np.uint32)
    if words.shape != (8,):
        raise ValueError("a ChaCha20 key has 32 bytes")
    return words


class Words:
    """The same stream for code in Python integers, which takes any number of bits at a time.

    Examples
    --------
    >>> Words(bytes(32)).take(8)
    118
    """

    def __init__(self, key: bytes, nonce: tuple[int, int, int] = (0, 0, 0)) -> None:
        self._stream = open_stream(key_words(key), *nonce)
        self._bits = 0
        self._count = 0

    def take(self, count: int) -> int:
        """Return a uniform integer of `count` bits."""
        while self._count < count:
            refill(self._stream)
            buffer = self._stream[1]
            data = buffer if sys.byteorder == "little" else buffer.byteswap()
            self._bits |= int.from_bytes(data.tobytes(), "little") << self._count
            self._count += 32 * BUFFER
        taken = self._bits & ((1 << count) - 1)
        self._bits >>= count
        self._count -= count
        return taken

    def below(self, bound: int) -> int:
        """Return a uniform integer from 0 to bound - 1."""
        width = (bound - 1).bit_length()
        while True:
            value = self.take(width)
            if value < bound:
                return value
