# SPDX-License-Identifier: Apache-2.0
"""``auto``: hybrid or geometric noise, by how many records there are; one release, seen in two ways.

``cells`` is smoothed and nearest to single cells; ``sums`` gives back what smoothing takes from sums of many.
The constants were fixed by experiment on the tuning half of ``benchmarks/histogram_sets.py``.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, sqrt

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.noise import Noise, one_sided_geometric_quantile
from anonymaly.questions.share_histogram.kernels.restoring import restore
from anonymaly.questions.share_histogram.kernels.smoothing import smooth, smooth_part
from anonymaly.questions.share_histogram.methods.geometric import or_largest
from anonymaly.questions.share_histogram.methods.method import Facts, Views
from anonymaly.questions.share_histogram.methods.prices import PLAIN_PRICE
from anonymaly.questions.share_histogram.methods.rates import Rates

Both = tuple[Integers, Floats]  # of cells and of sums

MOSTLY = 0.6  # of all records sensitive: one-sided noise for the others gains less than its own noise costs
FEW = 4.0  # sensitive records, over √cells/rate: fewer are lost in the noise of a sum of all cells
KEPT, KEPT_OF_FEW = 1.5, 3.0  # how large a coefficient must be to be restored, over its noise


def auto(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise, facts: Facts) -> Views:
    """Return two views of geometric noise if records are many and mostly sensitive, else of hybrid noise."""
    return _chosen(every, non_sensitive, rates, noise, facts, MOSTLY)


def auto_ranges(
    every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise, facts: Facts
) -> Views:
    """Return two views of geometric noise if records are many, else of hybrid noise: sums matter most."""
    return _chosen(every, non_sensitive, rates, noise, facts, 0.0)


def _chosen(
    every: Integers, non_sensitive: Integers, rates: Rates, noise: Noise, facts: Facts, mostly: float
) -> Views:
    sensitive, plain = every - non_sensitive, facts.plain
    if plain is None:
        numbers = np.array([sensitive.sum(), non_sensitive.sum()])
        first, second = map(int, noise.add_two_sided_geometric(numbers, rates["numbers"]))
        dense = (first + second) * rates["two_sided"] >= every.size
        plain = dense and first >= mostly * (first + second)
    if plain:
        released = noise.add_two_sided_geometric(every, rates["two_sided"])
        return _views(*_two_sided(released, rates["two_sided"], facts), released)
    harmless = _one_sided(non_sensitive, rates["one_sided"], noise)
    # No sensitive record is counted where the policy's text says that there is none (Lemma 14).
    cells, sums, released = _sensitive(sensitive, rates["two_sided"], noise, facts)
    return _views(harmless[0] + cells, harmless[1] + sums, released)


def _views(cells: Integers, sums: Floats, released: Integers) -> Views:
    return Views(or_largest(cells, released), sums)


def _one_sided(non_sensitive: Integers, rate: Fraction, noise: Noise) -> Both:
    released = non_sensitive - noise.one_sided_geometric(rate, non_sensitive.size)
    median = one_sided_geometric_quantile(rate, Fraction(1, 2))
    # Positive counts plus the mean, others 0: right on average, whatever the count was (Lemma 13).
    return np.where(released > 0, released + median, 0), np.where(released > 0, released + _mean(rate), 0.0)


def _sensitive(
    sensitive: Integers, rate: Fraction, noise: Noise, facts: Facts
) -> tuple[Integers, Floats, Integers]:
    """Return the two views of the sensitive records, and the counts with noise that they are made of."""
    if facts.harmless is None:
        released = noise.add_two_sided_geometric(sensitive, rate)
        return (*_two_sided(released, rate, facts), released)
    cells, released = np.zeros(sensitive.size, np.int64), np.zeros(sensitive.size, np.int64)
    places = np.flatnonzero(~facts.harmless)
    if not places.size:
        return cells, cells.astype(np.float64), released
    released[places] = noise.add_two_sided_geometric(sensitive[places], rate)
    cells = smooth_part(released, ~facts.harmless, rate, shape=facts.shape, plain_price=PLAIN_PRICE)
    sums = cells + _restored(released - cells, released[places], rate, facts)
    # What was given back to cells that hold nobody of this part is taken away again.
    return cells, np.where(facts.harmless, 0.0, sums), released


def _two_sided(released: Integers, rate: Fraction, facts: Facts) -> Both:
    """Return the two views of counts with two-sided noise."""
    levels = smooth(released, rate, shape=facts.shape, plain_price=PLAIN_PRICE)
    return levels, levels + _restored(released - levels, released, rate, facts)


def _restored(lost: Integers, released: Integers, rate: Fraction, facts: Facts) -> Floats:
    """Return what smoothing took from sums, as far as it is no noise."""
    few = float(released.sum()) * float(rate) < FEW * sqrt(released.size)
    least = (KEPT_OF_FEW if few else KEPT) * _deviation(rate)
    return restore(lost.reshape(facts.shape).astype(np.float64), least).reshape(-1)


def _mean(rate: Fraction) -> float:
    return exp(-float(rate)) / -expm1(-float(rate))


def _deviation(rate: Fraction) -> float:
    return sqrt(2.0 * exp(-float(rate))) / -expm1(-float(rate))
