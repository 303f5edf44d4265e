# SPDX-License-Identifier: Apache-2.0
"""The rule for the mixed method's parameters, from public facts alone, and the shares of its stages.

The number of records in it was given with the question, declared by the owner, or released by a stage of its
own; it is never the length of the table.
"""

from __future__ import annotations

import math
from fractions import Fraction

from anonymaly.questions.score.methods.method import MethodFacts

BINS_FACTOR = 1.5  # with t = records × rate of one histogram, 1.5·∛t bins
FEWEST_BINS, MOST_BINS = 4, 256
# Pairs get three tenths (half, where they are no more than columns), and only where 1.5·∛(t of one pair)
# gives five bins a side: with fewer they cost the columns more than they add.
PAIR_SHARE, FEW_PAIRS_SHARE = Fraction(3, 10), Fraction(1, 2)
FEWEST_PAIR_BINS, MOST_PAIR_BINS = 5, 16
MOST_PAIRS = 780
MOST_PAIR_PLACES = 24  # of a column that takes part in pairs; more would be noise
# The gates, in records × rate / columns: from the first on bins are fitted to where records are, in three
# stages, and from the second on random directions are measured beside the columns.
ADAPTIVE_FROM, SKETCH_FROM = 70, 200
COARSE = Fraction(15, 100)  # of the model's ε, for each of the first two stages
SKETCH_SHARE = Fraction(4, 10)  # of the last stage
FEWEST_SKETCHES, MOST_SKETCHES = 3, 50
MOST_TERMS = 2000  # numbers × sketches of one statement
FEWEST_SKETCHED = 4  # columns; of fewer, pairs see as much, and can be put into words


def weight(facts: MethodFacts) -> float:
    """Return records × rate; a number that was found privately may be negative, and counts as one record.

    Examples
    --------
    >>> weight(MethodFacts(3, Fraction(1, 2), 100)), weight(MethodFacts(3, Fraction(1, 2), -4))
    (50.0, 0.5)
    """
    return float(max(facts.records or 1, 1) * facts.rate)


def is_adaptive(facts: MethodFacts) -> bool:
    """Say whether the first gate is open: there are numbers, and enough records for each column.

    Examples
    --------
    >>> [is_adaptive(MethodFacts(10, Fraction(1), records)) for records in (699, 700)]
    [False, True]
    >>> is_adaptive(MethodFacts(1, Fraction(1), 10**6, labels=(3,)))
    False
    """
    return bool(facts.numbers) and weight(facts) >= ADAPTIVE_FROM * facts.dimensions


def sketches_for(facts: MethodFacts) -> int:
    """Return how many sketches the second gate gives: none below it, or where pairs see as much.

    Examples
    --------
    >>> [sketches_for(MethodFacts(4, Fraction(1), records)) for records in (799, 800, 10**6)]
    [0, 6, 50]
    """
    few = facts.numbers < 2 or facts.dimensions < FEWEST_SKETCHED
    if few or weight(facts) < SKETCH_FROM * facts.dimensions:
        return 0
    most = min(MOST_SKETCHES, MOST_TERMS // facts.numbers)
    return min(max(round(math.sqrt(weight(facts) * float(SKETCH_SHARE)) / 3), FEWEST_SKETCHES), most)


def sketch_side(facts: MethodFacts, sketches: int) -> int:
    """Return the cells a side of one sketch's histogram of two directions."""
    each = weight(facts) * float((1 - 2 * COARSE) * SKETCH_SHARE) / sketches
    return min(max(round(BINS_FACTOR * math.cbrt(each)), 2), 12)


def bins_for(facts: MethodFacts, share: Fraction) -> int:
    """Return the bins of a column whose histogram gets ``share`` of the model's rate."""
    return min(max(math.ceil(BINS_FACTOR * math.cbrt(weight(facts) * float(share))), FEWEST_BINS), MOST_BINS)


def paired(labels: tuple[int, ...], side: int) -> list[tuple[int, int]]:
    """Return the pairs of columns whose histograms are not too large to be more than noise.

    Examples
    --------
    >>> paired((0, 3, 100, 0), 5)
    [(1, 0), (3, 0), (3, 1)]
    """
    fitting = [axis for axis, number in enumerate(labels) if (number or side) <= MOST_PAIR_PLACES]
    return [(left, right) for left in fitting for right in fitting if right < left]


def pair_share(pairs: int) -> Fraction:
    """Return what all pairs get together, of what columns and pairs have."""
    if not pairs:
        return Fraction(0)
    return FEW_PAIRS_SHARE if pairs <= 3 else PAIR_SHARE


def pair_bins_for(facts: MethodFacts, labels: tuple[int, ...], share: Fraction) -> int:
    """Return the bins a side of a pair's histogram; 0 where pairs are left out."""
    pairs = len(paired(labels, FEWEST_PAIR_BINS))
    if not pairs or pairs > MOST_PAIRS:
        return 0
    each = weight(facts) * float(share * pair_share(pairs)) / pairs
    bins = round(BINS_FACTOR * math.cbrt(each))
    return min(bins, MOST_PAIR_BINS) if bins >= FEWEST_PAIR_BINS else 0
