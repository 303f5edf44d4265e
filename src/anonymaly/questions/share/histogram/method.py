# SPDX-License-Identifier: Apache-2.0
"""The methods by name, what they look at, and what ε buys in each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Protocol

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import noise_rate
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram import auto as auto_method
from anonymaly.questions.share.histogram import dawa as dawa_method
from anonymaly.questions.share.histogram import dawaz as dawaz_method
from anonymaly.questions.share.histogram import geometric as geometric_method
from anonymaly.questions.share.histogram import hybrid as hybrid_method
from anonymaly.questions.share.histogram import one_sided as one_sided_method
from anonymaly.questions.share.histogram import sample as sample_method
from anonymaly.questions.share.histogram.counts import Counts, Rates
from anonymaly.questions.share.histogram.one_sided_l1 import one_sided_l1
from anonymaly.questions.share.histogram.smoothed import smoothed

RatesFunction = Callable[[Fraction, Adjacency, int], Rates]


class MethodFunction(Protocol):
    """How a method is called: the histograms of all and of the non-sensitive records, rates and noise."""

    def __call__(self, every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Counts:
        """Release a histogram."""


@dataclass(frozen=True)
class Method:
    """A method, and how its rates derive from ε.

    Parameters
    ----------
    name : str
        What users call it.
    says : str
        What it releases, in words.
    function : callable
        The method itself.
    rates_of : callable
        Gives the rates of its draws, so that all of them together cost exactly ε.
    reads_every : bool
        Whether it looks at all records.
    reads_non_sensitive : bool
        Whether it looks at the non-sensitive records by themselves. If it does not, its promise is
        differential privacy for everyone, and no policy is needed.

    Examples
    --------
    >>> METHODS["hybrid"].rates(1_000_000_000, adjacency="replace", bins=4096)["one_sided"]
    Fraction(1, 2)
    >>> [name for name, method in METHODS.items() if not method.reads_non_sensitive]
    ['geometric', 'smoothed', 'dawa']
    """

    name: str
    says: str
    function: MethodFunction
    rates_of: RatesFunction
    reads_every: bool
    reads_non_sensitive: bool

    def rates(self, nano: int, *, adjacency: Adjacency, bins: int) -> Rates:
        """Return the rate of each kind of draw for a total charge in billionths.

        Examples
        --------
        >>> METHODS["geometric"].rates(500_000_000, adjacency="add_remove", bins=10)
        {'two_sided': Fraction(1, 2)}
        """
        return self.rates_of(noise_rate(nano, moves=1), adjacency, bins)

    def run(self, every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Counts:
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
        >>> method = METHODS["one_sided"]
        >>> rates = method.rates(9_000_000_000, adjacency="replace", bins=2)
        >>> method.run([5, 3], [4, 0], rates=rates, noise=Noise.seeded(1)).tolist()
        [4, 0]
        """
        return self.function(every, non_sensitive, rates=rates, noise=noise)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                "auto", "hybrid or one_sided_l1, by how many records are sensitive",
                auto_method.auto, auto_method.rates, True, True,
            ),
            Method(
                "hybrid", "the non-sensitive counts by one_sided_l1 plus the sensitive ones by smoothed",
                hybrid_method.hybrid, hybrid_method.rates, True, True,
            ),
            Method(
                "one_sided", "the non-sensitive counts minus one-sided noise",
                one_sided_method.one_sided, one_sided_method.rates, False, True,
            ),
            Method(
                "one_sided_l1",
                "the non-sensitive counts minus one-sided noise, 0 where negative, else plus its median",
                one_sided_l1, one_sided_method.rates, False, True,
            ),
            Method(
                "sample", "the histogram of a sample of the non-sensitive records",
                sample_method.sample, sample_method.rates, False, True,
            ),
            Method(
                "geometric", "all counts plus two-sided noise",
                geometric_method.geometric, geometric_method.rates, True, False,
            ),
            Method(
                "smoothed",
                "all counts plus two-sided noise, with runs of cells levelled that noise alone tells apart",
                smoothed, geometric_method.rates, True, False,
            ),
            Method(
                "dawa", "totals of privately chosen buckets plus two-sided noise, levelled",
                dawa_method.dawa, dawa_method.rates, True, False,
            ),
            Method(
                "dawaz", "dawa, with cells set to 0 that seem to hold no non-sensitive records",
                dawaz_method.dawaz, dawaz_method.rates, True, True,
            ),
        )
    }
)  # fmt: skip
