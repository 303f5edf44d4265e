# SPDX-License-Identifier: Apache-2.0
"""How much privacy is lost, at least: a lower bound on ε from answers on two neighbouring tables.

If an answer falls into a set with probability at least L on the one table and at most U on the other, then ε
is at least ln(L/U). A fifth of the samples chooses the set, the rest confirms it with one-sided
Clopper–Pearson bounds, which hold for every sample size and every law.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anonymaly.audit.statistics import FIFTH, MOST_OUTCOMES, NUMBERS, Statistic, statistics_of
from anonymaly.core.extras import load
from anonymaly.errors import InputError

stats = load("scipy.stats", "audit", "An audit")

MOST_QUANTILES = 400
OFTEN = 10  # hits, of an outcome among very many
CAUTION = 3.0  # standard deviations
Direction = Literal["both", "forward"]


@dataclass(frozen=True)
class LossBound:
    """A lower bound on the privacy loss between two tables, wrong with probability at most ``alarm``."""

    epsilon: float
    event: str
    samples: int
    alarm: float

    def violates(self, claimed: float) -> bool:
        """Say whether more is lost than was claimed."""
        return self.epsilon > claimed

    def finding(self, claimed: float) -> str:
        """Say what was found, in plain words.

        Examples
        --------
        >>> LossBound(0.48, "answer > 3", 1000, 1e-6).finding(0.5)
        'no violation found; of ε = 0.5 at least 0.48 is lost (answer > 3; 1,000 samples, false alarms 1e-06)'
        """
        basis = f"({self.event}; {self.samples:,} samples, false alarms {self.alarm:.0e})"
        if self.violates(claimed):
            return (
                f"violation found; ε = {claimed:g} is claimed and at least {self.epsilon:.4g} is lost {basis}"
            )
        return f"no violation found; of ε = {claimed:g} at least {self.epsilon:.4g} is lost {basis}"


def loss_bound(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    alarm: float = 1e-6,
    tests: int = 1,
    direction: Direction = "both",
) -> LossBound:
    """Bound from below the ε that separates two samples of answers.

    Parameters
    ----------
    first, second : array
        Equally many answers on either table: numbers, texts, or rows of numbers. The first fifth chooses the
        event, the rest confirms it.
    alarm : float
        The chance that the bound is above the truth, in all ``tests`` together.
    tests : int
        How many bounds share the alarm.
    direction : {"both", "forward"}
        "forward" asks only whether answers on the first table are too likely, as one-sided promises need.

    Examples
    --------
    >>> answers = np.arange(1000) % 10
    >>> loss_bound(answers, answers).epsilon
    0.0
    >>> loss_bound(answers, answers + 10).epsilon > 3
    True
    """
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape or one.ndim not in (1, 2) or len(one) < 10:
        raise InputError(
            "must be equally many answers, ten or more",
            field="first, second",
            next_step="Draw as many answers on each of the two tables.",
        )
    return loss_bound_by(statistics_of(one, other), alarm=alarm, tests=tests, direction=direction)


def loss_bound_by(
    statistics: Iterable[Statistic],
    *,
    alarm: float,
    tests: int = 1,
    direction: Direction = "both",
    choosing: int | None = None,
) -> LossBound:
    """Bound from below the ε that separates two samples of answers, by statistics of them.

    Parameters
    ----------
    statistics : iterable
        Names, each with the values of as many answers on either table. However many there are, one event is
        confirmed in each direction.
    alarm, tests, direction
        As for ``loss_bound``.
    choosing : int, optional
        How many of the answers choose the event; a fifth without it.

    Examples
    --------
    >>> lengths = np.arange(1000) % 7
    >>> loss_bound_by([("length", lengths, lengths)], alarm=1e-6).epsilon
    0.0
    """
    if not 0 < alarm < 1 or tests < 1:
        raise InputError(
            "must be between 0 and 1, shared by at least one test",
            field="alarm",
            next_step="Give a chance of a false alarm such as 1e-6.",
        )
    found = list(statistics)
    answers = len(found[0][1])
    cut = answers // FIFTH if choosing is None else choosing
    confirming = answers - cut
    directions = [False] if direction == "forward" else [False, True]
    level = _level(alarm, tests, direction)
    columns = [_Column.of(*statistic, cut) for statistic in found]
    best = LossBound(0.0, "every answer", confirming, alarm)
    for backward in directions:
        column, event = _choose(columns, confirming, level, backward)
        likely, unlikely = (int(hits[event.members].sum()) for hits in _ordered(column.confirm, backward))
        epsilon = float(_log_ratio(likely, unlikely, confirming, level))
        if epsilon > best.epsilon:
            words = f"{column.name} {event.words}, likelier on the {'second' if backward else 'first'} table"
            best = LossBound(epsilon, words, confirming, alarm)
    return best


def largest_bound(samples: int, *, alarm: float, tests: int = 1, direction: Direction = "both") -> float:
    """Return the bound of two tables whose answers are never the same: no sample of this size shows more.

    Examples
    --------
    >>> round(largest_bound(1000, alarm=1e-6), 2)
    4.18
    """
    return float(_log_ratio(samples, 0, samples, _level(alarm, tests, direction)))


def rarest_seen(samples: int, claimed: float, *, alarm: float, direction: Direction = "both") -> float | None:
    """Return how rare an answer that one table alone gives may be, to be chosen and to break a claim.

    It is seen if it is at least one in so many answers, or thereabouts; None if no answer breaks the claim.

    Examples
    --------
    >>> round(rarest_seen(20_000, 2, alarm=1e-6)), rarest_seen(20_000, 50, alarm=1e-6)
    (38, None)
    """
    level, choosing = _level(alarm, 1, direction), samples // (FIFTH - 1)

    def worth(hits: int) -> float:
        return float(_worth(np.array([[hits, 0.0]]), samples, choosing, level)[0])

    hits = bisect_right(range(choosing + 1), claimed, key=worth)
    return choosing / hits if hits <= choosing else None


def _level(alarm: float, tests: int, direction: Direction) -> float:
    """Return the chance of error of one bound: each direction has one event, and each event two bounds."""
    return alarm / (tests * (1 if direction == "forward" else 2) * 2)


Hits = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Event:
    """A set of answers, as the places of its members among a column's distinct values."""

    words: str
    members: Any  # a slice for a tail, an array of places otherwise


