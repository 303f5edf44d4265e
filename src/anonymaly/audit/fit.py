# SPDX-License-Identifier: Apache-2.0
"""Do samples follow a law? How often they fall into some sets, each by its exact binomial law.

The sets are made of the law alone: cells that hold a share of it, what lies up to a cell, what lies between
two cells, and the even numbers. A set is hit by n samples of the law with a binomial law, whose tails are
computed and not approximated; a chance of 1e-9 is shared by all of them. So is the chance of an answer that
the law all but excludes: samples x of a law p have p(x) < t·w(x) somewhere with chance at most n·t, whatever
weights w of sum 1 are chosen beforehand (sum p over such x).
"""

from __future__ import annotations

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

LEAST_EXPECTED = (
    10.0  # smaller cells are pooled: alone they show little, and each costs a share of the chance
)
LEFT_OUT = 1e-12  # the mass beyond the window, which no cell's law notices
WIDEST = 2**24
ACCEPTED = 1e-9


@dataclass(frozen=True)
class Fit:
    """How well samples fit a law.

    Samples of the law have a ``p_value`` of x or less with chance x at most; it is 0 for an outcome that the
    law excludes.
    """

    p_value: float
    sets: int
    samples: int

    @property
    def fits(self) -> bool:
        """Whether the samples may well be of the law: a right one is rejected at most once in a milliard."""
        return self.p_value > ACCEPTED

    def __str__(self) -> str:
        found = "no misfit found" if self.fits else "misfit found"
        return f"{found}; {self.samples:,} samples, counted in {self.sets} sets, have p = {self.p_value:.3g}"


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
        return Fit(0.0, 0, values.size)
    values = values.astype(np.int64)
    low, masses = _window(int(np.median(values)), mass)
    # Around the law's own middle: sets that follow the samples would fit them too well, or too badly.
    low, masses = _window(low + int(np.searchsorted(np.cumsum(masses), 0.5)), mass)
    centre = low + len(masses) // 2
    # 1/(1 + k)² of all whole numbers sums to less than 3.
    surprise = min(mass(int(value)) * 3 * (1 + abs(int(value) - centre)) ** 2 for value in np.unique(values))
    observed = np.bincount(np.clip(values - low, 0, len(masses) - 1), minlength=len(masses))
    even = (np.arange(low, low + len(masses)) % 2 == 0).astype(float)
    return _exact(observed, masses, values.size * surprise, [(float(observed @ even), float(masses @ even))])


def fit_outcomes(samples: Iterable[Hashable], law: Mapping[Any, float | Fraction]) -> Fit:
    """Test samples against a finite law: outcome → probability.

    Examples
    --------
    >>> fit_outcomes(["yes"] * 700 + ["no"] * 300, {"yes": 0.7, "no": 0.3}).fits
    True
    """
    counts = Counter(samples)
    total = counts.total()
    surprise = float(min(law.get(outcome, 0) for outcome in counts)) * len(law)
    if not surprise:
        return Fit(0.0, 0, total)
    # Rare outcomes side by side, so that pooling neighbours pools them.
    outcomes = sorted(law, key=lambda outcome: law[outcome])
    observed = np.array([counts[outcome] for outcome in outcomes])
    return _exact(observed, np.array([float(law[outcome]) for outcome in outcomes]), total * surprise, [])


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


def _exact(
    observed: npt.NDArray[Any],
    masses: npt.NDArray[np.float64],
    surprise: float,
    sets: list[tuple[float, float]],
) -> Fit:
    """Return the fit of hits to masses, given the chance of so rare an answer, and other sets of answers."""
    total = int(observed.sum())
    edges = _edges(masses * total)
    if len(edges) < 2:
        raise InputError("are too few to fill two cells", field="samples", next_step="Draw more answers.")
    hits, wanted = np.add.reduceat(observed, edges), np.add.reduceat(masses, edges)
    below, mass_below = np.cumsum(hits)[:-1], np.cumsum(wanted)[:-1]
    half = len(below) // 2
    between = below[::-1][:half] - below[:half], mass_below[::-1][:half] - mass_below[:half]
    number = np.concatenate([hits, below, between[0], [count for count, _ in sets]])
    chance = np.concatenate([wanted, mass_below, between[1], [mass for _, mass in sets]]).clip(0, 1)
    tails = np.minimum(stats.binom.cdf(number, total, chance), stats.binom.sf(number - 1, total, chance))
    # Either tail of every set, and the rarest answer.
    shares = 2 * len(number) + 1
    return Fit(min(1.0, shares * min(float(tails.min()), surprise)), len(number), total)


def _edges(expected: npt.NDArray[np.float64]) -> list[int]:
    """Return where cells begin that are expected to be hit often enough."""
    edges, held = [0], 0.0
    for place, amount in enumerate(expected):
        held += amount
        if held >= LEAST_EXPECTED:
            edges.append(place + 1)
            held = 0.0
    if len(edges) > 1:
        edges.pop()  # what is left over at the end joins the last full cell
    return edges
