# SPDX-License-Identifier: Apache-2.0
"""Do samples follow a law? Pearson's χ² test with small cells pooled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.extras import load
from anonymaly.errors import InputError

stats = load("scipy.stats", "audit", "An audit")

LEAST_EXPECTED = 10.0  # below this the χ² law is a poor guide to the statistic's tail
LEFT_OUT = 1e-12  # the mass beyond the window; it is added to the window's ends
WIDEST = 2**24
ACCEPTED = 1e-9


@dataclass(frozen=True)
class Fit:
    """How well samples fit a law.

    ``p_value`` is the chance that samples of the law fit no better; 0 for an outcome that the law excludes.
    """

    p_value: float
    statistic: float
    cells: int
    samples: int

    @property
    def fits(self) -> bool:
        """Whether the samples may well be of the law: a right one is rejected once in a milliard audits."""
        return self.p_value > ACCEPTED

    def __str__(self) -> str:
        found = "no misfit found" if self.fits else "misfit found"
        return f"{found}; χ² of {self.samples:,} samples in {self.cells} cells has p = {self.p_value:.3g}"


def fit_integers(samples: npt.ArrayLike, mass: Callable[[int], float]) -> Fit:
    """Test integer samples against the probabilities of the integers.

    Parameters
    ----------
    samples : array
        The samples; one that is not a whole number is a misfit, because every answer lies on its grid.
    mass : callable
        The probability of each integer.

    Examples
    --------
    >>> fair = [0, 1] * 500
    >>> fit_integers(fair, lambda value: 0.5 if value in (0, 1) else 0.0).fits
    True
    >>> fit_integers([1] * 1000, lambda value: 0.5 if value in (0, 1) else 0.0).fits
    False
    """
    values = np.asarray(samples)
    if values.ndim != 1 or values.size == 0:
        raise InputError(
            "must be a list of at least one number", field="samples", next_step="Draw some answers first."
        )
    if values.dtype.kind not in "iu" and not all(float(value).is_integer() for value in values):
        return Fit(0.0, math.inf, 0, values.size)
    values = values.astype(np.int64)
    low, masses = _window(int(np.median(values)), mass)
    observed = np.bincount(np.clip(values - low, 0, len(masses) - 1), minlength=len(masses))
    return _chi_square(observed.astype(float), masses * values.size)


def fit_outcomes(samples: Iterable[Hashable], law: Mapping[Any, float | Fraction]) -> Fit:
    """Test samples against a finite law: outcome → probability.

    Examples
    --------
    >>> fit_outcomes(["yes"] * 700 + ["no"] * 300, {"yes": 0.7, "no": 0.3}).fits
    True
    """
    counts = Counter(samples)
    total = counts.total()
    if any(law.get(outcome, 0) == 0 for outcome in counts):
        return Fit(0.0, math.inf, len(law), total)
    # Rare outcomes side by side, so that pooling neighbours pools them.
    outcomes = sorted(law, key=lambda outcome: law[outcome])
    observed = np.array([counts[outcome] for outcome in outcomes], float)
    return _chi_square(observed, np.array([float(law[outcome]) for outcome in outcomes]) * total)


def _window(centre: int, mass: Callable[[int], float]) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the first integer and the masses of a window that holds all but a sliver of the law."""
    half = 16
    while half <= WIDEST:
        masses = np.array([mass(value) for value in range(centre - half, centre + half + 1)])
        if (masses < 0).any() or masses.sum() > 1 + 1e-9:
            raise InputError(
                "is no probability law",
                field="mass",
                next_step="Give probabilities from 0 on that sum to 1.",
            )
        if masses.sum() >= 1 - LEFT_OUT:
            return centre - half, masses
        half *= 2
    raise InputError(
        "has its mass too far from the samples, or too thinly spread",
        field="mass",
        next_step="Compare with the law of the same question on the same table.",
    )


def _chi_square(observed: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> Fit:
    edges, held = [0], 0.0
    for place, amount in enumerate(expected):
        held += amount
        if held >= LEAST_EXPECTED:
            edges.append(place + 1)
            held = 0.0
    if len(edges) > 1:
        edges.pop()  # what is left over at the end joins the last full cell
    pooled, wanted = np.add.reduceat(observed, edges), np.add.reduceat(expected, edges)
    total = int(observed.sum())
    if len(edges) < 2:
        raise InputError("are too few to fill two cells", field="samples", next_step="Draw more answers.")
    statistic = float(((pooled - wanted) ** 2 / wanted).sum())
    return Fit(float(stats.chi2.sf(statistic, len(edges) - 1)), statistic, len(edges), total)