@dataclass(frozen=True)
class _Column:
    """One statistic of the answers: its distinct values, and how often either table took each of them."""

    name: str
    values: npt.NDArray[Any]
    rank: tuple[Hits, Hits]
    select: tuple[Hits, Hits]
    confirm: tuple[Hits, Hits]

    @classmethod
    def of(cls, name: str, one: npt.NDArray[Any], other: npt.NDArray[Any], cut: int) -> _Column:
        """Count the values of a statistic in the part that selects and in the part that confirms."""
        values, places = np.unique(np.concatenate([one, other]), return_inverse=True)
        first, second = places[: len(one)], places[len(one) :]

        def count(side: npt.NDArray[Any]) -> Hits:
            return np.bincount(side, minlength=len(values))

        parts = slice(cut // 2), slice(cut // 2, cut), slice(cut, None)
        return cls(name, values, *((count(first[part]), count(second[part])) for part in parts))


def _ordered(sides: tuple[Hits, Hits], backward: bool) -> tuple[Hits, Hits]:
    return (sides[1], sides[0]) if backward else sides


def _candidates(column: _Column, backward: bool) -> Iterator[tuple[int, int, _Event]]:
    """Yield sets of answers with their hits, among the samples that choose."""
    ranking, judging = _ordered(column.rank, backward), _ordered(column.select, backward)
    if column.values.dtype.kind in NUMBERS:
        # Tails at pooled quantiles: at small ε they gather the evidence of answers that alone show nothing.
        below = [np.cumsum(rank + select) for rank, select in zip(ranking, judging, strict=True)]
        pooled = below[0] + below[1]
        total = int(below[0][-1])
        for place in np.unique(np.searchsorted(pooled, np.linspace(0, pooled[-1], MOST_QUANTILES + 2)[1:-1])):
            value, one, other = column.values[place], int(below[0][place]), int(below[1][place])
            yield one, other, _Event(f"<= {_shown(value)}", slice(place + 1))
            yield total - one, total - other, _Event(f"> {_shown(value)}", slice(place + 1, None))
    seen = np.flatnonzero(ranking[0] + ranking[1])
    if len(seen) > MOST_OUTCOMES:
        # Of so many, those that were met again and again: chance alone makes any set of the others look good.
        often = seen[(ranking[0] + ranking[1])[seen] >= OFTEN]
        seen = often if len(often) <= MOST_OUTCOMES else seen[:0]
    if len(seen):
        # Ranked by one half and judged by the other: judged by itself, a ranking always looks good.
        ratio = (ranking[0][seen] + 0.5) / (ranking[1][seen] + 0.5)
        ranked = seen[np.argsort(-ratio, kind="stable")]
        hits = [2 * side[ranked] for side in judging]
        sums = [np.cumsum(side) for side in hits]
        for rank, place in enumerate(ranked):
            single = _Event(f"= {_shown(column.values[place])}", ranked[rank : rank + 1])
            yield int(hits[0][rank]), int(hits[1][rank]), single
            several = _Event(f"among the {rank + 1} outcomes that favour it most", ranked[: rank + 1])
            yield int(sums[0][rank]), int(sums[1][rank]), several


def _shown(value: Any) -> str:
    """Write a whole number as one, whichever kind of array held it."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value)) if whole else str(value)


def _choose(columns: list[_Column], confirming: int, level: float, backward: bool) -> tuple[_Column, _Event]:
    """Return the event whose confirmed bound may be expected to be the highest."""
    found = [
        (one, other, column, event)
        for column in columns
        for one, other, event in _candidates(column, backward)
    ]
    if not found:
        return columns[0], _Event("is anything", slice(None))
    hits = np.array([(one, other) for one, other, _, _ in found], float)
    choosing = int(columns[0].rank[0].sum() + columns[0].select[0].sum())
    expected = _worth(hits, confirming, choosing, level)
    # A set of all answers shows nothing for certain, and any other may show something.
    expected[(hits >= choosing - 1).all(axis=1)] = -np.inf
    _, _, column, event = found[int(np.argmax(expected))]
    return column, event


def _worth(
    hits: npt.NDArray[np.float64], confirming: int, choosing: int, level: float
) -> npt.NDArray[np.float64]:
    """Return the bounds that sets with such hits on either table may be expected to have when confirmed."""
    scale = confirming / choosing
    # Judged by what the hits are worth if chance favoured them: of thousands of sets some look good by luck.
    luck = CAUTION * np.sqrt(hits + 1)
    likely, unlikely = np.maximum(hits[:, 0] - luck[:, 0], 0), hits[:, 1] + luck[:, 1]
    return _log_ratio(likely * scale, unlikely * scale, confirming, level)


def _log_ratio(likely: Any, unlikely: Any, samples: int, level: float) -> npt.NDArray[np.float64]:
    """Return ln(L/U) of hits among samples, with L and U each wrong with probability ``level``."""
    likely, unlikely = np.minimum(np.asarray(likely, float), samples), np.asarray(unlikely, float)
    unlikely = np.minimum(unlikely, samples)
    low = np.where(likely > 0, stats.beta.ppf(level, np.maximum(likely, 1), samples - likely + 1), 0.0)
    # The complement's lower quantile, because 1 - level is not a number that doubles hold well.
    high = np.where(
        unlikely < samples, stats.beta.isf(level, unlikely + 1, np.maximum(samples - unlikely, 1)), 1.0
    )
    with np.errstate(divide="ignore"):
        return np.log(low) - np.log(high)


def exact_loss(first: Mapping[Any, float | Fraction], second: Mapping[Any, float | Fraction]) -> float:
    """Return the exact loss of a finite law against another: the largest ln(p/q), infinite where q is 0.

    One direction only, as one-sided promises need; call it twice for both.

    Examples
    --------
    >>> likely, unlikely = Fraction(3, 4), Fraction(1, 4)
    >>> round(exact_loss({True: likely, False: unlikely}, {True: unlikely, False: likely}), 4)
    1.0986
    >>> exact_loss({"a": 0.5, "b": 0.5}, {"a": 1.0})
    inf
    """
    for law, field in ((first, "first"), (second, "second")):
        if any(not mass >= 0 for mass in law.values()) or abs(float(sum(law.values())) - 1) > 1e-9:
            raise InputError(
                "is no probability law",
                field=field,
                next_step="Give probabilities from 0 on that sum to 1.",
            )
    losses = [_log_quotient(mass, second.get(outcome, 0)) for outcome, mass in first.items() if mass > 0]
    return max(losses)


def _log_quotient(mass: float | Fraction, other: float | Fraction) -> float:
    if other == 0:
        return math.inf
    # Through exact fractions: the quotient of two floats may overflow, that of two tiny fractions become 0/0.
    quotient = Fraction(mass) / Fraction(other)
    return math.log(quotient.numerator) - math.log(quotient.denominator)
