# SPDX-License-Identifier: Apache-2.0
"""``auto``: hybrid or geometric noise, by how many records there are; one release, seen in two ways.

``cells`` is smoothed and nearest to single cells; ``sums`` gives back what smoothing takes from sums of many.
The constants were fixed on some histograms of ``benchmarks/histogram_sets.py``, and judged on others.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.noise import Noise, laws
from anonymaly.questions.share_histogram.kernels.restoring import restore
from anonymaly.questions.share_histogram.kernels.smoothing import lines_of, smooth, smooth_part
from anonymaly.questions.share_histogram.methods.geometric import or_largest
from anonymaly.questions.share_histogram.methods.method import Facts, Views
from anonymaly.questions.share_histogram.methods.prices import PLAIN_PRICE
from anonymaly.questions.share_histogram.methods.rates import Rates

Both = tuple[Integers, Floats]  # of cells and of sums

MOSTLY = 0.6  # of all records sensitive: one-sided noise for the others gains less than its own noise costs
FEW = 5.0  # sensitive records, over √cells/rate: fewer are lost in the noise of a sum of all cells
SMALL = 0.5  # of 1/rate: a count of this size gets half of the median back
KEPT_OF_FEW = 4.0  # how large a coefficient must then be to be restored at least, over its noise


def auto(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise, facts: Facts) -> Views:
    """Return two views of geometric noise if records are many and mostly sensitive, else of hybrid noise."""
    return _chosen(every, non_sensitive, rates, noise, facts, sums_matter=False)


def auto_ranges(
    every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise, facts: Facts
) -> Views:
    """Return two views of geometric noise if records are many, else of hybrid noise: sums matter most."""
    return _chosen(every, non_sensitive, rates, noise, facts, sums_matter=True)


def auto_totals(
    every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise, facts: Facts
) -> Views:
    """Return the same with a sum of all cells that is right on average, at more noise in sums of some."""
    return _chosen(every, non_sensitive, rates, noise, facts, sums_matter=True, total=True)


def _chosen(
    every: Integers,
    non_sensitive: Integers,
    rates: Rates,
    noise: Noise,
    facts: Facts,
    *,
    sums_matter: bool,
    total: bool = False,
) -> Views:
    sensitive, plain = every - non_sensitive, facts.plain
    if plain is None:
        numbers = np.array([sensitive.sum(), non_sensitive.sum()])
        first, second = map(int, noise.deciding_numbers(numbers, rates["numbers"]))
        dense = (first + second) * rates["two_sided"] >= every.size
        plain = dense and (sums_matter or first >= MOSTLY * (first + second))
    if plain:
        released = noise.add_two_sided_geometric(every, rates["two_sided"])
        whole = np.ones(released.size, bool)
        levels = _levels(released, whole, rates["two_sided"], facts)
        lost = _restored(released, levels, whole, rates["two_sided"], facts, total)
        return _views(levels, levels + lost, released)
    harmless = _one_sided(non_sensitive, rates["one_sided"], noise)
    cells, sums, released = _sensitive(sensitive, harmless[0] > 0, rates["two_sided"], noise, facts, total)
    return _views(harmless[0] + cells, harmless[1] + sums, released)


def _views(cells: Integers, sums: Floats, released: Integers) -> Views:
    cells = or_largest(cells, released)
    # A thousandth of a record is nothing beside the noise, and the answer is a third as long.
    return Views(cells, sums.round(3) if sums.any() else cells.astype(np.float64))


def _one_sided(non_sensitive: Integers, rate: Fraction, noise: Noise) -> Both:
    released = non_sensitive - noise.one_sided_geometric(rate, non_sensitive.size)
    seen = np.maximum(released, 0)
    # Small counts are commoner than large ones: a count that is small beside the noise had little of it.
    median = laws.one_sided_geometric_quantile(rate, Fraction(1, 2)) * (seen / (seen + SMALL / float(rate)))
    # Positive counts plus the mean, others 0: right on average, whatever the count was (Lemma 13).
    unbiased = np.where(released > 0, released + laws.one_sided_geometric_mean(rate), 0.0)
    return seen + np.rint(median).astype(np.int64), unbiased


def _sensitive(
    sensitive: Integers, seen: Booleans, rate: Fraction, noise: Noise, facts: Facts, total: bool
) -> tuple[Integers, Floats, Integers]:
    """Return the two views of the sensitive records, and the counts with noise that they are made of.

    Cells that were seen to hold other records are levelled apart: they are few, and seldom empty. In the view
    for sums hardly at all.
    """
    # No sensitive record is counted where the policy's text says that there is none (Lemma 14).
    open_cells = np.ones(sensitive.size, bool) if facts.harmless is None else ~facts.harmless
    released = np.zeros(sensitive.size, np.int64)
    if not open_cells.any():
        return released, released.astype(np.float64), released.copy()
    released[open_cells] = noise.add_two_sided_geometric(sensitive[open_cells], rate)
    seen, cells = seen & open_cells, np.zeros(sensitive.size, np.int64)
    if seen.any():
        # They lie apart from each other, so that neighbours in one column are not neighbours.
        cells[seen] = smooth(released[seen], rate, plain_price=PLAIN_PRICE)
    cells += _levels(released, open_cells & ~seen, rate, facts)
    base = cells.copy()
    if seen.any():
        base[seen] = smooth(released[seen], rate, price=PLAIN_PRICE)
    return cells, base + _restored(released, base, open_cells, rate, facts, total), released


def _levels(released: Integers, part: Booleans, rate: Fraction, facts: Facts) -> Integers:
    """Return levels of a part of the cells, and 0 for all others."""
    if not part.any():
        return np.zeros_like(released)
    return smooth_part(released, part, rate, shape=facts.shape, plain_price=PLAIN_PRICE)


def _restored(
    released: Integers, levels: Integers, part: Booleans, rate: Fraction, facts: Facts, total: bool
) -> Floats:
    """Return what levelling took from sums over a part of the cells, as far as it is no noise; else 0."""
    few = float(released[part].sum()) * float(rate) < FEW * sqrt(part.sum())
    least = KEPT_OF_FEW if few else sqrt(2)
    # Without the values that have no cell of the part: what is given back to those would be lost.
    kept, found = lines_of(part, facts.shape), np.zeros(facts.shape)
    lost = (released - levels).astype(np.float64).reshape(facts.shape)[kept]
    found[kept] = restore(lost, laws.two_sided_geometric_deviation(rate), least=least, total=total)
    return np.where(part, found.reshape(-1), 0.0)
