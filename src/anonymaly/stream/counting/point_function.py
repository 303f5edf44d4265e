# SPDX-License-Identifier: Apache-2.0
"""Distributed point functions: two short keys, each of which alone says nothing about the cell they agree on.

The tree of Boyle, Gilboa and Ishai 2016. Each server walks from its own root; both hold the same corrections.
Off the path to the cell the two states are equal, so that shares cancel; on the path their marks differ, and
at its end the correction makes the shares add up to the value. The tree ends four cells early: one block of
ChaCha gives the pairs of numbers of four cells.

A node's children are one block of ChaCha20 under the node's own 128 bits: whoever cannot tell such blocks
from random bits learns nothing from one key (GUARANTEE, lemma C1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.noise import Noise
from anonymaly.noise._rounds import BLOCK, LANES
from anonymaly.noise.chacha import BUFFER, Words32, blocks
from anonymaly.stream.counting.prime_field import PRIME, add, negative

GROUP_BITS = 2  # four cells end in one block
GROUP = 1 << GROUP_BITS
MOST_BITS = 16
SEED_WORDS = 4
SEED_BYTES = 4 * SEED_WORDS
ELEMENTS = 2 * GROUP  # in a block: a pair for each cell
INNER, LEAF = 0, 1  # the block's counter: what a node's bits are used for
SCRATCH = 3 * BUFFER
_MASK = PRIME


@dataclass(frozen=True, repr=False)
class PointKey:
    """One server's key. Not printed: it is a secret of that server.

    Attributes
    ----------
    party
        0 or 1: which server it is for.
    seed
        The root, four words of 32 bits.
    corrections
        For each level the correction of a child's bits, four words, and those of the two marks.
    last
        The correction of the pairs of four cells.
    """

    party: int
    seed: Words32
    corrections: Words32
    last: Integers


def levels_of(bits: int) -> int:
    """Return how many levels the tree has for 2^bits cells."""
    return max(0, bits - GROUP_BITS)


@compiled
def _expand(seeds: Words32, count: int, use: int, output: Words32, scratch: Words32) -> None:
    """Write one block for each of the first ``count`` seeds, sixteen at a time."""
    initial = scratch[:BUFFER]
    result = scratch[BUFFER : 2 * BUFFER]
    made = scratch[2 * BUFFER :]
    for lane in range(LANES):
        # "expand 16-byte k", the constant of every 128-bit ChaCha, whose key stands twice.
        initial[lane] = np.uint32(0x61707865)
        initial[LANES + lane] = np.uint32(0x3120646E)
        initial[2 * LANES + lane] = np.uint32(0x79622D36)
        initial[3 * LANES + lane] = np.uint32(0x6B206574)
        initial[12 * LANES + lane] = np.uint32(use)
        for row in range(13, BLOCK):
            initial[row * LANES + lane] = np.uint32(0)
    for start in range(0, count, LANES):
        size = min(LANES, count - start)
        for lane in range(size):
            for word in range(SEED_WORDS):
                initial[(4 + word) * LANES + lane] = seeds[start + lane, word]
                initial[(8 + word) * LANES + lane] = seeds[start + lane, word]
        blocks(initial, result, made)
        for lane in range(size):
            for word in range(BLOCK):
                output[start + lane, word] = made[lane * BLOCK + word]


@compiled
def _element(block: Words32, place: int) -> int:
    """Return an element from 61 bits of a block; 2^61 - 1, one in 2^61, counts as 0."""
    number = (np.int64(block[2 * place]) | (np.int64(block[2 * place + 1]) << 32)) & _MASK
    return 0 if number == PRIME else number  # type: ignore[return-value]


@compiled
def _walk(
    corrections: Words32, seeds: Words32, marks: Words32, made: Words32, spare: Words32, scratch: Words32
) -> None:
    """Go from the root, which stands first, to all nodes of the last level."""
    for level in range(len(corrections)):
        count = 1 << level
        _expand(seeds, count, INNER, made, scratch)
        for node in range(count):
            mark = marks[node]
            for side in range(2):
                child = 2 * node + side
                for word in range(SEED_WORDS):
                    fixed = made[node, SEED_WORDS * side + word]
                    if mark != 0:
                        fixed ^= corrections[level, word]
                    spare[child, word] = fixed
                bit = made[node, 2 * SEED_WORDS + side] & np.uint32(1)
                if mark != 0:
                    bit ^= corrections[level, SEED_WORDS + side]
                spare[child, SEED_WORDS] = bit
        for child in range(2 * count):
            for word in range(SEED_WORDS):
                seeds[child, word] = spare[child, word]
            marks[child] = spare[child, SEED_WORDS]


@compiled
def _finish(
    party: int, last: Integers, marks: Words32, made: Words32, data: Integers, proof: Integers
) -> None:
    """Write a server's shares of both numbers of every cell."""
    for node in range(len(data) >> GROUP_BITS):
        for place in range(GROUP):
            first = _element(made[node], 2 * place)
            second = _element(made[node], 2 * place + 1)
            if marks[node] != 0:
                first = add(first, last[2 * place])
                second = add(second, last[2 * place + 1])
            cell = (node << GROUP_BITS) + place
            data[cell] = negative(first) if party else first
            proof[cell] = negative(second) if party else second


