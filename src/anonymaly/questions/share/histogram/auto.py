# SPDX-License-Identifier: Apache-2.0
"""A method chosen by how many sensitive records there are, which is asked first with a fiftieth of ε.

The non-sensitive counts alone leave out the sensitive records: a total error of their number. The hybrid
method adds noise to every bin: a total error of about bins/ε. So their number is compared with bins/ε. The
factor was fixed by experiment on the seven histograms of DPBench; a larger one gains in mean relative
error, which rewards leaving out, and loses in total error.
"""

from __future__ import annotations

from fractions import Fraction

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import drawable
from anonymaly.noise import Noise
from anonymaly.promise.change import Adjacency
from anonymaly.questions.share.histogram import hybrid as both
from anonymaly.questions.share.histogram import one_sided as alone
from anonymaly.questions.share.histogram.counts import Rates, read_parts
from anonymaly.questions.share.histogram.one_sided_l1 import one_sided_l1

ASKING_SHARE = Fraction(1, 50)
FEW = Fraction(1, 8)  # of bins/ε
FEWEST_BINS = 256  # with fewer, the answer's noise of 50/ε would drown what it is compared with


def rates(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return the rates of the question and of both methods, of which one runs (Lemma 10)."""
    if bins < FEWEST_BINS:
        return both.rates(epsilon, adjacency, bins)
    asking = ASKING_SHARE * epsilon
    rest = epsilon - asking
    part = both.rates(rest, adjacency, bins)
    return {
        "sensitive": drawable(asking),
        **part,
        "one_sided_alone": alone.rates(rest, adjacency, bins)["one_sided"],
    }


def auto(every: Integers, non_sensitive: Integers, *, rates: Rates, noise: Noise) -> Integers:
    """Return what ``one_sided_l1`` gives if few records are sensitive, else what ``hybrid`` gives.

    Examples
    --------
    >>> auto([90, 0], [70, 0], rates=rates(Fraction(4), "replace", 2), noise=Noise.seeded(1)).tolist()
    [90, 0]
    """
    whole, part = read_parts(every, non_sensitive)
    if "sensitive" in rates:
        sensitive = int((whole - part).sum()) + noise.two_sided_geometric(rates["sensitive"])
        if sensitive * rates["one_sided_alone"] <= FEW * whole.size:
            return one_sided_l1(whole, part, rates={"one_sided": rates["one_sided_alone"]}, noise=noise)
    return both.hybrid(whole, part, rates=rates, noise=noise)
