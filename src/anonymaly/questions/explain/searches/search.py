# SPDX-License-Identifier: Apache-2.0
"""The searches by name, and what ε buys in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Protocol

from anonymaly.core.epsilon import to_fraction
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.noise.checks import read_integer, read_rate
from anonymaly.promise.change import Adjacency
from anonymaly.questions.explain.searches.breadth_first import breadth_first
from anonymaly.questions.explain.searches.depth_first import depth_first
from anonymaly.questions.explain.searches.exact import exact
from anonymaly.questions.explain.searches.graph import MOST_FREE_BITS, Oracle
from anonymaly.questions.explain.searches.random_walk import random_walk
from anonymaly.questions.explain.searches.uniform import uniform

SAMPLES = 50  # as in the experiments of 000
# Mean utility of breadth first at ε = 0.2: 0.75 from one start, 0.90 from 50, 0.93 from 200 (60 salaries).
STARTS = 200
TRIES = 100_000


class SearchFunction(Protocol):
    """How a search is called; what it returns is a context, or none: the one constant outcome."""

    def __call__(
        self,
        oracle: Oracle,
        *,
        rate: Fraction,
        noise: Noise,
        start: int | None,
        starts: int,
        samples: int,
        tries: int,
    ) -> int | None:
        """Search."""


@dataclass(frozen=True)
class Search:
    """A search, which public parameters it uses, and how often it draws by utility.

    Parameters
    ----------
    name : str
        What users call it.
    function : callable
        The search itself.
    takes_start : bool
        Whether it begins at a context, given or drawn.
    steered : bool
        Whether utility chooses its steps, each of which costs as much as the draw at the end.

    Examples
    --------
    >>> SEARCHES["exact"].draws(50), SEARCHES["breadth_first"].draws(50)
    (1, 50)
    >>> SEARCHES["breadth_first"].draws(50, starts=200)
    51
    """

    name: str
    function: SearchFunction
    takes_start: bool
    steered: bool

    @property
    def takes_samples(self) -> bool:
        """Whether it is bounded by ``samples`` and ``tries``; the exact search has no use for them."""
        return self.name != "exact"

    def draws(self, samples: int, starts: int = 1) -> int:
        """Return the most draws by utility that it makes: the parts that its ε is split into (Lemma 7)."""
        if not self.steered:
            return 1
        several = read_integer(starts, "starts", least=1) > 1
        return read_integer(samples, "samples", least=1) + several

    def rate(
        self, nano: int, *, samples: int, starts: int = 1, adjacency: Adjacency, rows: int = 1
    ) -> Fraction:
        """Return ε1, the rate of each draw, so that the whole search costs exactly ``nano`` billionths.

        Parameters
        ----------
        nano : int
            The total charge.
        samples, starts : int
            As given to the search.
        adjacency : {"add_remove", "replace"}
            What a neighbour is.
        rows : int
            The most rows of one person.

        Examples
        --------
        >>> SEARCHES["exact"].rate(200_000_000, samples=50, adjacency="add_remove")
        Fraction(1, 5)
        >>> SEARCHES["breadth_first"].rate(200_000_000, samples=50, adjacency="replace", rows=2)
        Fraction(1, 1000)
        """
        # Lemma 1: all utilities move the same way by up to the person's rows, or with replacement either way.
        spread = rows * (2 if adjacency == "replace" else 1)
        draws = self.draws(samples, starts)
        rate = to_fraction(nano) / (draws * spread)
        try:
            return Fraction(*read_rate(rate))
        except InputError:
            raise InputError(
                f"leaves ε too small a share for each draw: {draws:,} draws, "
                f"and persons with up to {rows:,} rows",
                field="samples",
                next_step="Give fewer samples.",
            ) from None

    def run(
        self,
        oracle: Oracle,
        *,
        rate: Fraction,
        noise: Noise,
        start: int | None = None,
        starts: int = 1,
        samples: int = SAMPLES,
        tries: int = TRIES,
    ) -> int | None:
        """Search for a context.

        Parameters
        ----------
        oracle : Oracle
            Says of contexts whether they are valid, and their utility.
        rate : Fraction
            ε1, from ``rate``.
        noise : Noise
            Where all randomness comes from.
        start : int, optional
            A context to begin at; without one a valid context is drawn uniformly.
        starts : int
            The most contexts to begin at where utility steers, the given one among them.
        samples : int
            The most contexts to choose from at the end, the start included.
        tries : int
            The most contexts drawn to find a valid one, and the most steps of the random walk.

        Returns
        -------
        int or None
            A valid context, or none: no context is valid, the start is not, or no try met a valid one.

        Examples
        --------
        >>> import numpy as np
        >>> from anonymaly.questions.explain.searches.graph import KnownContexts
        >>> known = KnownContexts(np.array([False, True, True, True]), np.array([1, 4, 2, 70]))
        >>> SEARCHES["depth_first"].run(known, rate=Fraction(1, 2), noise=Noise.seeded(1), start=2)
        3
        """
        if oracle.free_bits > MOST_FREE_BITS:
            raise InputError(
                f"have {oracle.free_bits} values besides the record's own; {MOST_FREE_BITS} can be searched",
                field="attributes",
                next_step="Give fewer attributes, or wider bins.",
            )
        return self.function(
            oracle,
            rate=rate,
            noise=noise,
            start=start,
            starts=read_integer(starts, "starts", least=1),
            samples=read_integer(samples, "samples", least=1),
            tries=read_integer(tries, "tries", least=1),
        )


SEARCHES: Mapping[str, Search] = MappingProxyType(
    {
        search.name: search
        for search in (
            Search("exact", exact, takes_start=False, steered=False),
            Search("uniform", uniform, takes_start=False, steered=False),
            Search("random_walk", random_walk, takes_start=True, steered=False),
            Search("depth_first", depth_first, takes_start=True, steered=True),
            Search("breadth_first", breadth_first, takes_start=True, steered=True),
        )
    }
)
