# SPDX-License-Identifier: Apache-2.0
"""Far quantiles of Student's distribution, compiled, so that a plain installation does not need SciPy.

The chance that |T| exceeds t at ν degrees of freedom is the incomplete beta function I_x(a, ½), where a = ν/2
and x = ν/(ν + t²). It is e^(−a·w)·√y·a·R(a)/(√π·K), where w = −ln x, y = 1 − x, R(a) = Γ(a + ½)/Γ(a + 1), and
K is the even part of the function's continued fraction (DiDonato and Morris 1992), written in y so that
nothing cancels. Its logarithm is convex and nearly straight in w, so that a few of Newton's steps in w end.
"""

from __future__ import annotations

import math

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled, inlined

SERIES_FROM = 40.0  # where five terms of the series of R are exact to a double
MOST_STEPS = 60


@compiled
def write_shares(freedoms: Integers, chances: Floats, shares: Floats) -> None:
    """Write t²/(ν + t²) for each ν, where |T| exceeds t with the given chance, which is at most a half.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.empty(1)
    >>> write_shares(np.array([1]), np.array([0.5]), shares)
    >>> shares.round(12).tolist()  # at one degree of freedom |T| exceeds 1 every other time
    [0.5]
    """
    for place in range(len(freedoms)):
        shares[place] = _share(freedoms[place] / 2.0, chances[place])


@inlined
def _share(a: float, chance: float) -> float:
    constant = math.log(a * _gamma_ratio(a) / math.sqrt(math.pi)) - math.log(chance)
    w = -math.log(chance) / a  # too far: I_x(a, ½) is at most I_x(a, 1) = e^(−a·w)
    for _ in range(MOST_STEPS):
        y = -math.expm1(-w)
        fraction = _fraction(a, y)
        excess = constant - a * w + 0.5 * math.log(y) - math.log(fraction)
        following = w + excess * y / fraction
        if following <= 0:
            following = w / 2
        if abs(following - w) <= 1e-16 * w:
            break
        w = following
    return -math.expm1(-w)


@inlined
def _fraction(a: float, y: float) -> float:
    """Return K by Lentz's method."""
    x = 1.0 - y
    rest = (a + 0.5) * y + 0.5
    value = a * rest / (a + 1)
    upper, lower, change, m = value, 0.0, 0.0, 0.0
    while abs(change - 1.0) > 1e-16 and m < 1e6:
        m += 1.0
        width = a + 2 * m - 1
        numerator = (a + m - 1) * (a + m - 0.5) * m * (0.5 - m) * (x / width) ** 2
        denominator = m + m * (0.5 - m) * x / width + (a + m) * (rest + m * (1 + y)) / (a + 2 * m + 1)
        lower = 1.0 / (denominator + numerator * lower)
        upper = denominator + numerator / upper
        change = upper * lower
        value *= change
    return value


@inlined
def _gamma_ratio(a: float) -> float:
    """Return R(a), by its series in 1/(a + ¼)² where a is large, and from there down one by one."""
    factor = 1.0
    while a < SERIES_FROM:
        factor *= (a + 1.0) / (a + 0.5)
        a += 1.0
    z = 1.0 / (a + 0.25) ** 2
    series = 1 - z / 64 * (1 - z * 21 / 128 * (1 - z * 671 / 1344 * (1 - z * 180323 / 343552)))
    return factor * series / math.sqrt(a + 0.25)
