# SPDX-License-Identifier: Apache-2.0
"""The graph of contexts as searches see it, and the steps that they share.

A context is an integer whose bits say which of the free values belong to it; the record's own values always
do. Two contexts are neighbours when they differ in one bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise

Contexts = npt.NDArray[np.int64]

MOST_FREE_BITS = 62  # contexts are kept as signed 64-bit integers
FIRST_BLOCK = 256
# Blind draws for further starts where one is at hand: under 0.1 s where nearly all of them miss.
FURTHER_DRAWS = 32_768
LARGEST_BLOCK = 65_536


class Oracle(Protocol):
    """What a search may ask about contexts: which are valid, and what they are worth."""

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""

    def valid(self, contexts: Contexts) -> Booleans:
        """Say of each context whether the record stands out in it."""

    def utility(self, contexts: Contexts) -> Integers:
        """Return the utility of each context: a number of rows (Lemma 1)."""


@dataclass(frozen=True)
class KnownContexts:
    """An oracle that holds every context's validity and utility.

    Parameters
    ----------
    validity : array of bool
        For each context, in order, whether the record stands out in it; a power of two of them.
    utilities : array of int
        For each context its utility.

    Examples
    --------
    >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 7]))
    >>> known.free_bits, known.utility(np.array([3, 1])).tolist()
    (2, [7, 4])
    """

    validity: Booleans
    utilities: Integers

    def __post_init__(self) -> None:
        size = self.validity.size
        if size == 0 or size & (size - 1) or self.utilities.shape != self.validity.shape:
            raise InputError("must hold one value for each of 2^F contexts", field="validity, utilities")

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""
        return self.validity.size.bit_length() - 1

    def valid(self, contexts: Contexts) -> Booleans:
        """Look contexts up."""
        return self.validity[contexts]

    def utility(self, contexts: Contexts) -> Integers:
        """Look contexts up."""
        return self.utilities[contexts]


def valid_contexts(oracle: Oracle, tries: int, noise: Noise) -> Iterator[int]:
    """Draw contexts uniformly, ``tries`` times at most, and yield the valid ones, repeats too.

    Utilities are not asked for: what is yielded is a function of validity and coins (Lemma 4).
    """
    size = FIRST_BLOCK
    while tries > 0:
        size = min(size, tries)
        block = noise.uniform(1 << oracle.free_bits, size)
        yield from block[oracle.valid(block)].tolist()
        tries -= size
        # Most searches for a start end in the first block; long ones should not be a thousand small calls.
        size = min(4 * size, LARGEST_BLOCK)


def starting_context(oracle: Oracle, start: int | None, tries: int, noise: Noise) -> int | None:
    """Return the given context if it is valid, or without one a uniformly drawn valid context; or none.

    Never the best of several: a start that utility steers is an exact answer about utility (Lemma 4).
    """
    if start is None:
        return next(valid_contexts(oracle, tries, noise), None)
    if not 0 <= start < 1 << oracle.free_bits:
        raise InputError("is not a context of this space", field="start")
    return start if bool(oracle.valid(np.array([start], np.int64))[0]) else None


def starting_contexts(oracle: Oracle, start: int | None, starts: int, tries: int, noise: Noise) -> list[int]:
    """Return up to ``starts`` different valid contexts: the given one, and others drawn blindly.

    None at all if a given context is not valid, or if ``tries`` draws met no valid one.
    """
    first = starting_context(oracle, start, tries, noise)
    if first is None:
        return []
    found = {first: None}
    # How many are found is a function of validity and coins, as the first one is (Lemma 4).
    further = valid_contexts(oracle, min(tries, FURTHER_DRAWS), noise) if starts > 1 else ()
    for context in further:
        if len(found) == starts:
            break
        found[context] = None
    return list(found)


def begin(
    oracle: Oracle, start: int | None, starts: int, tries: int, rate: Fraction, noise: Noise
) -> tuple[list[int], int] | None:
    """Return where a steered search may begin, and where it does; or none."""
    begun = starting_contexts(oracle, start, starts, tries, noise)
    if not begun:
        return None
    # With one start there is nothing to choose; among several the choice is paid for (Lemma 7).
    return begun, begun[0] if starts == 1 else choose(oracle, begun, rate, noise)


def valid_neighbours(oracle: Oracle, context: int) -> list[int]:
    """Return the valid contexts that differ in one value.

    Each neighbour is made from the context itself: 000's Algorithms 4 and 5 flip bit after bit of one vector
    without restoring it, so that all but the first of their children are no neighbours.
    """
    neighbours = np.int64(context) ^ (np.int64(1) << np.arange(oracle.free_bits, dtype=np.int64))
    found: list[int] = neighbours[oracle.valid(neighbours)].tolist()
    return found


def choose(oracle: Oracle, candidates: Sequence[int], rate: Fraction, noise: Noise) -> int:
    """Choose one of the candidates, those of higher utility more likely: the step that costs ε (Lemma 2)."""
    return candidates[noise.choose(oracle.utility(np.array(candidates, np.int64)), rate)]
