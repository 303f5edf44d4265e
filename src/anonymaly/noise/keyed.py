# SPDX-License-Identifier: Apache-2.0
"""Noise as a function of a key and an index: the same each time it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.errors import InputError
from anonymaly.noise import arrays, geometric
from anonymaly.noise._rounds import BLOCK, LANES
from anonymaly.noise.arrays import Span
from anonymaly.noise.chacha import (
    AT,
    BUFFER_END,
    BUFFER_START,
    END,
    FAILED,
    INITIAL_END,
    RESULT_END,
    Stream,
    Words32,
    blocks,
    set_nonce,
    spread,
)
from anonymaly.noise.checks import read_rate
from anonymaly.noise.geometric import Table

INDEX_BITS = 96
KEY_BYTES = 32


@compiled
def _two_sided_geometric(stream: Stream, span: Span, output: Integers, nonces: Words32, table: Table) -> bool:
    """Fill with one draw for each nonce, from the beginning of that nonce's stream."""
    cells, law = table
    start, stop = span
    initial = stream[BUFFER_END:INITIAL_END]
    result = stream[INITIAL_END:RESULT_END]
    first_blocks = stream[RESULT_END:]
    for batch in range(start, stop, LANES):
        size = min(LANES, stop - batch)
        stream[12] = np.uint32(0)
        spread(stream, initial)
        for lane in range(size):
            for word in range(3):
                initial[(13 + word) * LANES + lane] = nonces[batch + lane, word]
        blocks(initial, result, first_blocks)
        for lane in range(size):
            index = batch + lane
            set_nonce(stream, nonces[index, 0], nonces[index, 1], nonces[index, 2])
            # Block 0 of sixteen indices is made at once; the few draws that need more go on at block 1.
            for word in range(BLOCK):
                stream[BUFFER_START + word] = first_blocks[lane * BLOCK + word]
            stream[AT] = np.uint32(BUFFER_START)
            stream[END] = np.uint32(BUFFER_START + BLOCK)
            stream[12] = np.uint32(1)
            output[index] = geometric.two_sided_geometric(stream, cells, law)
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@inlined
def draw_at(stream: Stream, first: int, second: int, third: int, table: Table) -> int:
    """Return the noise of one index, given as three 32-bit words, low one first: for compiled walks.

    ``stream`` is that of the key, and is left marked as failed if the draw did.
    """
    cells, law = table
    set_nonce(stream, first, second, third)
    return geometric.two_sided_geometric(stream, cells, law)


class KeyedNoise:
    """Noise that depends on a secret key and an index only, in whatever order and batch it is asked for.

    Like every promise, one that relies on it holds against whoever cannot tell ChaCha20 from random; and it
    ends when the key is known.
    Use a key for one release only, with one rate: the same key on two versions of the data, or with two
    rates, reveals how their exact counts differ.

    Examples
    --------
    >>> noise = KeyedNoise(bytes(32))
    >>> noise.two_sided_geometric_at(Fraction(1, 10), [7, 10**20]).tolist()
    [10, 0]
    >>> noise.two_sided_geometric_at(Fraction(1, 10), 10**20)
    0
    """

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise InputError(
                "must be 32 bytes", field="key", next_step="Draw one with secrets.token_bytes(32)."
            )
        self._key = key

    def __repr__(self) -> str:
        return "KeyedNoise(...)"

    @overload
    def two_sided_geometric_at(self, rate: Fraction, indices: int) -> int: ...

    @overload
    def two_sided_geometric_at(
        self, rate: Fraction, indices: Sequence[int] | npt.NDArray[Any]
    ) -> Integers: ...

    def two_sided_geometric_at(
        self, rate: Fraction, indices: int | Sequence[int] | npt.NDArray[Any]
    ) -> int | Integers:
        """Return the noise of each index: x with probability proportional to exp(-rate·|x|).

        Parameters
        ----------
        rate : Fraction
            ε over the sensitivity.
        indices : int, sequence of int, or array
            From 0 to 2^96 - 1. Arrays: one dimension of integers; or of shape (n, 2), 64-bit words, low one
            first; or of shape (n, 3), 32-bit words, low one first.
        """
        table = geometric.geometric_table(*read_rate(rate))
        if isinstance(indices, int | np.integer):
            return int(self.two_sided_geometric_at(rate, [int(indices)])[0])
        nonces = _read_indices(indices)
        output = np.empty(len(nonces), np.int64)
        arrays.fill(_two_sided_geometric, self._key, output, nonces, table)
        return output


def _read_indices(indices: Sequence[int] | npt.NDArray[Any]) -> Words32:
    """Return indices as rows of three 32-bit words, low one first."""
    if not isinstance(indices, np.ndarray):
        if not all(isinstance(index, int) and 0 <= index < 2**INDEX_BITS for index in indices):
            raise _bad_index()
        text = b"".join(int(index).to_bytes(INDEX_BITS // 8, "little") for index in indices)
        return np.frombuffer(text, "<u4").astype(np.uint32).reshape(-1, 3)
    if indices.ndim == 2 and indices.shape[1] == 3 and indices.dtype == np.uint32:
        return np.ascontiguousarray(indices)
    if indices.ndim == 2 and indices.shape[1] == 2 and indices.dtype == np.uint64:
        low, high = indices[:, 0], indices[:, 1]
    elif indices.ndim == 1 and indices.dtype.kind in "iu":
        if indices.dtype.kind == "i" and indices.size and int(indices.min()) < 0:
            raise _bad_index()
        low, high = indices.astype(np.uint64), np.zeros(len(indices), np.uint64)
    else:
        raise _bad_index()
    if high.size and int(high.max()) >= 2**32:
        raise _bad_index()
    # Casts to 32 bits keep the low half of each word.
    nonces = np.empty((len(low), 3), np.uint32)
    nonces[:, 0] = low.astype(np.uint32)
    nonces[:, 1] = (low >> np.uint64(32)).astype(np.uint32)
    nonces[:, 2] = high.astype(np.uint32)
    return nonces


def _bad_index() -> InputError:
    return InputError(
        "must be integers from 0 to 2^96 - 1",
        field="indices",
        next_step="Give integers, an integer array, or (n, 2) 64-bit or (n, 3) 32-bit unsigned words.",
    )
