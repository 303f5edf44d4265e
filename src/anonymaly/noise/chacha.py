# SPDX-License-Identifier: Apache-2.0
"""The ChaCha20 stream cipher (RFC 8439), sixteen blocks at a time.

A stream is one array of 32-bit words, so that compiled functions pass a single pointer: with a tuple of
arrays, counting the references cost four times as much as the cipher. Its parts:

- 0 to 15: the state of RFC 8439 section 2.3, counter at position 12, nonce at 13 to 15;
- 16 to 20: next unread word, end of the valid words, spare single bits, how many of those are left, and
  whether a draw failed (compiled functions set this mark instead of raising: code that can raise keeps
  counting references);
- then the key stream of up to sixteen blocks, and room for sixteen initial states, their results,
  and sixteen more blocks.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from anonymaly.core.compiled import compiled, inlined
from anonymaly.noise._rounds import BLOCK, LANES, sixteen_blocks

Words32 = npt.NDArray[np.uint32]
Stream = Words32

AT, END, BITS, BITS_LEFT, FAILED = 16, 17, 18, 19, 20
BUFFER = LANES * BLOCK
BUFFER_START = 32
BUFFER_END = BUFFER_START + BUFFER
INITIAL_END = BUFFER_END + BUFFER
RESULT_END = INITIAL_END + BUFFER
STREAM_SIZE = RESULT_END + BUFFER
LAST_COUNTER = 2**32 - LANES  # a stream ends before its 32-bit counter can wrap and repeat
LOW = 0xFFFFFFFF
IMPOSSIBLE_DRAW = "a noise draw left the range of 64-bit integers"


@compiled
def blocks(initial: Words32, result: Words32, output: Words32) -> None:
    """Write the blocks of sixteen initial states that stand side by side, one block after another."""
    sixteen_blocks(initial, result)
    for row in range(BLOCK):
        for lane in range(LANES):
            output[lane * BLOCK + row] = result[row * LANES + lane]


@inlined
def spread(stream: Stream, initial: Words32) -> None:
    """Copy the stream's state into every lane."""
    for row in range(BLOCK):
        for lane in range(LANES):
            initial[row * LANES + lane] = stream[row]


@compiled
def refill(stream: Stream) -> None:
    """Fill the buffer with the stream's next sixteen blocks."""
    counter = np.int64(stream[12])
    if counter > LAST_COUNTER:
        stream[FAILED] = np.uint32(1)
        # Old words may be read on, because what is drawn from a failed stream is thrown away.
        stream[AT] = np.uint32(BUFFER_START)
        stream[END] = np.uint32(BUFFER_END)
        return
    initial = stream[BUFFER_END:INITIAL_END]
    spread(stream, initial)
    for lane in range(LANES):
        initial[12 * LANES + lane] = np.uint32(counter + lane)
    blocks(initial, stream[INITIAL_END:RESULT_END], stream[BUFFER_START:BUFFER_END])
    # After the last batch the counter would be 2^32, which 32 bits cannot hold: it goes where it is refused.
    stream[12] = np.uint32(LOW if counter == LAST_COUNTER else counter + LANES)
    stream[AT] = np.uint32(BUFFER_START)
    stream[END] = np.uint32(BUFFER_END)


@inlined
def set_nonce(stream: Stream, first: int, second: int, third: int) -> None:
    """Go to the start of the stream of a 96-bit nonce, given as three 32-bit words."""
    stream[12] = np.uint32(0)
    stream[13] = np.uint32(first)
    stream[14] = np.uint32(second)
    stream[15] = np.uint32(third)
    stream[AT] = np.uint32(0)
    stream[END] = np.uint32(0)
    stream[BITS_LEFT] = np.uint32(0)


@compiled
def next_word(stream: Stream) -> int:
    """Return the next 32 bits of the stream as a number from 0 to 2^32 - 1."""
    if stream[AT] == stream[END]:
        refill(stream)
    at = stream[AT]
    stream[AT] = np.uint32(at + np.uint32(1))
    return np.int64(stream[at])  # type: ignore[return-value]


@compiled
def next_bit(stream: Stream) -> int:
    """Return one bit; a word is taken for every thirty-two of them."""
    if stream[BITS_LEFT] == 0:
        stream[BITS] = np.uint32(next_word(stream))
        stream[BITS_LEFT] = np.uint32(32)
    bits = np.int64(stream[BITS])
    stream[BITS] = np.uint32(bits >> 1)
    stream[BITS_LEFT] = np.uint32(np.int64(stream[BITS_LEFT]) - 1)
    return bits & 1  # type: ignore[return-value]


def open_stream(key: bytes) -> Stream:
    """Start the stream of a 32-byte key, at nonce 0."""
    stream = np.zeros(STREAM_SIZE, np.uint32)
    # "expand 32-byte k", the constant of every 256-bit ChaCha, before the key.
    stream[:12] = np.frombuffer(b"expand 32-byte k" + key, dtype="<u4")
    return stream


def check(stream: Stream) -> None:
    """Raise if a draw failed; what was drawn from the stream is then not to be used."""
    if stream[FAILED]:
        raise OverflowError(IMPOSSIBLE_DRAW)


class Words:
    """The same stream for code in Python integers, which takes any number of bits at a time.

    Examples
    --------
    >>> Words(bytes(32)).take(8)
    118
    """

    def __init__(self, key: bytes, nonce: tuple[int, int, int] = (0, 0, 0)) -> None:
        self._stream = open_stream(key)
        set_nonce(self._stream, *nonce)
        self._bits = 0
        self._count = 0

    def take(self, count: int) -> int:
        """Return a uniform integer of `count` bits."""
        while self._count < count:
            refill(self._stream)
            check(self._stream)
            buffer = self._stream[BUFFER_START:BUFFER_END]
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