class Expansion:
    """Room for the shares of one key at all cells, used again for every key.

    Parameters
    ----------
    bits
        There are 2^bits cells, at least four.

    Examples
    --------
    >>> noise = Noise.seeded(1)
    >>> keys = make_keys(5, 3, (1, 77), noise)
    >>> first, second = Expansion(3), Expansion(3)
    >>> first.expand(keys[0]); second.expand(keys[1])
    >>> ((first.data + second.data) % PRIME).tolist(), int((first.proof[5] + second.proof[5]) % PRIME)
    ([0, 0, 0, 0, 0, 1, 0, 0], 77)
    """

    def __init__(self, bits: int) -> None:
        nodes = 1 << levels_of(bits)
        self.bits = bits
        self.data = np.zeros(nodes << GROUP_BITS, np.int64)
        """The server's shares of a unit vector."""
        self.proof = np.zeros(nodes << GROUP_BITS, np.int64)
        """Its shares of the same vector times the sensor's secret."""
        self._seeds = np.zeros((nodes, SEED_WORDS), np.uint32)
        self._marks = np.zeros(nodes, np.uint32)
        self._made = np.zeros((nodes, BLOCK), np.uint32)
        self._spare = np.zeros((nodes, SEED_WORDS + 1), np.uint32)
        self._scratch = np.zeros(SCRATCH, np.uint32)

    def expand(self, key: PointKey) -> None:
        """Fill ``data`` and ``proof`` with what a key says of each cell."""
        self._seeds[0] = key.seed
        self._marks[0] = key.party
        _walk(key.corrections, self._seeds, self._marks, self._made, self._spare, self._scratch)
        _expand(self._seeds, len(self._seeds), LEAF, self._made, self._scratch)
        _finish(key.party, key.last, self._marks, self._made, self.data, self.proof)


def make_keys(cell: int, bits: int, value: tuple[int, int], noise: Noise) -> tuple[PointKey, PointKey]:
    """Return two keys whose shares add up to a pair at one cell, and to (0, 0) at all others."""
    levels = levels_of(bits)
    roots = noise.uniform(2**32, 2 * SEED_WORDS).astype(np.uint32).reshape(2, SEED_WORDS)
    corrections = np.zeros((levels, SEED_WORDS + 2), np.uint32)
    seeds, marks = roots.copy(), np.array([0, 1], np.uint32)
    made, scratch = np.zeros((2, BLOCK), np.uint32), np.zeros(SCRATCH, np.uint32)
    for level in range(levels):
        keep = (cell >> (bits - 1 - level)) & 1
        _expand(seeds, 2, INNER, made, scratch)
        sides = made[:, : 2 * SEED_WORDS].reshape(2, 2, SEED_WORDS)
        bits_of = made[:, 2 * SEED_WORDS : 2 * SEED_WORDS + 2] & np.uint32(1)
        # The child off the path becomes the same for both servers; on the path the marks keep differing.
        corrections[level, :SEED_WORDS] = sides[0, 1 - keep] ^ sides[1, 1 - keep]
        differ = bits_of[0] ^ bits_of[1]
        differ[keep] ^= np.uint32(1)
        corrections[level, SEED_WORDS:] = differ
        fix = corrections[level, :SEED_WORDS] * marks[:, np.newaxis]
        seeds = np.ascontiguousarray(sides[:, keep] ^ fix)
        marks = bits_of[:, keep] ^ (differ[keep] * marks)
    _expand(seeds, 2, LEAF, made, scratch)
    last = np.zeros(ELEMENTS, np.int64)
    wanted = np.zeros(ELEMENTS, object)
    place = 2 * (cell & (GROUP - 1))
    wanted[place : place + 2] = value
    for element in range(ELEMENTS):
        difference = wanted[element] - _element(made[0], element) + _element(made[1], element)
        last[element] = (-difference if marks[1] else difference) % PRIME
    first, second = (PointKey(party, roots[party], corrections, last) for party in range(2))
    return first, second
