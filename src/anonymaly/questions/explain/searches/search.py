# SPDX-License-Identifier: Apache-2.0
"""What a search is, how it is set, and what ε buys in it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from anonymaly.core.rate import Adjacency, noise_rate, rows_moved
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.noise import Noise
    from anonymaly.questions.explain.searches.graph import SearchedContexts


# So that no search fills the memory or goes on for days: these are public numbers, refused before the charge.
MOST_TRIES = 10_000_000
MOST_STARTS = 10_000
MOST_SAMPLES = 100_000
MOST_VISITS = 10_000  # samples of a search that utility steers: each is chosen among all that are known

# Where utility steers, each costs ε: as few as in the experiments of Shafieinejad et al. 2021.
STEERED_SAMPLES = 50
# Blind ones cost none, and among so many is nearly always one that is nearly the best.
BLIND_SAMPLES = 20_000
SLOW_BLIND_SAMPLES = 1_000  # with a detector that tries one context after another


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How a search is set: public numbers, none of which depends on a row.

    Parameters
    ----------
    start : int, optional
        A context to begin at; without one a valid context is drawn uniformly.
    starts : int
        The most contexts that a steered search begins at, the given one among them.
    samples : int
        The most contexts to choose from at the end, the start included.
    tries : int
        The most contexts drawn to find a valid one, and the most steps of the random walk.

    Examples
    --------
    >>> SearchSettings(samples=10)
    SearchSettings(start=None, starts=200, samples=10, tries=100000)
    """

    start: int | None = None
    # Mean utility of breadth first, 60 salaries, ε = 0.2: 0.75 from one start, 0.90 from 50, 0.93 from 200.
    starts: int = 200
    samples: int = STEERED_SAMPLES
    tries: int = 100_000

    def __post_init__(self) -> None:
        for name, least, number in (
            ("start", 0, 0 if self.start is None else self.start),
            ("starts", 1, self.starts),
            ("samples", 1, self.samples),
            ("tries", 1, self.tries),
        ):
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise InputError(
                    f"must be a whole number of at least {least}",
                    field=name,
                    next_step="Leave it out for the default.",
                )


class SearchFunction(Protocol):
    """How a search is called."""

    def __call__(
        self, contexts: SearchedContexts, settings: SearchSettings, *, rate: Fraction, noise: Noise
    ) -> int | None:
        """Return a valid context, or None: none is valid, the start is not, or no try met a valid one.

        ``rate`` is ε1, the rate of each draw by utility; all randomness comes from ``noise``.
        """


@dataclass(frozen=True)
class Search:
    """A search, which of the settings it uses, and how often it draws by utility.

    Parameters
    ----------
    name : str
        What users call it.
    run : callable
        The search itself.
    takes_start : bool
        Whether it begins at a context, given or drawn.
    steered : bool
        Whether utility chooses its steps, each of which costs as much as the draw at the end.

    Examples
    --------
    >>> from anonymaly.questions.explain.searches import SEARCHES
    >>> SEARCHES["exact"].draws(SearchSettings())
    1
    >>> [SEARCHES["breadth_first"].draws(SearchSettings(starts=starts)) for starts in (1, 200)]
    [50, 51]
    """

    name: str
    run: SearchFunction
    takes_start: bool = False
    steered: bool = False

    def draws(self, settings: SearchSettings) -> int:
        """Return the most draws by utility that it makes: the parts that its ε is split into (Lemma 7)."""
        return settings.samples + (settings.starts > 1) if self.steered else 1

    def default_samples(self, *, compiled: bool) -> int:
        """Return how many contexts it chooses from where the asker does not say.

        Examples
        --------
        >>> from anonymaly.questions.explain.searches import SEARCHES
        >>> [SEARCHES[name].default_samples(compiled=True) for name in ("uniform", "breadth_first")]
        [20000, 50]
        """
        if self.name != "uniform":
            return STEERED_SAMPLES  # a walk's steps are judged one by one
        return BLIND_SAMPLES if compiled else SLOW_BLIND_SAMPLES

    def check(self, settings: SearchSettings) -> None:
        """Refuse settings that would take too long, or too much memory; `exact` uses none of them."""
        if self.name == "exact":
            return
        for field, number, most in (
            ("samples", settings.samples, MOST_VISITS if self.steered else MOST_SAMPLES),
            ("tries", settings.tries, MOST_TRIES),
            ("starts", settings.starts if self.steered else 1, MOST_STARTS),
        ):
            if number > most:
                raise InputError(
                    f"{number:,} are more than {self.name} takes",
                    field=field,
                    next_step=f"Give at most {most:,}, or leave it out for the default.",
                )

    def rate(self, nano: int, settings: SearchSettings, *, adjacency: Adjacency, rows: int = 1) -> Fraction:
        """Return ε1, the rate of each draw, so that the whole search costs at most ``nano`` billionths.

        ``rows`` is the most rows of one person.

        Examples
        --------
        >>> from anonymaly.questions.explain.searches import SEARCHES
        >>> SEARCHES["exact"].rate(200_000_000, SearchSettings(), adjacency="add_remove")
        Fraction(1, 5)
        >>> one = SearchSettings(starts=1)
        >>> SEARCHES["breadth_first"].rate(200_000_000, one, adjacency="replace", rows=2)
        Fraction(1, 1000)
        """
        # Lemma 1: all utilities move the same way by up to the person's rows, or with replacement either way.
        return noise_rate(
            nano,
            moves=rows_moved(rows, adjacency),
            parts=self.draws(settings),
            next_step="Give a larger epsilon, or fewer samples.",
        )
