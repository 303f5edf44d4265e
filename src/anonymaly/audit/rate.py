# SPDX-License-Identifier: Apache-2.0
"""The step from a charge to a noise rate and its table, audited in exact numbers, and broken variants of it.

A rate that is too high by 2^-56 shows in no sample. So the loss is not estimated here: how far one person
moves a histogram is found by trying all tables, and the loss at a rate is that distance times the rate, for
each part (Lemma R of `core.rate`). Nor does a sample show that noise of a high rate is never drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import get_args

import numpy as np

from anonymaly.audit.system.fault import replaced
from anonymaly.core.epsilon import NANO, to_fraction, to_text
from anonymaly.core.rate import LARGEST_TERM, Adjacency, noise_rate, rows_moved
from anonymaly.errors import InputError
from anonymaly.noise import geometric
from anonymaly.noise.checks import read_rate
from anonymaly.noise.draws import LARGEST_INTEGER
from anonymaly.noise.geometric import DIGIT_COUNT, THRESHOLDS, VALUES, Table, geometric_table

CELLS = 3
MOST_ROWS = 3
# An ordinary ε, one of nine digits, and a tiny one; parts that leave short terms, and parts that do not.
SHARES = (500_000_000, 123_456_789, 1_001)
PARTS = (1, 2, 50, 10_007, 999_999_937)
# A tiny rate, ordinary ones, and those from which on 252 digits cannot tell 1 - exp(-rate) from 1.
RATES = (
    Fraction(1, LARGEST_TERM),
    Fraction(1, 3),
    Fraction(24),
    Fraction(25),
    Fraction(200),
    Fraction(10**6),
)


@dataclass(frozen=True)
class RateStep:
    """How rows become a distance, a charge and a distance become a rate, and a rate a table to draw from."""

    name: str
    rate: Callable[[int, int, int], Fraction] = lambda share, moves, parts: noise_rate(
        share, moves=moves, parts=parts
    )
    moved: Callable[[int, Adjacency], int] = rows_moved
    table: Callable[[int, int], Table] = geometric_table


def audit_rate(step: RateStep) -> tuple[str, ...]:
    """Return every charge that is overspent, refused or spent in part, and every rate at which 0 is certain.

    Examples
    --------
    >>> audit_rate(RateStep("as it is"))
    ()
    >>> (rounded_up,) = (fault for fault in RATE_FAULTS if fault.name == "rounded up")
    >>> len(audit_rate(rounded_up)) > 0
    True
    """
    return (*_problems(step), *_certain(step))


def _problems(step: RateStep) -> Iterator[str]:
    for rows, adjacency in product(range(1, MOST_ROWS + 1), get_args(Adjacency)):
        distance = _largest_distance(rows, adjacency)
        for share, parts in product(SHARES, PARTS):
            name = f"ε {to_text(share)}, {parts:,} parts, persons of {rows} rows, {adjacency}"
            try:
                rate = step.rate(share, step.moved(rows, adjacency), parts)
                read_rate(rate)
            except InputError as problem:
                yield f"{name}: {problem}"
                continue
            lost, exact = rate * distance * parts, Fraction(share, NANO * distance * parts)
            if lost > to_fraction(share):
                yield f"{name}: loses {float(lost)!r}"
            elif max(exact.numerator, exact.denominator) <= LARGEST_TERM and rate != exact:
                yield f"{name}: leaves a part of the charge unspent"
            elif exact - rate >= Fraction(1, LARGEST_TERM):
                yield f"{name}: rounds by more than a step"


def _certain(step: RateStep) -> Iterator[str]:
    """Yield every rate whose table has no number beyond a threshold: what follows it is never drawn."""
    for rate in RATES:
        _, law = step.table(rate.numerator, rate.denominator)
        values = int(law[VALUES])
        digits = law[THRESHOLDS:].reshape(DIGIT_COUNT, values)
        if (digits == LARGEST_INTEGER).all(axis=0).any():
            yield f"rate {rate}: a value that has a probability is never drawn"


def _largest_distance(rows: int, adjacency: Adjacency) -> int:
    """Return by how much, in sum, one person of at most so many rows moves a histogram: by trying all."""
    persons = [
        np.bincount(np.array(cells, np.int64), minlength=CELLS)
        for count in range(1, rows + 1)
        for cells in combinations_with_replacement(range(CELLS), count)
    ]
    others = [np.zeros(CELLS, np.int64)] if adjacency == "add_remove" else persons
    return max(int(np.abs(one - other).sum()) for one, other in product(persons, others))


def _table_of_any_rate(numerator: int, denominator: int) -> Table:
    with replaced(geometric, "LARGEST_TABLE_RATE", 2 * LARGEST_TERM):
        return geometric_table.__wrapped__(numerator, denominator)


def _exact(share: int, moves: int, parts: int) -> Fraction:
    return Fraction(share, NANO * moves * parts)


def _rounded_up(share: int, moves: int, parts: int) -> Fraction:
    exact = _exact(share, moves, parts)
    drawn = max(exact.numerator, exact.denominator) <= LARGEST_TERM
    return exact if drawn else Fraction(math.ceil(exact * LARGEST_TERM), LARGEST_TERM)


RATE_FAULTS: tuple[RateStep, ...] = (
    RateStep("rounded up", rate=_rounded_up),
    RateStep("refused where it is fine", rate=_exact),
    RateStep("rounded to a coarse grid", rate=lambda *step: Fraction(int(_exact(*step) * 2**50), 2**50)),
    RateStep("rows ignored", moved=lambda rows, adjacency: rows_moved(1, adjacency)),
    RateStep("replacement counted like addition", moved=lambda rows, adjacency: rows),
    RateStep("parts forgotten", rate=lambda share, moves, parts: noise_rate(share, moves=moves)),
    RateStep("rates of which noise is never drawn", table=_table_of_any_rate),
    RateStep("rows counted twice", moved=lambda rows, adjacency: rows_moved(rows, adjacency) * rows),
)
