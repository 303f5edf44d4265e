# SPDX-License-Identifier: Apache-2.0
"""Anybody's mechanism: how much it loses, at least, between two neighbouring tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.audit.answers import MOST_LOOKED, LookPlan, Read, drawn, show_nothing
from anonymaly.audit.bound import Direction, LossBound, largest_bound, loss_bound_by
from anonymaly.core.progress import tell
from anonymaly.errors import InputError

FEWEST = 100
MOST = 100_000_000
SHOWN = 3  # parts that could not be looked into


@dataclass(frozen=True)
class MechanismLoss:
    """What was measured of a mechanism; printed, it says so in words.

    Parameters
    ----------
    lower_bound : float
        At least so much ε is lost between the two tables, but for a chance of 1 − ``confidence``.
    claimed : float
        The ε that was claimed.
    event : str
        The answers by which the two tables are told apart.
    samples : int
        How many fresh answers on either table confirmed it.
    confidence : float
        How certain the bound is.
    largest : float
        The largest bound that so many samples can show; 0 where they can show nothing of such answers.
    unseen : tuple of str
        Parts of answers that could not be looked into: about what they show, nothing is said.
    """

    lower_bound: float
    claimed: float
    event: str
    samples: int
    confidence: float
    largest: float
    unseen: tuple[str, ...] = ()

    @property
    def violated(self) -> bool:
        """Whether more is lost than was claimed."""
        return self.lower_bound > self.claimed

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain data."""
        return {
            "lower_bound": self.lower_bound,
            "claimed": self.claimed,
            "violated": self.violated,
            "event": self.event,
            "samples": self.samples,
            "confidence": self.confidence,
            "largest": self.largest,
            "unseen": list(self.unseen),
            "words": str(self),
        }

    def __str__(self) -> str:
        if not self.largest:
            return (
                "this audit could see nothing of such answers: nearly every one is another one, or cannot be "
                f"looked into; nothing is said about ε = {self.claimed:g}"
            )
        bound = LossBound(self.lower_bound, self.event, self.samples, 1 - self.confidence)
        return (
            f"{bound.finding(self.claimed)}; so many samples show no loss above {self.largest:.3g}, "
            "and nothing is said about other pairs of tables"
            + (f", nor of what could not be looked into: {self._not_seen}" if self.unseen else "")
        )

    @property
    def _not_seen(self) -> str:
        more = len(self.unseen) - SHOWN
        return "; ".join(self.unseen[:SHOWN]) + (f"; and {more:,} more" if more > 0 else "")


