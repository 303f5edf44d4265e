# SPDX-License-Identifier: Apache-2.0
"""Arrays of exact draws, in chunks of fixed size with a nonce each.

Chunk c of a call always reads the stream (call's key, nonce c), so the values do not depend on how many
threads shared the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Bytes, Integers
from anonymaly.core.compiled import compiled, inlined
from anonymaly.core.threads import equal_ranges, in_threads
from anonymaly.noise import draws, geometric
from anonymaly.noise.chacha import FAILED, IMPOSSIBLE_DRAW, LOW, Stream, next_word, open_stream, set_nonce
from anonymaly.noise.geometric import Table

CHUNK = 4096
UNDECIDED = 2
CHUNKS_PER_THREAD = 4  # fewer do not repay starting a thread

Span = tuple[int, int]
Rate = tuple[int, int]


def fill(kernel: Callable[..., bool], key: bytes, output: npt.NDArray[Any], *arguments: Any) -> None:
    """Run a kernel over all chunks of an output array; kernels return whether all their draws succeeded."""
    size = len(output)

    def work(chunks: tuple[int, int]) -> bool:
        span = (chunks[0] * CHUNK, min(chunks[1] * CHUNK, size))
        return kernel(open_stream(key), span, output, *arguments)

    if not all(in_threads(work, equal_ranges(-(-size // CHUNK), CHUNKS_PER_THREAD))):
        raise OverflowError(IMPOSSIBLE_DRAW)


@inlined
def at_chunk(stream: Stream, position: int) -> None:
    """Enter a chunk's own stream when a loop over positions reaches its first position."""
    if position % CHUNK == 0:
        chunk = position // CHUNK
        set_nonce(stream, chunk & LOW, chunk >> 32, 0)


@compiled
def uniform(stream: Stream, span: Span, output: Integers, largest: int) -> bool:
    """Fill with uniform integers from 0 to largest."""
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        if largest < draws.SHORT - 1:
            output[position] = draws.below(stream, largest + 1)
        else:
            output[position] = draws.up_to(stream, largest)
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@compiled
def two_sided_geometric(stream: Stream, span: Span, output: Integers, table: Table) -> bool:
    """Fill with two-sided geometric draws."""
    cells, law = table
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        output[position] = geometric.two_sided_geometric(stream, cells, law)
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@compiled
def one_sided_geometric(stream: Stream, span: Span, output: Integers, table: Table) -> bool:
    """Fill with one-sided geometric draws."""
    cells, law = table
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        output[position] = geometric.one_sided_geometric(stream, cells, law)
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@compiled
def bernoulli_exp(stream: Stream, span: Span, output: Booleans, rate: Rate) -> bool:
    """Fill with draws that are true with probability exp(-rate)."""
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        output[position] = draws.bernoulli_exp(stream, rate[0], rate[1])
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@compiled
def flips(stream: Stream, span: Span, output: Booleans, gaps: Integers, rate: Rate) -> bool:
    """Fill with draws that are true with probability exp(-rate·gap)."""
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        output[position] = draws.bernoulli_exp_multiple(stream, gaps[position], rate[0], rate[1])
    return stream[FAILED] == 0  # type: ignore[no-any-return]


@compiled
def compare(stream: Stream, span: Span, output: Bytes, threshold: int, bits: int) -> bool:
    """Fill with 1 for a uniform number of `bits` bits below the threshold, 0 above, UNDECIDED when equal."""
    for position in range(span[0], span[1]):
        at_chunk(stream, position)
        number = next_word(stream) >> (32 - bits)
        output[position] = 1 if number < threshold else 0 if number > threshold else UNDECIDED
    return stream[FAILED] == 0  # type: ignore[no-any-return]
