# SPDX-License-Identifier: Apache-2.0
"""How much privacy is lost, at least: a lower bound on ε from answers on two neighbouring tables.

If an answer falls into a set with probability at least L on the one table and at most U on the other, then ε is
at least ln(L/U). A fifth of the samples chooses the set, the rest confirms it with one-sided Clopper–Pearson
bounds, which hold for every sample size and every law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from anonymaly.errors import InputError

MOST_QUANTILES = 400
MOST_OUTCOMES = 1000
Direction = Literal["both", "forward"]


@dataclass(frozen=True)
class Event:
    """A set of answers: those whose statistic reaches a threshold, or those of a list of outcomes."""

    column: str
    words: str
    inside: npt.NDArray[np.bool_]  # over the distinct values of the column


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
        >>> LossBound(0.48, "answer >= 3", 1000, 1e-6).finding(0.5)
        'no violation found; of ε = 0.5 at least 0.48 is lost (answer >= 3; 1,000 samples, false alarms 1e-06)'
        """
        basis = f"({self.event}; {self.samples:,} samples, false alarms {self.alarm:.0e})"
        if self.violates(claimed):
            return f"violation found; ε = {claimed:g} is claimed and at least {self.epsilon:.4g} is lost {basis}"
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
        raise InputError("must be equally many answers, ten or more", field="first, second")
    if not 0 < alarm < 1 or tests < 1:
        raise InputError("must be between 0 and 1, shared by at least one test", field="alarm")
    cut = len(one) // 5
    confirming = len(one) - cut
    directions = [False] if direction == "forward" else [False, True]
    # Each direction has one event, and each event two bounds that may be wrong.
    level = alarm / (tests * len(directions) * 2)
    columns = [_counted(name, a, b, cut) for name, a, b in _statistics(one, other)]
    best = LossBound(0.0, "every answer", confirming, alarm)
    for backward in directions:
        event, column = _choose(columns, confirming, level, backward)
        likely, unlikely = column.confirm[::-1] if backward else column.confirm
        epsilon = float(_log_ratio(likely[event.inside].sum(), unlikely[event.inside].sum(), confirming, level))
        if epsilon > best.epsilon:
            side = "second" if backward else "first"
            words = f"{event.column} {event.words}, likelier on the {side} table"
            best = LossBound(epsilon, words, confirming, alarm)
    return best


@dataclass(frozen=True)
class _Column:
    """One statistic of the answers: its distinct values, and how often each table took each of them."""

    name: str
    values: npt.NDArray[Any]
    select: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    confirm: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _statistics(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the numbers that events are made of: the answer, or its parts, their sum and differences."""
    if one.ndim == 1:
        yield "answer", one, other
        return
    for place in range(one.shape[1]):
        yield f"part {place + 1}", one[:, place], other[:, place]
    if one.dtype.kind in "iufb" and one.shape[1] > 1:
        # Parts that share noise, or are each noised as if they were alone, betray themselves together.
        yield "sum", one.sum(axis=1), other.sum(axis=1)
        for place in range(1, one.shape[1]):
            yield f"part {place + 1} - part 1", one[:, place] - one[:, 0], other[:, place] - other[:, 0]


def _counted(name: str, one: npt.NDArray[Any], other: npt.NDArray[Any], cut: int) -> _Column:
    values, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    sides = places[: len(one)], places[len(one) :]

    def count(part: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        first, second = (np.bincount(side[part], minlength=len(values)) for side in sides)
        return first, second

    return _Column(name, values, count(slice(cut)), count(slice(cut, None)))


def _candidates(column: _Column, backward: bool) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield sets of answers, chosen without a look at the samples that will confirm them."""
    likely, unlikely = column.select[::-1] if backward else column.select
    pooled = np.cumsum(likely + unlikely)
    places = np.arange(len(column.values))
    if column.values.dtype.kind in "iufb":
        # Tails at pooled quantiles: at small ε they gather the evidence of many answers, which alone show nothing.
        wanted = np.linspace(0, pooled[-1], MOST_QUANTILES + 2)[1:-1]
        for place in np.unique(np.searchsorted(pooled, wanted)):
            yield f"<= {column.values[place]}", places <= place
            yield f">= {column.values[place]}", places >= place
    seen = np.flatnonzero(likely + unlikely)
    if len(seen) <= MOST_OUTCOMES:
        ratio = (likely[seen] + 0.5) / (unlikely[seen] + 0.5)
        ordered = seen[np.argsort(-ratio, kind="stable")]
        for size, place in enumerate(ordered, start=1):
            yield f"= {column.values[place]}", places == place
            yield f"among the {size} outcomes that favour it most", np.isin(places, ordered[:size])


def _choose(
    columns: list[_Column], confirming: int, level: float, backward: bool
) -> tuple[Event, _Column]:
    """Return the event whose confirmed bound may be expected to be the highest."""
    best: tuple[float, Event, _Column] | None = None
    for column in columns:
        likely, unlikely = column.select[::-1] if backward else column.select
        chosen = list(_candidates(column, backward))
        hits = np.array([[likely[inside].sum(), unlikely[inside].sum()] for _, inside in chosen])
        scale = confirming / likely.sum()
        # One more hit on the unlikely side: a set it never hit is not yet one it never hits.
        expected = _log_ratio(hits[:, 0] * scale, (hits[:, 1] + 1) * scale, confirming, level)
        place = int(np.argmax(expected))
        if best is None or expected[place] > best[0]:
            words, inside = chosen[place]
            best = float(expected[place]), Event(column.name, words, inside), column
    assert best is not None  # noqa: S101 - there is always a column
    return best[1], best[2]


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
    >>> round(exact_loss({True: Fraction(3, 4), False: Fraction(1, 4)}, {True: Fraction(1, 4), False: Fraction(3, 4)}), 4)
    1.0986
    >>> exact_loss({"a": 0.5, "b": 0.5}, {"a": 1.0})
    inf
    """
    for law, field in ((first, "first"), (second, "second")):
        if any(not mass >= 0 for mass in law.values()) or abs(sum(law.values()) - 1) > 1e-9:
            raise InputError("is no probability law", field=field)
    losses = [_log_quotient(mass, second.get(outcome, 0)) for outcome, mass in first.items() if mass > 0]
    return max(losses)


def _log_quotient(mass: float | Fraction, other: float | Fraction) -> float:
    if other == 0:
        return math.inf
    # Through exact fractions: the quotient of two floats may overflow, that of two tiny fractions become 0/0.
    quotient = Fraction(mass) / Fraction(other)
    return math.log(quotient.numerator) - math.log(quotient.denominator)
