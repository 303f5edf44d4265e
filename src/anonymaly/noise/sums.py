# SPDX-License-Identifier: Apache-2.0
"""How far a sum of geometric variables goes: quantiles that are never too small. Nothing is drawn.

A sum of released cells carries the sum of their noise. A two-sided variable is the difference of two
one-sided ones of its rate, so that every such sum is one of one-sided variables with signs. Its law follows
from its characteristic function Π (1 + c·(1 - e^(±it)))^-n, c = 1/(e^rate - 1), by one Fourier transform over
a window that leaves out at most `LEFT_OUT`; `ROUNDING` is well above what double precision gets wrong there.
Both are taken off what may be missing, so that a quantile is the exact one or, in a tie, one more. Where a
window would be too wide, and for levels very near 1, it is Chernoff's bound, which is wider: by about 1.4
times at a level of 0.95.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.noise.checks import read_integer, read_rate

WIDEST = 1 << 20  # numbers that one transform is over
LEFT_OUT = 1e-10
ROUNDING = 1e-8
# Above, a variable is 0 but for a chance of 10^-22; to take it for this rate is within ROUNDING.
FASTEST = 50.0
STEPS = np.concatenate([np.geomspace(1e-9, 0.5, 400), 1 - np.geomspace(0.5, 1e-4, 200)[1:]])


@dataclass(frozen=True)
class GeometricSum:
    """The sum of ``count`` independent one-sided geometric variables of a rate, added or taken away.

    Examples
    --------
    >>> GeometricSum(Fraction(1, 2), 3, added=False)
    GeometricSum(rate=Fraction(1, 2), count=3, added=False)
    """

    rate: Fraction
    count: int
    added: bool = True

    @property
    def odds(self) -> float:
        """The mean of one variable, 1/(e^rate - 1)."""
        rate = self._speed
        return math.exp(-rate) / -math.expm1(-rate)

    @property
    def _speed(self) -> float:
        numerator, denominator = read_rate(self.rate)
        return min(FASTEST, numerator / denominator)

    @property
    def mean(self) -> float:
        """The mean of the sum, with its sign."""
        return (1 if self.added else -1) * read_integer(self.count, "count") * self.odds

    def turned(self) -> GeometricSum:
        """Return the sum with the other sign."""
        return GeometricSum(self.rate, self.count, not self.added)


def two_sided(rate: Fraction, count: int) -> tuple[GeometricSum, GeometricSum]:
    """Return the sum of two-sided geometric variables."""
    return GeometricSum(rate, count), GeometricSum(rate, count, added=False)


def interval_of_sum(parts: Sequence[GeometricSum], missing: float, *, quick: bool = False) -> tuple[int, int]:
    """Return bounds that a sum is below, and above, with probability at most ``missing`` each.

    ``quick`` takes Chernoff's bound without looking for a narrower one.

    Examples
    --------
    >>> interval_of_sum(two_sided(Fraction(1, 10), 1), 0.025)
    (-30, 30)
    >>> interval_of_sum(two_sided(Fraction(1, 10), 100), 0.025)
    (-277, 277)
    >>> interval_of_sum([GeometricSum(Fraction(1), 1)], 0.05)
    (0, 2)
    """
    return _interval(tuple(part for part in parts if part.count), missing, quick)


@lru_cache(maxsize=1024)  # the cells of a histogram all have the same
def _interval(held: tuple[GeometricSum, ...], missing: float, quick: bool) -> tuple[int, int]:
    if not held:
        return 0, 0
    turned = [part.turned() for part in held]
    low, high = -_chernoff(turned, missing), _chernoff(held, missing)
    if quick or missing < 100 * ROUNDING:
        return low, high
    middle = round(sum(part.mean for part in held))
    reach = max(_chernoff(held, LEFT_OUT / 2) - middle, _chernoff(turned, LEFT_OUT / 2) + middle)
    size = 1 << (2 * reach + 3).bit_length()
    if size > WIDEST:
        return low, high
    mass = _masses(held, middle, size)
    first = middle - size // 2
    return max(low, first + size - 1 - _last(mass[::-1], missing)), min(high, first + _last(mass, missing))


def _last(mass: Floats, missing: float) -> int:
    """Return the first place after which no more than ``missing`` lies."""
    above = np.append(np.cumsum(mass[::-1])[::-1][1:], 0.0)
    too_much = np.flatnonzero(above + LEFT_OUT + ROUNDING > missing)
    return int(too_much[-1]) + 1 if too_much.size else 0


def _masses(parts: Sequence[GeometricSum], middle: int, size: int) -> Floats:
    """Return the chances of ``size`` numbers, of which ``middle`` stands at ``size // 2``."""
    turns = np.arange(size // 2 + 1, dtype=np.int64)
    angle = turns * (2 * math.pi / size)
    exponent = np.zeros(len(turns), np.complex128)
    for part in parts:
        sign = 1 if part.added else -1
        # 1 - e^(it), written so that no digits are lost near 0.
        from_one = 2 * np.sin(angle / 2) ** 2 - 1j * sign * np.sin(angle)
        exponent -= part.count * np.log(1 + part.odds * from_one)
    # Moved so that the middle stands at size // 2; the angle is reduced in whole numbers.
    moved = (turns * ((size // 2 - middle) % size)) % size
    found: Floats = np.fft.irfft(np.conj(np.exp(exponent + 2j * math.pi / size * moved)), size)
    return found


def _chernoff(parts: Sequence[GeometricSum], missing: float) -> int:
    """Return t with P(sum > t) <= missing: every θ proves P(sum >= t) <= E[e^(θ·sum)]·e^(-θt)."""
    added = [part for part in parts if part.added]
    fastest = min((part._speed for part in added), default=FASTEST)
    # Where nothing is added every θ will do; beside large ones, those about the slowest part's rate help.
    slowest = [] if added else [min(part._speed for part in parts)]
    theta = np.concatenate([STEPS * speed for speed in (fastest, *slowest)])
    logarithm = np.zeros_like(theta)
    for part in parts:
        logarithm -= part.count * np.log1p(-part.odds * np.expm1(theta if part.added else -theta))
    least = float(np.min((logarithm - math.log(missing)) / theta))
    # The least t is proved already one below; the one is for the rounding of the logarithms.
    found = math.ceil(least)
    return found if added else min(found, 0)
