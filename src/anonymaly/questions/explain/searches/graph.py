# SPDX-License-Identifier: Apache-2.0
"""The graph of contexts as searches see it, and the steps that they share.

A context is an integer whose bits say which of the free values belong to it; the record's own values always
do. Two contexts are neighbours when they differ in one bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.search import SearchSettings

FIRST_BLOCK = 256
# Blind draws for further starts where one is at hand: under 0.1 s where nearly all of them miss.
FURTHER_DRAWS = 32_768
LARGEST_BLOCK = 65_536


class SearchedContexts(Protocol):
    """What a search may ask about contexts: which are valid, and what they are worth."""

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""

    def valid(self, chosen: Integers) -> Booleans:
        """Say of each context whether the record stands out in it."""

    def utility(self, chosen: Integers) -> Integers:
        """Return the utility of each context: a number of rows (Lemma 1)."""


@dataclass(frozen=True)
class KnownContexts:
    """Every context's validity and utility, known from the start.

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
            raise InputError(
                "must hold one value for each of 2^F contexts",
                field="validity, utilities",
                next_step="Give two arrays of one length, a power of two.",
            )

    @property
    def free_bits(self) -> int:
        """The number of values that a context may hold or not."""
        return self.validity.size.bit_length() - 1

    def valid(self, chosen: Integers) -> Booleans:
        """Look contexts up."""
        return self.validity[chosen]

    def utility(self, chosen: Integers) -> Integers:
        """Look contexts up."""
        return self.utilities[chosen]


def valid_contexts(contexts: SearchedContexts, tries: int, noise: Noise) -> Iterator[int]:
    """Draw contexts uniformly, ``tries`` times at most, and yield the valid ones, repeats too.

    Utilities are not asked for: what is yielded is a function of validity and coins (Lemma 4).
    """
    size = FIRST_BLOCK
    while tries > 0:
        size = min(size, tries)
        block = noise.uniform(1 << contexts.free_bits, size)
        yield from block[contexts.valid(block)].tolist()
        tries -= size
        # Most searches for a start end in the first block; long ones should not be a thousand small calls.
        size = min(4 * size, LARGEST_BLOCK)


def starting_context(contexts: SearchedContexts, settings: SearchSettings, noise: Noise) -> int | None:
    """Return the given context if it is valid, or without one a uniformly drawn valid context; or None.

    Never the best of several: a start that utility steers is an exact answer about utility (Lemma 4).
    """
    start = settings.start
    if start is None:
        return next(valid_contexts(contexts, settings.tries, noise), None)
    if start >= 1 << contexts.free_bits:
        raise InputError(
            "is not a context of this space",
            field="start",
            next_step=f"There are 2^{contexts.free_bits} contexts, numbered from 0.",
        )
    return start if bool(contexts.valid(np.array([start], np.int64))[0]) else None


def starting_contexts(contexts: SearchedContexts, settings: SearchSettings, noise: Noise) -> list[int]:
    """Return up to ``starts`` different valid contexts: the given one, and others drawn blindly.

    None at all if a given context is not valid, or if ``tries`` draws met no valid one.
    """
    first = starting_context(contexts, settings, noise)
    if first is None:
        return []
    found = {first: None}
    # How many are found is a function of validity and coins, as the first one is (Lemma 4).
    draws = min(settings.tries, FURTHER_DRAWS) if settings.starts > 1 else 0
    for context in valid_contexts(contexts, draws, noise):
        if len(found) == settings.starts:
            break
        found[context] = None
    return list(found)


def begin(
    contexts: SearchedContexts, settings: SearchSettings, rate: Fraction, noise: Noise
) -> tuple[list[int], int] | None:
    """Return where a steered search may begin, and where it does; or None."""
    starts = starting_contexts(contexts, settings, noise)
    if not starts:
        return None
    # With one start there is nothing to choose; among several the choice is paid for (Lemma 7).
    return starts, starts[0] if settings.starts == 1 else choose(contexts, starts, rate, noise)


def valid_neighbours(contexts: SearchedContexts, context: int) -> list[int]:
    """Return the valid contexts that differ in one value.

    Each neighbour is made from the context itself: Algorithms 4 and 5 of Shafieinejad et al. 2021 flip bit
    after bit of one vector without restoring it, so that all but the first of their children are no
    neighbours.
    """
    neighbours = np.int64(context) ^ (np.int64(1) << np.arange(contexts.free_bits, dtype=np.int64))
    found: list[int] = neighbours[contexts.valid(neighbours)].tolist()
    return found


def choose(contexts: SearchedContexts, candidates: Sequence[int], rate: Fraction, noise: Noise) -> int:
    """Choose one of the candidates, those of higher utility more likely: the step that costs ε (Lemma 2)."""
    return candidates[noise.choose(contexts.utility(np.array(candidates, np.int64)), rate)]
