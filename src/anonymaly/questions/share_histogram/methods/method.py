# SPDX-License-Identifier: Apache-2.0
"""What a method of releasing histograms is: its name, its rates, what it looks at, and how it runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.core.rate import Adjacency, noise_rate
from anonymaly.errors import InputError
from anonymaly.noise.array_checks import read_integers
from anonymaly.questions.share_histogram.methods.rates import Rates

if TYPE_CHECKING:
    from anonymaly.noise import Noise


@dataclass(frozen=True)
class Views:
    """One release, seen in two ways: what is nearest to single cells, and what is nearest to their sums."""

    cells: npt.NDArray[Any]
    sums: npt.NDArray[Any] | None = None  # None if the cells are all there is


@dataclass(frozen=True)
class Facts:
    """What is public of a histogram besides ε: a method may choose by it, free of charge."""

    shape: tuple[int, ...]  # cells along each column
    # Cells that hold no sensitive record, by the policy's text.
    harmless: Booleans | None = field(default=None, compare=False)
    plain: bool | None = None  # whether to add two-sided noise to all records; None if numbers must be asked


@dataclass(frozen=True)
class HistogramMethod:
    """A method, and how its rates derive from ε.

    Parameters
    ----------
    name : str
        What users call it.
    home : str
        The module beside this one that has the function.
    says : str
        What it releases, in words.
    rates_of : callable
        Gives the rates of its draws for ε, adjacency and number of bins; all draws together cost at most ε.
    reads_every : bool
        Whether it looks at all records.
    reads_non_sensitive : bool
        Whether it looks at the non-sensitive records by themselves. If it does not, its promise is
        differential privacy for everyone, and no policy is needed.
    chooses : bool
        Whether it takes public facts too, and gives two views.
    by_shape : bool
        Whether it takes the numbers of cells along the columns: it levels boxes of them.
    function : str
        The name of its function, if it is not the method's.

    Examples
    --------
    >>> from anonymaly.questions.share_histogram.methods import METHODS
    >>> METHODS["hybrid"].rates(1_000_000_000, adjacency="replace", bins=4096)["one_sided"]
    Fraction(1, 2)
    >>> [name for name, method in METHODS.items() if not method.reads_non_sensitive]
    ['geometric', 'smoothed', 'dawa']
    """

    name: str
    home: str
    says: str
    rates_of: Callable[[Fraction, Adjacency, int], Rates]
    reads_every: bool
    reads_non_sensitive: bool
    chooses: bool = False
    by_shape: bool = False
    function: str = ""

    def rates(self, nano: int, *, adjacency: Adjacency, bins: int) -> Rates:
        """Return the rate of each kind of draw for a total charge in billionths.

        Examples
        --------
        >>> from anonymaly.questions.share_histogram.methods import METHODS
        >>> METHODS["geometric"].rates(500_000_000, adjacency="add_remove", bins=10)
        {'two_sided': Fraction(1, 2)}
        """
        return self.rates_of(noise_rate(nano, moves=1), adjacency, bins)

    def run(
        self, every: npt.ArrayLike, non_sensitive: npt.ArrayLike, *, rates: Rates, noise: Noise
    ) -> npt.NDArray[Any]:
        """Release a histogram.

        Parameters
        ----------
        every : array of int
            How many records each bin holds.
        non_sensitive : array of int
            How many of them are not sensitive.
        rates : mapping
            From ``rates``.
        noise : Noise
            Where all randomness comes from.

        Returns
        -------
        array
            Integers, or floats for ``dawa`` and ``dawaz``, which spread totals over bins.

        Examples
        --------
        >>> from anonymaly.noise import Noise
        >>> from anonymaly.questions.share_histogram.methods import METHODS
        >>> method = METHODS["one_sided"]
        >>> rates = method.rates(9_000_000_000, adjacency="replace", bins=2)
        >>> method.run([5, 3], [4, 0], rates=rates, noise=Noise.seeded(1)).tolist()
        [4, 0]
        """
        return self.views(every, non_sensitive, rates=rates, noise=noise).cells

    def views(
        self,
        every: npt.ArrayLike,
        non_sensitive: npt.ArrayLike,
        *,
        rates: Rates,
        noise: Noise,
        facts: Facts | None = None,
    ) -> Views:
        """Release a histogram as ``run`` does, and return both views of it, if it has two."""
        whole, part = _read_counts(every, "every"), _read_counts(non_sensitive, "non_sensitive")
        if whole.shape != part.shape:
            raise InputError(
                f"has {part.size:,} bins where all records have {whole.size:,}",
                field="non_sensitive",
                next_step="Count both in the same bins.",
            )
        if bool((part > whole).any()):
            raise InputError(
                "has more records in a bin than there are in all",
                field="non_sensitive",
                next_step="Count the non-sensitive records among all records.",
            )
        # Imported when a histogram is released: a preview needs no compiled code.
        module = importlib.import_module(f"{__package__}.{self.home}")
        function = getattr(module, self.function or self.name)
        facts = facts or Facts(whole.shape)
        if self.by_shape:
            return Views(function(whole, part, rates=rates, noise=noise, shape=facts.shape))
        if not self.chooses:
            return Views(function(whole, part, rates=rates, noise=noise))
        views: Views = function(whole, part, rates=rates, noise=noise, facts=facts)
        return views


def _read_counts(counts: npt.ArrayLike, field: str) -> Integers:
    """Return a histogram as one row of 64-bit integers from 0."""
    numbers = read_integers(counts, field)
    if numbers.ndim != 1 or numbers.size == 0:
        raise InputError("must be one row of at least one count", field=field, next_step="Give a flat list.")
    if int(numbers.min()) < 0:
        raise InputError("must not be negative", field=field, next_step="Give numbers of records.")
    return numbers