def lower_bound(
    mechanism: Callable[[Any], Any],
    data: Any,
    neighbour: Any,
    *,
    epsilon: float,
    samples: int = 20_000,
    confidence: float = 1 - 1e-6,
    one_sided: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> MechanismLoss:
    """Measure how much ε a mechanism loses at least, between two tables.

    A quarter as many answers choose an event, and ``samples`` fresh ones on each table confirm it by
    one-sided Clopper–Pearson bounds. A bound above ``epsilon`` is a violation; one below it is no proof.

    Parameters
    ----------
    mechanism : callable
        From a table to an answer, with randomness of its own: numbers, arrays, texts, frames, and lists,
        mappings and objects of them. It must draw afresh at every call, and leave the table as it is. An
        error that it raises is an answer, too: its class.
    data, neighbour : object
        Two tables that its promise calls neighbours.
    epsilon : float
        What it claims: pure ε, without a δ.
    samples : int
        How many answers on each table confirm the event.
    confidence : float
        How certain the bound shall be.
    one_sided : bool
        Whether the promise is only that answers on ``data`` are not too likely, as with one-sided privacy.
        Otherwise both directions are measured.
    progress : callable, optional
        Is called with the number of answers drawn and of all answers.

    Examples
    --------
    >>> import random
    >>> def told(consents):  # tells the truth three times in four: a loss of ln 3
    ...     return consents if random.random() < 0.75 else not consents
    >>> claims_one = lower_bound(told, True, False, epsilon=1)
    >>> claims_one.violated, lower_bound(told, True, False, epsilon=1.2).violated
    (True, False)
    >>> 1 < claims_one.lower_bound <= 1.0987
    True
    """
    claimed = _claimed(epsilon)
    if isinstance(samples, np.integer):
        samples = int(samples)
    _check(mechanism, samples, confidence)
    direction: Direction = "forward" if one_sided else "both"
    alarm = 1 - confidence
    largest = largest_bound(samples, alarm=alarm, direction=direction)
    if claimed >= largest:
        enough = _enough(claimed, alarm, direction)
        raise InputError(
            f"{samples:,} can show no loss above {largest:.3g}, and {claimed:g} is claimed",
            field="samples",
            next_step=(
                "No number of samples that can be drawn shows more: give a smaller epsilon."
                if enough is None
                else f"Take at least {enough:,}, or a smaller epsilon."
            ),
        )
    choosing = samples // 4
    plan, first, second = _draw(mechanism, data, neighbour, (choosing, samples), progress)
    if all(item.failed for item in (*first, *second)):
        raise InputError(
            f"gave no answer on either table; it {first[0].label}",
            field="mechanism",
            next_step="Give a function of one argument, the table, that answers.",
        )
    if plan.several:
        # By a plan that was made of them they look better than they are.
        looked = _looked(choosing)
        first, second, choosing = first[looked:], second[looked:], choosing - looked
    statistics = list(plan.statistics(first, second, choosing))
    if show_nothing(statistics, [*first[:choosing], *second[:choosing]], choosing):
        return MechanismLoss(
            0.0, claimed, "nothing that could be seen", samples, confidence, 0.0, plan.unseen
        )
    bound = loss_bound_by(statistics, alarm=alarm, direction=direction, choosing=choosing)
    return MechanismLoss(bound.epsilon, claimed, bound.event, bound.samples, confidence, largest, plan.unseen)


def _looked(choosing: int) -> int:
    """Return how many of the answers that choose decide what is read of all others."""
    return min(MOST_LOOKED, choosing // 4)


def _draw(
    mechanism: Callable[[Any], Any],
    data: Any,
    neighbour: Any,
    wanted: tuple[int, int],
    progress: Callable[[int, int], object] | None,
) -> tuple[LookPlan, list[Read], list[Read]]:
    """Draw by turns, so that a mechanism that changes with time changes alike on both tables."""
    count, looked = sum(wanted), _looked(wanted[0])
    tables = (data, neighbour)
    whole = [[drawn(mechanism, table) for table in tables] for _ in range(looked)]
    plan = LookPlan.of([one for one, _ in whole], [other for _, other in whole])
    first, second = ([plan.read(pair[side]) for pair in whole] for side in (0, 1))
    del whole
    step = max(1, count // 100)
    for number in range(1, count + 1):
        if number > looked:
            for table, answers in zip(tables, (first, second), strict=True):
                answers.append(plan.read(drawn(mechanism, table)))
        if number % step == 0 or number == count:
            tell("answers", 2 * number, 2 * count)
            if progress is not None:
                progress(2 * number, 2 * count)
    return plan, first, second


def _claimed(epsilon: Any) -> float:
    try:
        claimed = float(epsilon)
    except (TypeError, ValueError, OverflowError):
        claimed = math.nan
    if isinstance(epsilon, bool) or not 0 <= claimed < math.inf:
        raise InputError(
            "must be a number from 0 on",
            field="epsilon",
            next_step="Give the ε that the mechanism claims, such as 0.5.",
        )
    return claimed


def _check(mechanism: Any, samples: Any, confidence: Any) -> None:
    if not callable(mechanism):
        raise InputError(
            f"must be a function of a table, and is a {type(mechanism).__name__}",
            field="mechanism",
            next_step="Give the function itself, without calling it.",
        )
    if isinstance(samples, bool) or not isinstance(samples, int) or not FEWEST <= samples <= MOST:
        raise InputError(
            f"must be a whole number from {FEWEST:,} to {MOST:,}",
            field="samples",
            next_step="Leave it out for 20,000.",
        )
    # A chance of a false alarm below what doubles tell from 1 cannot be asked for.
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, float)
        or not 0.5 <= confidence <= 1 - 1e-15
    ):
        raise InputError(
            "must be between 0.5 and 1, below 1",
            field="confidence",
            next_step="Give 0.95, or leave it out for a false alarm once in a million.",
        )


def _enough(claimed: float, alarm: float, direction: Direction) -> int | None:
    """Return a number of samples that shows a loss a little above what is claimed, if there is one."""
    samples = FEWEST
    while samples <= MOST:
        if largest_bound(samples, alarm=alarm, direction=direction) > claimed * 1.1:
            return samples
        samples *= 2
    return None
