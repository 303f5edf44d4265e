# SPDX-License-Identifier: Apache-2.0
"""How the numbers of an anomaly model change the error: for owners, before they declare one.

All from the formulas of `verdicts`; no row is read, and the radius plays no part: it says who is alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymaly.ask.binding import Choices, shown_number
from anonymaly.questions.identify.verdicts import StepBound, flip_probability, steps_to_change

BETAS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))  # times the model's
KS = (1, 2, 5)  # beside the model's
LARGEST_BETA = 2**53


@dataclass(frozen=True)
class Setting:
    """The numbers of a model that decide how often an answer about a lone record is wrong.

    Examples
    --------
    >>> [round(Setting(beta, k=1).error(Fraction(1, 10)), 4) for beta in (10, 40)]
    [0.1931, 0.0096]
    """

    beta: int
    k: int
    more: int = 0  # what k is raised by where a person has several rows
    bound: StepBound = "improved"

    def error(self, rate: Fraction) -> float:
        """Return the larger probability of an error: about a lone record, or one that nothing is near."""
        own, within = np.array([1, 0]), np.array([1, 0])
        steps = steps_to_change(self.bound, own, within, beta=self.beta, k=self.k + self.more)
        return float(flip_probability(rate, int(steps.min())))

    def least_beta(self, rate: Fraction, wanted: float) -> int | None:
        """Return the smallest beta with at most the wanted error, for this k; None if no beta has."""

        def enough(beta: int) -> bool:
            return Setting(beta, self.k, self.more, self.bound).error(rate) <= wanted

        return _least(enough, self.k, LARGEST_BETA)

    def largest_k(self, rate: Fraction, wanted: float) -> int | None:
        """Return the largest k with at most the wanted error, for this beta; None if no k has."""

        def enough(lower: int) -> bool:
            return Setting(self.beta, self.beta - lower, self.more, self.bound).error(rate) <= wanted

        lower = _least(enough, 0, self.beta - 1)
        return None if lower is None else self.beta - lower


def choices_of(setting: Setting, rates: Mapping[str, Fraction], wanted: float | None) -> Choices:
    """Return the table of errors by beta, k and ε, and what would give the wanted one."""
    betas = sorted({max(1, int(setting.beta * times)) for times in BETAS})
    ks = sorted({*KS, setting.k})
    lines = [
        (beta, k, *(Setting(beta, k, setting.more, setting.bound).error(rate) for rate in rates.values()))
        for beta in betas
        for k in ks
        if k <= beta
    ]
    notes = [
        "beta, k and the radius are the owner's, declared in the rule; the larger k, the more are protected",
        "the radius changes none of these numbers: it says who is alone",
    ]
    if wanted is not None:
        notes = [*_notes(setting, rates, wanted), *notes]
    head = ("beta", "k", *(f"ε {epsilon}" for epsilon in rates))
    return Choices("probability of a wrong answer about a lone record", head, tuple(lines), tuple(notes))


def _notes(setting: Setting, rates: Mapping[str, Fraction], wanted: float) -> list[str]:
    betas = {epsilon: setting.least_beta(rate, wanted) for epsilon, rate in rates.items()}
    ks = {epsilon: setting.largest_k(rate, wanted) for epsilon, rate in rates.items()}
    error = f"an error of at most {wanted:g}"
    return [
        f"{error} with k = {setting.k}: beta from {_listed(betas)}",
        f"{error} with beta = {setting.beta:,}: k up to {_listed(ks)}",
    ]


def _listed(found: Mapping[str, int | None]) -> str:
    """Write what was found for each ε."""
    return ", ".join(
        f"{'none' if number is None else shown_number(number)} at ε {epsilon}"
        for epsilon, number in found.items()
    )


def _least(enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest number for which `enough` holds; it holds for all above one for which it does."""
    if not enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high
