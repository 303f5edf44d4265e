# SPDX-License-Identifier: Apache-2.0
"""What ε buys in each method: the rates of its draws, which together cost at most ε.

Every function takes ε for one row, the account's adjacency and the number of bins. Nothing here draws, and
nothing here is compiled: previews need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from anonymaly.core.rate import Adjacency, drawable, rows_moved
from anonymaly.errors import InputError
from anonymaly.noise.laws import partition_error

Rates = Mapping[str, Fraction]  # by the kind of draw

ASKING_SHARE = Fraction(1, 50)  # of auto's ε, for the numbers of records that it chooses by
FEWEST_BINS = 256  # with fewer, noise of 50/ε on that number would drown what it is compared with
PARTITION_SHARE = Fraction(1, 4)  # of dawa's ε, as published
ZERO_SHARE = Fraction(1, 10)  # of dawaz's ε: ρ of the paper
LONGEST = 4096  # cells of the longest window or bucket; a longer run of equal counts is a few of these


def one_sided(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return all of ε for the one draw, in both forms (Lemma 2)."""
    return {"one_sided": drawable(epsilon)}


def sample(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return all of ε for the one draw, in both forms (Lemma 3)."""
    return {"left_out": drawable(epsilon)}


def geometric(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return ε over what one record moves (Lemma 4)."""
    return {"two_sided": drawable(epsilon / rows_moved(1, adjacency))}


def hybrid(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return ε for each part, as one record is in one of them; in the replace form, half of ε (Lemma 9)."""
    part = drawable(epsilon / rows_moved(1, adjacency))
    return {"one_sided": part, "two_sided": part}


def auto(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return the rates of the two numbers and of the counts, which are those of either method (Lemma 10)."""
    asking = ASKING_SHARE * epsilon
    numbers = drawable(asking / rows_moved(1, adjacency))
    return {"numbers": numbers, **hybrid(epsilon - asking, adjacency, bins)}


def plain_by_facts(
    rate: Fraction, *, cells: int, rows: int | None, decided: bool, ranges: bool
) -> bool | None:
    """Say whether auto adds two-sided noise to all records, as far as public facts tell; None if it must ask.

    Parameters
    ----------
    rate : Fraction
        That of two-sided noise.
    cells : int
        How many there are.
    rows : int, optional
        How many the owner says there are.
    decided : bool
        Whether the policy's text decides cells: then hybrid noise leaves half of the noise out there.
    ranges : bool
        Whether sums matter most: plain noise has the smallest error in those, if records are many.

    Examples
    --------
    >>> [plain_by_facts(Fraction(1), cells=100, rows=n, decided=False, ranges=True) for n in (99, 100, None)]
    [False, True, None]
    """
    if decided:
        return False
    if rows is None:
        return None
    # Where records are fewer than noise in all cells, one-sided noise finds more of them.
    if rows * rate < cells:
        return False
    return True if ranges else None


def auto_before(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return the rates of the question and of both methods, of which one runs (Lemma 10b)."""
    if bins < FEWEST_BINS:
        return hybrid(epsilon, adjacency, bins)
    asking = ASKING_SHARE * epsilon
    rest = epsilon - asking
    alone = one_sided(rest, adjacency, bins)["one_sided"]
    return {"sensitive": drawable(asking), **hybrid(rest, adjacency, bins), "one_sided_alone": alone}


def dawa(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return what a unit of the partition's score weighs, and the totals' rate (Lemmas 5 to 7)."""
    share = PARTITION_SHARE * epsilon
    rounding = 2 * partition_error(bins, window_sizes(bins))
    if share <= rounding:
        raise InputError(
            f"is too small: {float(rounding / PARTITION_SHARE):.1e} pays for rounding with {bins:,} bins",
            field="epsilon",
            next_step="Give more, or use another method.",
        )
    changes = rows_moved(1, adjacency)
    score = (share - rounding) / (2 * changes)
    return {"score": score, "totals": drawable((epsilon - share) / changes)}


def dawaz(epsilon: Fraction, adjacency: Adjacency, bins: int) -> Rates:
    """Return the zero bins' rate, ρ·ε in both forms, and DAWA's rates for the rest of ε (Lemma 8)."""
    zero = ZERO_SHARE * epsilon
    return {"zero_bins": drawable(zero), **dawa(epsilon - zero, adjacency, bins)}


def window_sizes(cells: int) -> int:
    """Return the number of window lengths 1, 2, 4, ... that fit into a row of cells.

    Examples
    --------
    >>> window_sizes(4), window_sizes(1000), window_sizes(10**6)
    (3, 10, 13)
    """
    return min(cells, LONGEST).bit_length()
