# SPDX-License-Identifier: Apache-2.0
"""The one step from a charge to the rate of exact noise.

**Lemma R.** Let a release at rate r give every answer on one of two tables at distance d with at most e^(r·d)
times its probability on the other. If all pairs of tables in a relation are at a distance of at most
``moves``, then ``parts`` such releases at rates r <= ε/(moves·parts) together keep ε for that relation.
*Proof.* Each part loses at most r·moves <= ε/parts, and losses of parts add up. ∎

The lemma asks for r <= ε/(moves·parts) and never for equality, so a quotient whose terms are too long for
the exact samplers is rounded down: a smaller rate is more noise. No rate is too high to draw with. Every
sampler has its law at all of them, up to a factor of 1 ± 2^-200 in the probability of each geometric draw
that is likelier than 2^-500000 (Lemma D in `noise.geometric`; other draws are exact), so an answer of n draws
keeps ε + n·2^-198.

What a release counts as distance, and how far one person moves it, is the question's own mathematics: its
``GUARANTEE.md`` has the lemma that gives ``moves`` and ``parts``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from anonymaly.core.epsilon import NANO, to_text
from anonymaly.errors import InputError

Adjacency = Literal["add_remove", "replace"]

# The largest numerator and denominator of a rate: up to here no compiled sampler exceeds 64 bits (see
# `noise.draws`), and noise at the smallest rate stays below 2^63 except for one draw in e^128.
LARGEST_TERM = 2**56


def noise_rate(
    share: int,
    *,
    moves: int,
    parts: int = 1,
    field: str = "epsilon",
    next_step: str = "Give a larger epsilon.",
) -> Fraction:
    """Return the rate at which ``parts`` releases together spend a share of the charge (Lemma R).

    It is share/(10^9·moves·parts), rounded down if its terms are too long to draw with.

    Parameters
    ----------
    share : int
        What is spent, in billionths of ε.
    moves : int
        The largest distance between two tables of the relation, by the question's lemma.
    parts : int
        How many releases share the charge.
    field, next_step : str
        The field and the next step of the error when the share is too small.

    Examples
    --------
    >>> noise_rate(500_000_000, moves=3), noise_rate(500_000_000, moves=2, parts=50)
    (Fraction(1, 6), Fraction(1, 200))
    """
    rate = rounded_down(Fraction(share, NANO * moves * parts))
    if not rate:
        raise InputError(
            f"{to_text(share)} is too little to divide by {moves * parts:,}", field=field, next_step=next_step
        )
    return rate


def drawable(rate: Fraction) -> Fraction:
    """Return a part of a rate so that exact noise can be drawn with it: rounded down, and above 0.

    For releases that share a rate of `noise_rate` unequally; rounding twice still rounds down.

    Examples
    --------
    >>> drawable(noise_rate(500_000_000, moves=3) * Fraction(1, 50))
    Fraction(1, 300)
    """
    found = rounded_down(rate)
    if not found:
        raise InputError(
            "is too small: a part of it would be drawn at a rate below 2^-56",
            field="epsilon",
            next_step="Give a larger epsilon.",
        )
    return found


def rounded_down(rate: Fraction, largest: int = LARGEST_TERM) -> Fraction:
    """Return the largest rate up to this one that has both terms within ``largest``; it may be 0.

    Examples
    --------
    >>> rounded_down(Fraction(1, 3)), rounded_down(Fraction(100, 301), largest=10)
    (Fraction(1, 3), Fraction(3, 10))
    """
    number, of = rate.numerator, rate.denominator
    if max(number, of) <= largest:
        return rate
    # The Stern-Brocot tree: the next fraction between two neighbours is the sum of their terms. Steps to the
    # same side are taken together.
    low, low_of, high, high_of = 0, 1, 1, 0
    while low + high <= largest and low_of + high_of <= largest:
        steps = (low_of * number - low * of) // (high * of - high_of * number)
        steps = min(steps, (largest - low) // high, (largest - low_of) // high_of if high_of else steps)
        low, low_of = low + steps * high, low_of + steps * high_of
        # One step fewer than would reach the rate itself; it is taken from below.
        steps = (high * of - high_of * number - 1) // (low_of * number - low * of)
        steps = min(steps, (largest - high) // low if low else steps, (largest - high_of) // low_of)
        high, high_of = high + steps * low, high_of + steps * low_of
    return Fraction(low, low_of)


def rows_moved(rows: int, adjacency: Adjacency) -> int:
    """Return how many rows change with one person: their own, or under replacement those of two persons.

    Examples
    --------
    >>> rows_moved(3, "add_remove"), rows_moved(3, "replace")
    (3, 6)
    """
    return 2 * rows if adjacency == "replace" else rows
